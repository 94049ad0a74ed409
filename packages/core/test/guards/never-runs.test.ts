import {
  Agent,
  abort,
  ask,
  defineRail,
  type HookPoint,
  type RailContext,
  type RailReturn,
  retry,
  skip,
} from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { BATCHES, BY_HUMAN, BY_RAIL, type Way } from "./refusals.ts";
import { ENGINES, expectPaired, play, results, tracked } from "./stage.ts";

/** One run in which the tool `bad` is refused this way and the tool `good` is not. */
async function run(
  { on, answer, approve }: Way,
  batch: readonly string[],
  make: (typeof ENGINES)[number][1],
) {
  const clock = manualClock();
  const bad = tracked("bad");
  const good = tracked("good");
  const rail = defineRail({ name: "rail", on: [on], timeoutMs: 2000 }, (ctx) =>
    ctx.event === "PRE_TOOL_CALL" && ctx.inputs.toolName === "good" ? undefined : answer(ctx),
  );
  const model = scriptedModel([{ calls: batch.map((tool) => ({ tool })) }, "done"]);
  const agent = new Agent({
    name: "a",
    model,
    tools: [bad.tool, good.tool],
    rails: [rail],
    hitlTimeoutSeconds: 60,
  });
  const played = await clock.finish(
    play(agent, { engine: make({ clock }), ...(approve ? { approve } : {}) }),
  );
  return { ...played, bad: bad.ran, good: good.ran };
}

describe.each(ENGINES)(
  "L2 a declined or skipped tool never runs by any path, on the %s engine",
  (_name, make) => {
    describe.each(BATCHES)("L2 %s", (...batch) => {
      test.each([...BY_RAIL, ...BY_HUMAN])("R7 $what", async (way) => {
        const { bad, good, result, events, error } = await run(way, batch, make);
        const harmless = batch.filter((tool) => tool === "good").length;

        expect(bad).toEqual([]);
        expectPaired(result, events);
        if (way.stops) expect(good.length).toBeLessThanOrEqual(harmless);
        else {
          expect(error).toBeUndefined();
          expect(good).toHaveLength(harmless); // the others are none the worse
          expect(result.output).toBe("done");
        }
        for (const message of results(result)) {
          if (message.tool === "bad") expect(message.metadata.started_at).toBe(message.metadata.completed_at);
        }
      });
    });
  },
);

describe.each(ENGINES)(
  "R9 what a sibling does never runs a refused call, on the %s engine",
  (_name, make) => {
    const SIBLINGS: readonly { what: string; on: HookPoint; answer: (ctx: RailContext) => RailReturn }[] = [
      {
        what: "is retried after it ran",
        on: "POST_TOOL_CALL",
        answer: (ctx) => (ctx.attempt < 3 ? retry({ maxRetries: 2 }) : undefined),
      },
      { what: "is withheld", on: "POST_TOOL_CALL", answer: () => "skip" },
      { what: "aborts the run", on: "POST_TOOL_CALL", answer: () => abort("enough") },
    ];
    test.each(SIBLINGS)("R9 the sibling $what", async ({ on, answer }) => {
      for (const refusal of [skip("no"), ask("may it?")]) {
        const bad = tracked("bad");
        const good = tracked("good", { effect: "idempotent" });
        const rails = [
          defineRail({ name: "refuse", on: ["PRE_TOOL_CALL"] }, (ctx) =>
            ctx.inputs.toolName === "bad" ? refusal : undefined,
          ),
          defineRail({ name: "sibling", on: [on] }, (ctx) => answer(ctx)),
        ];
        const calls = ["good", "bad", "good"].map((tool) => ({ tool }));
        const agent = new Agent({
          name: "a",
          model: scriptedModel([{ calls }, "done"]),
          tools: [bad.tool, good.tool],
          rails,
        });
        const { result, events } = await play(agent, {
          engine: make(),
          approve: () => ({ choice: "reject", reason: "no" }),
        });

        expect(bad.ran).toEqual([]);
        expectPaired(result, events);
      }
    });

    test("L2 a yes that comes too late, after the deadline or a cancel, runs nothing", async () => {
      for (const end of ["deadline", "cancel"] as const) {
        const clock = manualClock();
        const { tool, ran } = tracked("t");
        const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
        const agent = new Agent({
          name: "a",
          model,
          tools: [tool],
          hitlTools: ["t"],
          hitlTimeoutSeconds: 10,
        });
        const stream = agent.stream("Go", { engine: make({ clock }) });
        await clock.advance(1000);
        const [approval] = stream.pending;
        expect(approval).toBeDefined();
        if (end === "cancel") stream.cancel("enough");
        const late = (async () => {
          await clock.advance(11_000);
          return stream
            .decide(approval?.id ?? "", { choice: "approve" })
            .catch((error: { code: string }) => error.code);
        })();

        expect(await late).toBe("approval_conflict");
        await clock.finish(stream.result.catch(() => {}));
        expect(ran).toEqual([]);
      }
    });
  },
);
