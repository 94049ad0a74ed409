import { Agent, defineRail, RailAbortError, type RailContext } from "trackside";
import { manualClock, type ScriptedCall, type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { cast } from "../../src/testing/conformance/cast.ts";
import { BATCHES, BY_HUMAN, BY_RAIL, type Way } from "../guards/refusals.ts";
import { ENGINES, play, tracked } from "../guards/stage.ts";
import { expectSound } from "./stage.ts";

/** Where in a tree the calls are made, and how the tree comes to that. */
interface Lineage {
  readonly where: string;
  readonly make: (calls: readonly ScriptedCall[], config: object) => Agent;
  /** Whether a rail is where the calls are made, so that what comes before them is let pass. */
  readonly isThere: (ctx: RailContext) => boolean;
  /** What does not happen there. */
  readonly without?: readonly Way["on"][];
}

const SPAWNS = { allowSelfSpawn: true, allowParallelSubagents: true };
const self = (task: string): ScriptedCall => ({ tool: "spawn_self", args: { task } });
const parallel = (...tasks: string[]): ScriptedCall => ({
  tool: "spawn_parallel",
  args: { jobs: tasks.map((task) => ({ task })) },
});
const depthOf = ({ runId }: RailContext) => runId.split(".job").length - 1;

/** Asks for the calls until they have been made, however often a rail has it asked again. */
const asking = (calls: readonly ScriptedCall[], end: string): readonly ScriptedStep[] =>
  Array.from({ length: 4 }, () => ({ prompt }) => {
    const isAnswered = prompt.some(
      ({ role, content }) =>
        role === "tool" && content.some((part) => part.type === "tool-result" && part.toolName !== TRANSFER),
    );
    return isAnswered ? end : { calls };
  });
const TRANSFER = "handoff_to_target";

const LINEAGES: readonly Lineage[] = [
  {
    where: "a sub-agent",
    make: (calls, config) =>
      new Agent({
        name: "root",
        model: cast({ Go: [{ calls: [self("it")] }, "done"], it: asking(calls, "ok") }),
        ...SPAWNS,
        ...config,
      }),
    isThere: (ctx) => depthOf(ctx) === 1,
  },
  {
    where: "one of several sub-agents",
    make: (calls, config) =>
      new Agent({
        name: "root",
        model: cast({
          Go: [{ calls: [parallel("other", "it", "another")] }, "done"],
          it: asking(calls, "ok"),
          other: ["ok"],
          another: ["ok"],
        }),
        ...SPAWNS,
        ...config,
      }),
    isThere: (ctx) => ctx.runId.endsWith(".job1"),
  },
  {
    where: "a sub-agent of a sub-agent",
    make: (calls, config) =>
      new Agent({
        name: "root",
        model: cast({
          Go: [{ calls: [parallel("above", "beside")] }, "done"],
          above: [{ calls: [self("it")] }, "ok"],
          beside: ["ok"],
          it: asking(calls, "ok"),
        }),
        ...SPAWNS,
        ...config,
      }),
    isThere: (ctx) => depthOf(ctx) === 2,
  },
  {
    where: "an agent the turn was handed to",
    make: (calls, { tools, ...config }: { tools?: never }) => {
      const model = scriptedModel(asking(calls, "done"));
      const target = new Agent({ name: "target", model, tools: tools ?? [] });
      const root = scriptedModel([{ calls: [{ tool: TRANSFER, args: { reason: "x" } }] }]);
      return new Agent({ name: "root", model: root, handoffs: [target], ...config });
    },
    isThere: (ctx) => ctx.agent.name === "target",
    without: ["START"],
  },
  {
    where: "a sub-agent of an agent the turn was handed to",
    make: (calls, { tools, ...config }: { tools?: never }) => {
      // Its first words are the user's, as everybody's in one log.
      const model = cast({ Go: [{ calls: [self("it")] }, "done"], it: asking(calls, "ok") });
      const target = new Agent({ name: "target", model, tools: tools ?? [], ...SPAWNS });
      const root = scriptedModel([{ calls: [{ tool: TRANSFER, args: { reason: "x" } }] }]);
      return new Agent({ name: "root", model: root, handoffs: [target], ...config });
    },
    isThere: (ctx) => depthOf(ctx) === 1,
  },
];

/** One run in which, there, the tool `bad` is refused this way and the tool `good` is not. */
async function run(
  { on, answer, approve }: Way,
  batch: readonly string[],
  { make, isThere }: Lineage,
  makeEngine: (typeof ENGINES)[number][1],
) {
  const clock = manualClock();
  const [bad, good] = [tracked("bad"), tracked("good")];
  const rail = defineRail({ name: "rail", on: [on], timeoutMs: 2000 }, (ctx) => {
    const isCallOfOthers = ctx.event === "PRE_TOOL_CALL" && ctx.inputs.toolName !== "bad";
    return isThere(ctx) && !isCallOfOthers ? answer(ctx) : undefined;
  });
  const calls = batch.map((tool) => ({ tool }));
  const agent = make(calls, { tools: [bad.tool, good.tool], rails: [rail], hitlTimeoutSeconds: 60 });
  const options = { engine: makeEngine({ clock }), ...(approve ? { approve } : {}) };
  const played = await clock.finish(play(agent, options));
  return { ...played, bad: bad.ran, good: good.ran };
}

describe.each(ENGINES)(
  "R14 what is refused never runs, wherever in a tree, on the %s engine",
  (_name, make) => {
    describe.each(LINEAGES)("R14 in $where", (lineage) => {
      const ways = [...BY_RAIL, ...BY_HUMAN].filter(({ on }) => !lineage.without?.includes(on));
      describe.each(BATCHES)("R14 %s", (...batch) => {
        test.each(ways)("R14 $what", async (way) => {
          const { bad, good, result, events, error } = await run(way, batch, lineage, make);
          const harmless = batch.filter((tool) => tool === "good").length;

          expect(bad).toEqual([]);
          expectSound(events);
          const skips = way.what.startsWith("skip") || way.what.startsWith("ask");
          if (!skips) {
            // Whatever is not a skip ends the whole tree, once, by the name of the rail.
            expect(error).toBeInstanceOf(RailAbortError);
            expect(error).toMatchObject({ point: way.on });
            expect(good.length).toBeLessThanOrEqual(harmless);
            return;
          }
          expect(error).toBeUndefined();
          if (!way.stops) {
            expect(good).toHaveLength(harmless); // the others are none the worse
            expect(result.output).toBe("done");
          }
        });
      });
    });
  },
);
