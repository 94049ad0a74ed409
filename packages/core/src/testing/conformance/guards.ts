import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { RailAbortError } from "../../errors.ts";
import type { Engine } from "../../local/engine.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail, type Rail, type RailReturn } from "../../rails/rail.ts";
import { abort, alert, retry, skip } from "../../rails/verdicts.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import type { HookPoint } from "../../schema/points.ts";
import type { ToolEffect } from "../../schema/tool.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { manualClock } from "../manual-clock.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, PATIENCE_MS, rejection, shown, until } from "./behaviour.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Notes with what it runs. */
function job(name: string, effect: ToolEffect = "idempotent") {
  const ran: number[] = [];
  const tool = defineTool({
    name,
    effect,
    input: z.object({ n: z.number().default(0) }),
    execute: ({ n }) => {
      ran.push(n);
      return `${name} ${n}`;
    },
  });
  return { tool, ran };
}

/** One turn: a step with these calls of the tool `t`, then an answer. */
async function turn(engine: Engine, rails: readonly Rail[], calls = 1) {
  const { tool, ran } = job("t");
  const batch = Array.from({ length: calls }, (_, n) => ({ tool: "t", args: { n } }));
  const model = scriptedModel([{ text: "thinking", calls: batch }, "done", "done"]);
  const agent = new Agent({ name: "a", model, tools: [tool], rails });
  const stream = agent.stream("Go", { engine });
  const events = await collect(stream);
  const ended = await stream.result.then(
    (result) => ({ result, error: undefined }),
    (error: RailAbortError<RunResult<string>>) => ({ result: error.result, error }),
  );
  return { events, ran, model, ...ended };
}

function railRecords(events: readonly { type: string }[]) {
  const found = events.filter((event) => event.type === "rail") as Extract<DurableEvent, { type: "rail" }>[]; // by its type
  return found.flatMap(({ records }) => records);
}

/** Every call in the log has its result after it, in call order. */
function assertPaired({ messages }: Pick<RunResult<unknown>, "messages">): void {
  const calls = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.parts.flatMap((p) => (p.type === "tool_call" ? [p.call_id] : []))
      : [],
  );
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.call_id] : []));
  assert.deepEqual(results, calls, "every call is paired");
}

const REFUSALS: readonly { what: string; answer: () => RailReturn | Promise<RailReturn>; stops: boolean }[] =
  [
    { what: "skip", answer: () => "skip", stops: false },
    { what: "skip with a replacement", answer: () => skip("no", { replacement: "instead" }), stops: false },
    { what: "abort", answer: () => abort("no"), stops: true },
    { what: "retry to exhaustion", answer: () => retry({ maxRetries: 2, delay: 5 }), stops: true },
    { what: "throw", answer: () => Promise.reject(new Error("broke")), stops: true },
    { what: "hang", answer: () => new Promise<never>(() => {}), stops: true },
    { what: "return rubbish", answer: () => "nope" as never, stops: true },
  ];

