import { type Builder, type Operation, rows } from "../store/store.ts";
import { planStepBody } from "./plan-rows.ts";

/** What a plan has of a conversation goes with it (X12): outputs of steps, and what was said of them. */
export function* erasePlanOutputs(db: Builder, conversationId: string): Operation<void> {
  const found = yield* rows(
    db.selectFrom("plan_steps").selectAll().where("conversation_id", "=", conversationId),
  );
  for (const { plan_id, step_id, body: text } of found) {
    const kept = { output: null, cut: false, prompt: null, verdict_detail: null };
    const body = planStepBody.write({ ...planStepBody.read(text, step_id), ...kept });
    yield* rows(
      db
        .updateTable("plan_steps")
        .set({ body, conversation_id: null })
        .where("plan_id", "=", plan_id)
        .where("step_id", "=", step_id),
    );
  }
}

/** An agent is erased, and its plans with it. */
export function* erasePlans(db: Builder, tenant: string, agentId: string): Operation<void> {
  const of = yield* rows(
    db.selectFrom("plans").select("id").where("tenant", "=", tenant).where("agent_id", "=", agentId),
  );
  for (const { id } of of) yield* rows(db.deleteFrom("plan_steps").where("plan_id", "=", id));
  for (const table of ["plan_versions", "plans", "plan_work"] as const)
    yield* rows(db.deleteFrom(table).where("tenant", "=", tenant).where("agent_id", "=", agentId));
}
