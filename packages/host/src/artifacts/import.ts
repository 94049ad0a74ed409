import type { MemoryArtifacts } from "trackside/engine";
import { type Builder, type Operation, rows } from "../store/store.ts";

/** Artifacts of a conversation that was in memory so far, into the store. */
export function* importArtifacts(
  db: Builder,
  of: { readonly tenant: string; readonly conversation_id: string; readonly at: number },
  artifacts: MemoryArtifacts,
): Operation<void> {
  const { tenant, conversation_id, at: created_at } = of;
  for (const {
    ref: { sources, ...ref },
    content,
  } of artifacts)
    yield* rows(
      db
        .insertInto("artifacts")
        .values({
          ...ref,
          tenant,
          conversation_id,
          run_id: null,
          created_at,
          content,
          sources: JSON.stringify(sources),
        })
        .onConflict((conflict) => conflict.column("id").doNothing()), // another conversation has it
    );
}
