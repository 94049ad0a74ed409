import type { Approval } from "../../schema/approval.ts";
import type { AskInput, AskOut } from "../../turn/world.ts";
import type { DecisionInput } from "../approvals.ts";
import { digestOf } from "../digest.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

/** Asks a human and waits: for the decision, the deadline or a cancel, whichever comes first. */
export async function ask(run: RunContext, gate: AskInput, effect: Effect): Promise<AskOut> {
  const held = run.calls.get(gate.call_id);
  if (held === undefined) throw new Error(`call ${gate.call_id} is not held`);
  const requested_at = run.parts.clock.now();
  const deadline = gate.timeout_ms === null ? null : requested_at + gate.timeout_ms;
  const approval: Approval = {
    id: gate.approval_id,
    kind: gate.kind,
    run_id: run.id,
    call_id: gate.call_id,
    tool: gate.tool,
    arguments: held.arguments,
    injected_args: {},
    digest: gate.digest,
    reasons: [...gate.reasons],
    requester: run.agent.definition.name,
    choices: gate.kind === "client_tool" ? ["submit", "reject"] : ["approve", "reject"],
    response_schema:
      gate.kind === "client_tool" ? (run.agent.toolByName.get(gate.tool)?.output?.jsonSchema ?? null) : null,
    state: "pending",
    requested_at,
    deadline,
    decision: null,
  };
  const deciding = run.approvals.request(approval, (decision) => problemOf(run, gate, decision));
  const cancel = (reason: string) => run.approvals.cancel(approval.id, reason);
  effect.onCancel(cancel);
  if (run.approver === undefined) void run.approvals.decide(approval.id, NOBODY);
  else if (run.approver !== "stream") void askApprover(run, approval);
  const closed = await deciding;
  effect.offCancel(cancel);
  return read(run, gate, closed, requested_at);
}

const NOBODY: DecisionInput = {
  choice: "reject",
  by: "nobody",
  reason: "nobody is there to approve it (pass `approve` to run(), or use stream().decide())",
};

/** Calls the run's approver. One that throws, or decides what cannot be, has rejected: nothing is approved by accident. */
async function askApprover(run: RunContext, approval: Approval): Promise<void> {
  if (typeof run.approver !== "function") return;
  try {
    const decision = await run.approver(approval);
    await run.approvals.decide(approval.id, { by: "approve", ...decision });
  } catch (error) {
    const reason = `the approver failed: ${error instanceof Error ? error.message : String(error)}`;
    await run.approvals.decide(approval.id, { choice: "reject", by: "approve", reason }).catch(() => {});
  }
}

async function problemOf(
  run: RunContext,
  gate: AskInput,
  decision: DecisionInput,
): Promise<string | undefined> {
  const tool = run.agent.toolByName.get(gate.tool);
  if (gate.kind === "client_tool") {
    if (decision.response === undefined) return "response: the tool's result expected, nothing given";
    const checked = await tool?.output?.check(decision.response);
    return checked === undefined || checked.ok
      ? undefined
      : `response: it does not fit the tool's output schema: ${checked.problem}`;
  }
  if (decision.editedArguments === undefined) return undefined;
  const checked = await tool?.input.check(decision.editedArguments);
  return checked === undefined || checked.ok ? undefined : `editedArguments: ${checked.problem}`;
}

/** What was decided stays with the call; the loop hears the outcome. */
function read(run: RunContext, gate: AskInput, closed: Approval, requestedAt: number): AskOut {
  const held = run.calls.get(gate.call_id);
  const edited = closed.decision?.edited_arguments;
  if (held !== undefined) {
    held.edited = edited;
    held.response = closed.decision?.response;
  }
  const out = {
    approval_id: closed.id,
    digest: edited === undefined ? gate.digest : digestOf(edited),
    reason: closed.decision?.reason ?? "",
    decided_by: closed.decision?.by ?? "",
    wait_ms: run.parts.clock.now() - requestedAt,
    deadline: closed.deadline,
  };
  if (closed.state === "cancelled")
    return { ...out, status: "rejected", cancelled: closed.decision?.reason ?? "" };
  return { ...out, status: closed.state === "pending" ? "rejected" : closed.state };
}
