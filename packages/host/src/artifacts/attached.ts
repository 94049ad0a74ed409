import { type Builder, type Operation, rows } from "../store/store.ts";
import { HELD, READABLE } from "./desk.ts";

/** Which of these artifacts belong to the conversation of a branch. */
export function* artifactsOfBranch(
  db: Builder,
  tenant: string,
  branchId: string,
  ids: readonly string[],
): Operation<ReadonlySet<string>> {
  const found = yield* rows(
    db
      .selectFrom("artifacts")
      .innerJoin("branches", "branches.conversation_id", "artifacts.conversation_id")
      .select("artifacts.id")
      .where("branches.id", "=", branchId)
      .where("artifacts.tenant", "=", tenant)
      .where("artifacts.id", "in", [...ids])
      .where("artifacts.id", "like", READABLE)
      .where("artifacts.media_type", "!=", HELD),
  );
  return new Set(found.map(({ id }) => id));
}
