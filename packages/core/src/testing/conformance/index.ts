import { artifacts } from "./artifacts.ts";
import type { Behaviour } from "./behaviour.ts";
import { budget } from "./budget.ts";
import { calls } from "./calls.ts";
import { context } from "./context.ts";
import { failClosed } from "./fail-closed.ts";
import { faults } from "./faults.ts";
import { guards } from "./guards.ts";
import { guardsApprovals } from "./guards-approvals.ts";
import { guardsPipeline } from "./guards-pipeline.ts";
import { handoff } from "./handoff.ts";
import { planning } from "./planning.ts";
import { subagents } from "./subagents.ts";
import { subagentsGuards } from "./subagents-guards.ts";
import { turns } from "./turns.ts";
import { workflows } from "./workflows.ts";

export { type Behaviour, behaviour, type MakeEngine } from "./behaviour.ts";

/**
 * What every engine must do, whatever it runs on. Give each behaviour a way to make your engine:
 *
 * @example
 * for (const { title, check } of engineConformance) test(title, () => check(() => localEngine()));
 */
export const engineConformance: readonly Behaviour[] = [
  ...turns,
  ...calls,
  ...artifacts,
  ...faults,
  ...guards,
  ...failClosed,
  ...guardsPipeline,
  ...guardsApprovals,
  ...context,
  ...subagents,
  ...subagentsGuards,
  ...handoff,
  ...planning,
  ...budget,
  ...workflows,
];