/** Rails: they decide, and whatever the engine does in between, they decide once (R). */
export const guards = [
  behaviour(
    "R6 rails run in priority order and the first that does not let it pass decides",
    async (make) => {
      const ran: string[] = [];
      const rail = (name: string, priority: number, answer?: () => RailReturn) =>
        defineRail({ name, priority, on: ["PRE_TOOL_CALL"] }, () => {
          ran.push(name);
          return answer?.();
        });
      const rails = [
        rail("late", 90),
        rail("b", 50, () => alert("odd")),
        rail("first", 1),
        rail("a", 50, () => skip("no")),
      ];
      const { events, ran: executed, result } = await turn(await make(), rails);
      assert.deepEqual(ran, ["first", "b", "a"]);
      assert.deepEqual(executed, []);
      assert.equal(result.output, "done");
      assert.deepEqual(
        railRecords(events).map(({ rail: name, action }) => `${name} ${action}`),
        ["b continue", "a skip"],
      );
    },
  ),

  behaviour(
    "R7 a call that is refused never runs, by whatever verdict, alone or in a batch",
    async (make) => {
      const clock = manualClock();
      const engine = await make({ clock });
      for (const { what, answer, stops } of REFUSALS) {
        for (const size of [1, 3]) {
          const rails = [
            defineRail({ name: "r", on: ["PRE_TOOL_CALL"], timeoutMs: 1000 }, (ctx) =>
              ctx.inputs.arguments["n"] === size - 1 ? answer() : undefined,
            ),
          ];
          const { ran, result, error } = await clock.finish(turn(engine, rails, size));
          assert.ok(!ran.includes(size - 1), `${what}: it did not run`);
          assertPaired(result);
          assert.equal(error === undefined, !stops, what);
          if (!stops) assert.equal(ran.length, size - 1, `${what}: its siblings are none the worse`);
        }
      }
    },
  ),

  behaviour(
    "R8 retries are made exactly as often as asked for, before and after the operation",
    async (make) => {
      const points: readonly HookPoint[] = [
        "START",
        "PRE_LLM_CALL",
        "POST_LLM_CALL",
        "PRE_TOOL_CALL",
        "POST_TOOL_CALL",
      ];
      const engine = await make();
      for (const point of points) {
        const attempts: number[] = [];
        const rail = defineRail({ name: "again", on: [point] }, (ctx) => {
          attempts.push(ctx.attempt);
          return retry({ maxRetries: 2 });
        });
        const { error, ran, model, result } = await turn(engine, [rail]);
        assert.deepEqual(attempts, [1, 2, 3], point);
        assert.equal(error?.railName, "again", point);
        assert.equal(ran.length, point === "POST_TOOL_CALL" ? 3 : 0, point);
        assert.equal(
          model.requests.length,
          point === "POST_LLM_CALL" ? 3 : point.includes("TOOL") ? 1 : 0,
          point,
        );
        assertPaired(result);
      }
    },
  ),

  behaviour("R8 what happens once is not made to happen again", async (make) => {
    const { tool, ran } = job("pay", "once");
    const rails = [defineRail({ name: "again", on: ["POST_TOOL_CALL"] }, () => retry({ maxRetries: 5 }))];
    const model = scriptedModel([{ calls: [{ tool: "pay" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [tool], rails });
    const error = await rejection(agent.run("Go", { engine: await make() }));
    assert.ok(error instanceof RailAbortError);
    assert.deepEqual(ran, [0]);
  }),

  behaviour(
    "R9 an abort stops the siblings, names its rail, and leaves every call with a result",
    async (make) => {
      const started: number[] = [];
      const slow = defineTool({
        name: "slow",
        input: z.object({ n: z.number() }),
        execute: async ({ n }, { signal }) => {
          started.push(n);
          if (n === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return "done";
        },
      });
      const rails = [
        defineRail({ name: "guard", on: ["PRE_TOOL_CALL"], timeoutMs: PATIENCE_MS }, async (ctx) => {
          if (ctx.inputs.arguments["n"] !== 2) return undefined;
          await until(() => started.length === 2, "the siblings have started");
          return abort("not that one");
        }),
      ];
      const calls = [0, 1, 2].map((n) => ({ tool: "slow", args: { n } }));
      const agent = new Agent({ name: "a", model: scriptedModel([{ calls }, "done"]), tools: [slow], rails });
      const error = await rejection(agent.run("Go", { engine: await make() }));
      assert.ok(error instanceof RailAbortError);
      assert.deepEqual(
        [error.railName, error.point, error.reason],
        ["guard", "PRE_TOOL_CALL", "not that one"],
      );
      assert.deepEqual(started.toSorted(), [0, 1]);
      assertPaired(error.result as RunResult<string>); // every error of a run carries it
    },
  ),

  behaviour(
    "R9 what a POST rail did not let pass is in no event, no message and no later request",
    async (make) => {
      const leak = defineTool({ name: "leak", execute: () => "SECRET" });
      const [engine, next] = [await make(), await make()];
      for (const answer of [() => abort("no"), () => Promise.reject(new Error("broke")), () => skip("no")]) {
        const rails = [defineRail({ name: "guard", on: ["POST_TOOL_CALL"] }, answer)];
        const model = scriptedModel([{ calls: [{ tool: "leak" }] }, "done", "next"]);
        const agent = new Agent({ name: "a", model, tools: [leak], rails });
        const stream = agent.stream("Go", { engine });
        const events = await collect(stream);
        const result = await stream.result.catch((error: RailAbortError<RunResult<string>>) => error.result);
        const plain = new Agent({ name: "b", model });
        await plain.run("Next", { engine: next, conversation: result.conversation });
        assert.ok(!JSON.stringify([events, result.messages, model.requests]).includes("SECRET"));
      }
    },
  ),

  behaviour("R10 a rail that takes too long aborts, and is never taken for a yes", async (make) => {
    const clock = manualClock();
    const engine = await make({ clock });
    for (const point of [
      "START",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "PRE_TOOL_CALL",
      "POST_TOOL_CALL",
    ] as const) {
      const rails = [
        defineRail({ name: "stuck", on: [point], timeoutMs: 5000 }, () => new Promise<void>(() => {})),
      ];
      const { error, ran, result } = await clock.finish(turn(engine, rails));
      assert.deepEqual([error?.railName, error?.reason], ["stuck", "timed out after 5000 ms"], point);
      assert.equal(ran.length, point === "POST_TOOL_CALL" ? 1 : 0, point);
      assertPaired(result);
    }
  }),

  behaviour(
    "R5 rewrites and state operations of parallel calls all land, whatever their siblings are told",
    async (make) => {
      let total = "";
      const rails = [
        defineRail({ name: "rewrite", on: ["PRE_TOOL_CALL"], priority: 1 }, async (ctx) => {
          const n = Number(ctx.inputs.arguments["n"]);
          await pause(n % 3);
          ctx.inputs.arguments = { n: n + 100 };
          ctx.state.add("seen", 1);
          ctx.state.append("calls", n);
        }),
        defineRail({ name: "decide", on: ["PRE_TOOL_CALL"], priority: 2 }, (ctx) =>
          Number(ctx.inputs.arguments["n"]) % 2 === 0 ? skip("even") : undefined,
        ),
        defineRail({ name: "count", on: ["POST_TOOL_CALL"] }, (ctx) => ctx.state.add("ran", 1)),
        defineRail({ name: "read", on: ["FINISHED"] }, (ctx) => {
          const calls = [...(ctx.state.get("calls") as number[])].toSorted(); // appended above
          total = JSON.stringify([ctx.state.get("seen"), ctx.state.get("ran"), calls]);
        }),
      ];
      const { ran, result } = await turn(await make(), rails, 6);
      assert.deepEqual(ran.toSorted(), [101, 103, 105]);
      assert.equal(total, "[6,3,[0,1,2,3,4,5]]");
      assertPaired(result);
    },
  ),

  behaviour(
    "R5 a reservation is granted exactly as often as there is room, across parallel calls",
    async (make) => {
      const rails = [
        defineRail({ name: "limit", on: ["PRE_TOOL_CALL"] }, async ({ reserve }) => {
          await pause(1);
          return (await reserve("calls", 1, 2)).granted ? undefined : "skip";
        }),
      ];
      const { ran } = await turn(await make(), rails, 6);
      assert.equal(ran.length, 2);
    },
  ),

  behaviour("R12 a dispatch in which somebody spoke is one event, the rest is a count", async (make) => {
    const rails = [
      defineRail({ name: "quiet" }, () => {}),
      defineRail({ name: "loud", on: ["POST_TOOL_CALL"] }, () => alert("look")),
    ];
    const { events } = await turn(await make(), rails);
    assert.deepEqual(
      railRecords(events).map(({ rail, point, action, alert: told }) => [rail, point, action, told]),
      [["loud", "POST_TOOL_CALL", "continue", "look"]],
    );
    const passed = events.flatMap((event) =>
      event.type === "step" && event.state === "completed" ? [event.passed] : [],
    );
    assert.deepEqual(passed, [4, 2]);
  }),

  behaviour("R13 a rail in shadow changes nothing and is recorded", async (make) => {
    const rails = [
      defineRail({ name: "ghost", mode: "shadow" }, (ctx) => {
        if (ctx.event === "PRE_TOOL_CALL") ctx.inputs.arguments = { n: 99 };
        return abort("would have");
      }),
    ];
    const { events, ran, result, error } = await turn(await make(), rails);
    assert.equal(error, undefined);
    assert.deepEqual(ran, [0]);
    assert.equal(result.output, "done");
    assert.ok(railRecords(events).every(({ shadow, action }) => shadow && action === "abort"));
    assert.equal(railRecords(events).length, 8);
  }),

  behaviour("R15 no text is shown before the rails have let it pass", async (make) => {
    const redact = defineRail({ name: "redact", on: ["POST_LLM_CALL"] }, (ctx) => {
      const { text, toolCalls } = ctx.inputs.response;
      ctx.inputs.response = { text: text.replace("SECRET", "***"), toolCalls };
    });
    const model = scriptedModel(["it is SECRET", "it is SECRET"], { chunk: 1 });
    const agent = new Agent({ name: "a", model, rails: [redact] });
    const events = await collect(agent.stream("Go", { engine: await make() }));
    assert.equal(events[0]?.type === "status" && String(events[0].held_by), "redact");
    assert.equal(shown(events), "it is ***");
    assert.ok(!JSON.stringify(events).includes("SECRET"));

    const live = new Agent({ name: "a", model, rails: [redact], streamRelease: "live" });
    const seen = await collect(live.stream("Go", { engine: await make() }));
    assert.equal(shown(seen), "it is SECRET");
    assert.equal(seen.filter((event) => event.type === "message_retracted").length, 1);
  }),
];
