import { readContent } from "../artifacts/content.ts";
import { HELD, READABLE, readSources } from "../artifacts/desk.ts";
import type { KeptArtifact } from "../artifacts/import.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import { branchRuns } from "./branch-log.ts";

/**
 * The artifacts of a branch, the oldest first: those of the runs in its log and of their sub-agents, and what users added to
 * its conversation. Runs of other branches keep theirs.
 */
export function* branchArtifacts(
  db: Builder,
  { id, conversation_id }: { readonly id: string; readonly conversation_id: string },
): Operation<KeptArtifact[]> {
  const runs = new Set<string | null>(yield* branchRuns(db, id));
  const found = yield* rows(
    db
      .selectFrom("artifacts")
      .leftJoin("runs", "runs.id", "artifacts.run_id")
      .select([
        "artifacts.id",
        "artifacts.run_id",
        "artifacts.media_type",
        "artifacts.bytes",
        "artifacts.digest",
        "artifacts.sources",
        "runs.root_run_id",
      ])
      .where("artifacts.conversation_id", "=", conversation_id)
      .where("artifacts.id", "like", READABLE)
      .where("artifacts.media_type", "!=", HELD)
      .orderBy("artifacts.created_at")
      .orderBy("artifacts.id"),
  );
  const kept: KeptArtifact[] = [];
  for (const { run_id, root_run_id, sources, ...ref } of found) {
    if (run_id !== null && !runs.has(run_id) && !runs.has(root_run_id)) continue;
    const content = yield* readContent(db, ref.id, 0, ref.bytes);
    if (content !== undefined) kept.push({ ref: { ...ref, sources: readSources(sources) }, content });
  }
  return kept;
}
