import type { Approval } from "trackside";
import type { DecideInput } from "../../../src/approvals/approvals.ts";
import type { DurableEngine } from "../../../src/journal/durable-engine.ts";
import { type Stage, TENANT } from "./stage.ts";

/** The people who decide: they look at the inbox after every change, and find out in the ledger what is not known. */
export function decideAll(
  engine: DurableEngine,
  stage: Stage,
  decide: (approval: Approval) => DecideInput | undefined,
  changed: () => Promise<unknown>,
): { stop(): void } {
  let over = false;
  const look = async () => {
    while (!over) {
      const change = changed();
      for (const approval of await engine.approvals.list({ tenant: TENANT, state: "pending", limit: 1000 })) {
        const decision =
          approval.kind === "unknown_outcome" ? stage.unknownOutcome(approval) : decide(approval);
        if (decision !== undefined) await engine.decide(TENANT, approval.id, decision).catch(() => {}); // looked at again
      }
      await change;
    }
  };
  look().catch(() => {}); // the store was closed under it
  return {
    stop() {
      over = true;
    },
  };
}
