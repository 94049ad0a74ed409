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
import type { ConformanceSuite } from "./suite.ts";
import { turns } from "./turns.ts";
import { workflows } from "./workflows.ts";

export { type Behaviour, behaviour, type MakeEngine } from "./behaviour.ts";
export * from "./suite.ts";

/** The behaviours of each area. Its name is their first tag, the rules in their title are the next. */
const areas: Readonly<Record<string, readonly Behaviour[]>> = {
  turns,
  "tool calls": calls,
  artifacts,
  faults,
  rails: guards,
  "guards that fail": failClosed,
  "pipeline hooks": guardsPipeline,
  approvals: guardsApprovals,
  "injected arguments": context,
  "sub-agents": subagents,
  "guards of sub-agents": subagentsGuards,
  handoff,
  planning,
  budget,
  workflows,
};

/**
 * What every engine must do, whatever it runs on. Give each behaviour a way to make your engine:
 *
 * @example
 * for (const { title, check } of engineConformance) test(title, () => check(() => localEngine()));
 */
export const engineConformance: readonly Behaviour[] = Object.entries(areas).flatMap(([area, behaviours]) =>
  behaviours.map((one) => ({ ...one, tags: [area, ...rulesIn(one.title), ...one.tags] })),
);

function rulesIn(title: string): readonly string[] {
  return title.match(/\b[A-Z]\d{1,2}\b/g) ?? [];
}

/** The engine conformance suite, and where it runs in this repository. */
export const engineSuite: ConformanceSuite = {
  title: "Engine behaviours",
  engines: ["local", "hostile", "sandbox", "sqlite", "postgres", "temporal"],
  behaviours: engineConformance,
  exceptions: [
    {
      tag: "no inbox",
      engines: ["sqlite", "postgres", "temporal"],
      reason:
        "These engines have an inbox: a run without `approve` waits there for a decision and is not refused (L6).",
    },
  ],
};
