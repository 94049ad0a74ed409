import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { RailAbortError } from "../../errors.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail } from "../../rails/rail.ts";
import { abort, ask, skip } from "../../rails/verdicts.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, PATIENCE_MS, rejection, until } from "./behaviour.ts";
import { byRun, cast, outcomes, requestsOf } from "./cast.ts";
import { assertSound, gate, HOLD, noting, play, self, spawn, statuses } from "./tree-stage.ts";

/** Everything that guards a run guards its sub-agents (R14, R5, X5, L7). */
export const subagentsGuards = [
  behaviour(
    "R14 a tool that a rail refuses or a human declines never runs in a sub-agent either",
    async (make) => {
      const [bad, gated, good] = [noting("bad"), noting("gated"), noting("good")];
      const rails = [
        defineRail({ name: "no-bad", on: ["PRE_TOOL_CALL"] }, (ctx) =>
          ctx.inputs.toolName === "bad" ? skip("no") : undefined,
        ),
      ];
      const calls = { calls: [{ tool: "bad" }, { tool: "gated" }, { tool: "good" }] };
      const { result, events } = await play(
        make,
        {
          Go: [{ calls: [spawn("child", { task: "narrow", tool_names: ["bad", "gated", "good"] })] }, "done"],
          child: [{ calls: [...calls.calls, self("grandchild")] }, "child is done"],
          grandchild: [calls, "grandchild is done"],
          narrow: [calls, "narrow is done"],
        },
        { tools: [bad.tool, gated.tool, good.tool], rails, hitlTools: ["gated"] },
        { approve: () => ({ choice: "reject" }) },
      );
      assert.equal(result.output, "done");
      assert.deepEqual([bad.ran.length, gated.ran.length, good.ran.length], [0, 0, 3]);
      assertSound(events);
      const refused = events.flatMap((event) =>
        event.type === "tool_result" && event.metadata.status === "rejected" ? [event.tool] : [],
      );
      assert.deepEqual(refused.toSorted(), ["bad", "bad", "bad", "gated", "gated", "gated"]);
    },
  ),

  behaviour(
    "R14 R9 an abort anywhere in the tree ends all of it, with one error and every call paired",
    async (make) => {
      const { tool, state } = gate();
      const bad = noting("bad");
      const rails = [
        defineRail({ name: "guard", on: ["PRE_TOOL_CALL"], timeoutMs: PATIENCE_MS }, async (ctx) => {
          if (ctx.inputs.toolName !== "bad") return undefined;
          await until(() => state.live === 2, "the others are at work");
          return abort("enough");
        }),
      ];
      const { events, error, result } = await play(
        make,
        {
          Go: [{ calls: [spawn("child", "sibling"), { tool: "hold" }] }, "not said"],
          child: [{ calls: [self("grandchild")] }, "not said"],
          grandchild: [{ calls: [{ tool: "bad" }] }, "not said"],
          sibling: [HOLD, "not said"],
        },
        { tools: [tool, bad.tool], rails },
      );
      assert.ok(error instanceof RailAbortError);
      assert.deepEqual([error.railName, error.point, error.reason], ["guard", "PRE_TOOL_CALL", "enough"]);
      assert.deepEqual(bad.ran, []);
      assertSound(events);
      assert.deepEqual(statuses(events).toSorted(), ["cancelled", "error", "error", "error"]);
      assert.deepEqual(outcomes(result.messages), ["cancelled_unknown", "cancelled_unknown"]);
    },
  ),

  behaviour("R5 a limit holds over the whole tree", async (make) => {
    const t = noting("t");
    const rails = [
      defineRail({ name: "limit", on: ["PRE_TOOL_CALL"] }, async (ctx) => {
        if (ctx.inputs.toolName !== "t") return undefined;
        const { granted } = await ctx.reserve("t", 1, 3);
        return granted ? undefined : skip("no more");
      }),
    ];
    const twice = { calls: [{ tool: "t" }, { tool: "t" }] };
    const { result } = await play(
      make,
      {
        Go: [{ calls: [spawn("a", "b"), { tool: "t" }] }, "done"],
        a: [twice, "ok"],
        b: [{ calls: [self("c")] }, "ok"],
        c: [twice, "ok"],
      },
      { tools: [t.tool], rails },
    );
    assert.equal(result.output, "done");
    assert.equal(t.ran.length, 3);
  }),

  behaviour("T5 calls with one resource key run one after another, over the whole tree", async (make) => {
    const state = { live: 0, peak: 0 };
    const write = defineTool({
      name: "write",
      resourceKey: "the file",
      effect: "idempotent",
      execute: async () => {
        state.live += 1;
        state.peak = Math.max(state.peak, state.live);
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        state.live -= 1;
        return "written";
      },
    });
    const twice = { calls: [{ tool: "write" }, { tool: "write" }] };
    const { result } = await play(
      make,
      { Go: [{ calls: [spawn("a", "b"), { tool: "write" }] }, "done"], a: [twice, "ok"], b: [twice, "ok"] },
      { tools: [write] },
    );
    assert.equal(result.output, "done");
    assert.equal(state.peak, 1);
  }),

  behaviour("T5 an exclusive call runs alone in the whole tree", async (make) => {
    const state = { live: 0, alone: true };
    const work = (name: string, exclusive: boolean) =>
      defineTool({
        name,
        exclusive,
        effect: "idempotent",
        execute: async () => {
          state.live += 1;
          for (let i = 0; i < 20; i++) {
            await new Promise((resolve) => setImmediate(resolve));
            if (exclusive && state.live > 1) state.alone = false;
          }
          state.live -= 1;
          return "done";
        },
      });
    const both = { calls: [{ tool: "plain" }, { tool: "alone" }, { tool: "plain" }] };
    const { result } = await play(
      make,
      { Go: [{ calls: [spawn("a", "b")] }, "done"], a: [both, "ok"], b: [both, both, "ok"] },
      { tools: [work("plain", false), work("alone", true)] },
    );
    assert.equal(result.output, "done");
    assert.ok(state.alone);
  }),

  behaviour("T5 the arguments that really run decide which resource a call takes", async (make) => {
    const state = { live: new Map<string, number>(), peak: 0 };
    const write = defineTool({
      name: "write",
      input: z.object({ file: z.string() }),
      resourceKey: ({ file }) => file,
      effect: "idempotent",
      execute: async ({ file }) => {
        const live = (state.live.get(file) ?? 0) + 1;
        state.live.set(file, live);
        state.peak = Math.max(state.peak, live);
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        state.live.set(file, live - 1);
        return "written";
      },
    });
    // By the model's arguments they could run beside each other. A rail sends one to the other's file, a human too.
    const redirect = defineRail({ name: "redirect", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      const { file } = ctx.inputs.arguments;
      if (file === "b") ctx.inputs.arguments = { file: "a" };
      return file === "c" ? ask("which file?") : undefined;
    });
    const calls = ["a", "b", "c", "c"].map((file) => ({ tool: "write", args: { file } }));
    const agent = new Agent({
      name: "writer",
      model: scriptedModel([{ calls }, "done"]),
      tools: [write],
      rails: [redirect],
    });
    const { output } = await agent.run("Go", {
      engine: await make(),
      approve: () => ({ choice: "approve", editedArguments: { file: "a" } }),
    });
    assert.equal(output, "done");
    assert.equal(state.peak, 1);
  }),

  behaviour("X5 a cancel reaches sub-agents at once, and every call has its result", async (make) => {
    const { tool, state } = gate();
    const model = cast({
      Go: [{ calls: [spawn("a", "b"), spawn("c")] }],
      ...Object.fromEntries(["a", "b", "c"].map((task) => [task, [{ calls: [self(`${task}, deep`)] }]])),
      ...Object.fromEntries(["a", "b", "c"].map((task) => [`${task}, deep`, [HOLD]])),
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [tool],
      allowParallelSubagents: true,
      allowSelfSpawn: true,
      maxParallelSubagents: 2,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const reading = collect(stream);
    await until(() => state.live === 2, "both slots are taken");
    stream.cancel("enough");
    const error = await rejection(stream.result);
    assert.equal(error.name, "RunCancelledError");
    const events = (await reading) as DurableEvent[];
    assertSound(events);
    assert.ok(statuses(events).every((status) => status === "cancelled"));
    assert.equal(byRun(events).size, 5, "whoever waited in line never began");
    assert.equal(
      events.filter((event) => event.type === "subagent" && event.state === "started").length,
      events.filter((event) => event.type === "subagent" && event.state === "completed").length,
    );
    const { messages } = error.result as RunResult<string>; // every error of a run carries it
    assert.deepEqual(outcomes(messages), ["cancelled_unknown", "cancelled_unknown"]);
    await until(() => state.live === 0, "the tools have been told");
  }),

  behaviour("L7 approvals of sub-agents and theirs reach whoever holds the stream", async (make) => {
    const pay = noting("pay");
    const locate = defineTool({
      name: "locate",
      input: z.object({}),
      output: z.object({ city: z.string() }),
      executor: "client",
    });
    const model = cast({
      Go: [{ calls: [spawn("a", "b")] }, "done"],
      a: [{ calls: [self("deep")] }, "ok"],
      deep: [{ calls: [{ tool: "pay", args: { n: 1 } }] }, "ok"],
      b: [{ calls: [{ tool: "pay", args: { n: 2 } }, { tool: "locate" }] }, "ok"],
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [pay.tool, locate],
      hitlTools: ["pay"],
      allowParallelSubagents: true,
      allowSelfSpawn: true,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const reading = collect(stream);
    await until(() => stream.pending.length === 3, "three wait at once");
    const waiting = (kind: string, n?: number) =>
      stream.pending.find((one) => one.kind === kind && (n === undefined || one.arguments?.["n"] === n))
        ?.id ?? "";
    const [deep, broad, client] = [waiting("tool_call", 1), waiting("tool_call", 2), waiting("client_tool")];
    assert.equal(new Set([deep, broad, client]).size, 3);
    await stream.decide(broad, { choice: "reject", reason: "too much" });
    await stream.decide(client, { choice: "submit", response: { city: "Ghent" } });
    await stream.decide(deep, { choice: "approve", editedArguments: { n: 7 } });
    const result = await stream.result;
    const events = (await reading) as DurableEvent[];
    assert.equal(result.output, "done");
    assert.deepEqual(
      pay.ran.map(({ n }) => n),
      [7],
    );
    assert.match(JSON.stringify(requestsOf(model, "b")[1]?.prompt), /too much.*Ghent/);
    assertSound(events);
    const asked = events.flatMap((event) =>
      event.type === "approval" && event.state === "pending" ? [event.path.length] : [],
    );
    assert.deepEqual(asked.toSorted(), [1, 1, 2], "each is told where it was asked");
  }),

  behaviour("L7 X5 a cancel closes what sub-agents wait for", async (make) => {
    const pay = noting("pay");
    const model = cast({
      Go: [{ calls: [spawn("a", "b")] }],
      a: [{ calls: [{ tool: "pay" }] }],
      b: [{ calls: [{ tool: "pay" }] }],
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [pay.tool],
      hitlTools: ["pay"],
      allowParallelSubagents: true,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const reading = collect(stream);
    await until(() => stream.pending.length === 2, "both wait");
    const ids = stream.pending.map(({ id }) => id);
    stream.cancel("enough");
    await rejection(stream.result);
    for (const id of ids) {
      const late = await rejection(stream.decide(id, { choice: "approve" }));
      assert.equal(late.code, "approval_conflict");
    }
    assert.deepEqual(pay.ran, []);
    assertSound((await reading) as DurableEvent[]);
  }),
];
