import { Agent, defineTool, HOOK_POINTS, type HookContext, type HookPoint, localEngine } from "trackside";
import { type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { collect } from "../support/collect.ts";

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => a + b,
});
const crash = defineTool({
  name: "crash",
  execute: (): string => {
    throw new Error("no luck");
  },
});

/** A context closes when its hook has returned, so what it said is kept apart. */
function kept(ctx: HookContext): HookContext {
  const { event, agent, scope, runId, turnRef, attempt, signal } = ctx;
  return { event, agent, scope, runId, turnRef, attempt, signal, inputs: { ...ctx.inputs } } as HookContext; // the same event
}

/** Runs a turn with a hook on every point, and notes what each was given, between the events it came between. */
async function watched(
  script: Script,
  act: (ctx: HookContext, cancel: () => void) => void | Promise<void> = () => {},
) {
  const model = scriptedModel(script);
  const agent = new Agent({ name: "clerk", model, instructions: "Be kind.", tools: [add, crash] });
  const trace: string[] = [];
  const contexts: HookContext[] = [];
  const stop = new AbortController();
  for (const point of HOOK_POINTS) {
    agent.hookManager.add(point, (ctx: HookContext) => {
      trace.push(point);
      contexts.push(kept(ctx));
      return act(ctx, () => stop.abort("enough"));
    });
  }
  const engine = localEngine({ retry: { retries: 0 } });
  const stream = agent.stream("Hello?", { engine, scope: { user: "u1" }, signal: stop.signal });
  const reading = (async () => {
    for await (const event of stream) {
      if ("seq" in event) trace.push(event.type === "status" ? event.status : event.type);
    }
  })();
  const result = await stream.result.catch((error: unknown) => error);
  await reading;
  const points = trace.filter((word) => (HOOK_POINTS as readonly string[]).includes(word)); // widened to ask
  return { trace, points, contexts, result, model, stream };
}

const given = <P extends HookPoint>(contexts: HookContext[], point: P): HookContext<P> => {
  const found = contexts.find((ctx) => ctx.event === point);
  if (found === undefined) throw new Error(`${point} did not fire`);
  return found as HookContext<P>; // its event is this point
};

const TURN: Script = [
  { calls: [{ tool: "add", args: { a: 2 } }] },
  { text: "It is 3.", usage: { input: 7, output: 2 } },
];

describe("R11 every point fires once, in its place, with its inputs", () => {
  test("R11 a turn with one call", async () => {
    const { points } = await watched(TURN);

    expect(points).toEqual([
      "START",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "PRE_TOOL_CALL",
      "POST_TOOL_CALL",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "FINISHED",
    ]);
  });

  test("R11 hooks fire between the events they belong to", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel(TURN), tools: [add] });
    const at: [string, number][] = [];
    const events: unknown[] = [];
    for (const point of HOOK_POINTS) agent.hookManager.add(point, () => void at.push([point, events.length]));
    // The engine hands over events as they happen, before a reader gets round to them.
    const { result } = localEngine().start(agent, "Hello?", {}, (event) => {
      if ("seq" in event) events.push(event.type === "status" ? event.status : event.type);
    });
    await result;

    expect(events).toEqual([
      "starting",
      ...["step", "usage", "tool_call", "tool_result", "step"],
      ...["step", "usage", "text", "step"],
      "completed",
    ]);
    expect(at).toEqual([
      ["START", 1],
      ["PRE_LLM_CALL", 2],
      ["POST_LLM_CALL", 2],
      ["PRE_TOOL_CALL", 4],
      ["POST_TOOL_CALL", 4],
      ["PRE_LLM_CALL", 7],
      ["POST_LLM_CALL", 7],
      ["FINISHED", 10],
    ]);
  });

  test("R11 every context says which agent, run, turn, scope and attempt", async () => {
    const { contexts, stream } = await watched(TURN);

    for (const ctx of contexts) {
      expect(ctx.agent).toMatchObject({ name: "clerk", tools: ["add", "crash"] });
      expect(ctx.runId).toBe(stream.runId);
      expect(ctx.turnRef).toBe(stream.turnRef);
      expect(ctx.scope).toEqual({ tenant: "default", user: "u1" });
      expect(ctx.attempt).toBe(1);
      expect(ctx.signal).toBeInstanceOf(AbortSignal);
    }
  });

  test("R11 START has the input and the log before it", async () => {
    const model = scriptedModel(["one", "two"]);
    const agent = new Agent({ name: "clerk", model });
    const seen: unknown[] = [];
    agent.hookManager.add("START", ({ inputs }) => void seen.push([inputs.input, inputs.messages.length]));
    const { conversation } = await agent.run("first");
    await agent.run(
      [
        { type: "text", text: "sec" },
        { type: "text", text: "ond" },
      ],
      { conversation },
    );

    expect(seen).toEqual([
      ["first", 0],
      ["second", 2],
    ]);
  });

  test("R11 PRE_LLM_CALL has the messages and tools, POST_LLM_CALL the response and its usage too", async () => {
    const seen: [number, string[]][] = [];
    const { contexts } = await watched(TURN, (ctx) => {
      if (ctx.event === "PRE_LLM_CALL")
        seen.push([ctx.inputs.messages.length, ctx.inputs.tools.map(({ name }) => name)]);
    });
    const after = contexts.filter((ctx) => ctx.event === "POST_LLM_CALL").map((ctx) => ctx.inputs);

    expect(seen).toEqual([
      [1, ["add", "crash"]],
      [3, ["add", "crash"]],
    ]);
    expect(after[0]).toMatchObject({
      response: { text: "", toolCalls: [{ toolName: "add", arguments: { a: 2 } }] },
      usage: { input_tokens: 10, output_tokens: 5, model_calls: 1 },
    });
    expect(after[1]).toMatchObject({
      response: { text: "It is 3.", toolCalls: [] },
      usage: { input_tokens: 7, output_tokens: 2, model_calls: 1 },
    });
    expect(after[1]?.messages).toHaveLength(3);
  });

  test("R11 PRE_TOOL_CALL has tool and arguments, POST_TOOL_CALL the result and its record too", async () => {
    const { contexts, result } = await watched(TURN);
    const record = (result as { messages: { role: string; metadata?: object }[] }).messages.find(
      ({ role }) => role === "tool",
    );

    expect(given(contexts, "PRE_TOOL_CALL").inputs).toEqual({ toolName: "add", arguments: { a: 2 } });
    expect(given(contexts, "POST_TOOL_CALL").inputs).toEqual({
      toolName: "add",
      arguments: { a: 2 },
      result: 3,
      metadata: record?.metadata,
    });
  });

  test("R11 TOOL_ERROR fires instead of POST_TOOL_CALL when a tool throws, with the error", async () => {
    const { contexts, points } = await watched([{ calls: [{ tool: "crash" }] }, "sorry"]);

    expect(points.filter((point) => point.includes("TOOL"))).toEqual(["PRE_TOOL_CALL", "TOOL_ERROR"]);
    expect(given(contexts, "TOOL_ERROR").inputs).toEqual({
      toolName: "crash",
      arguments: {},
      error: { code: "tool_failed", message: "no luck" },
    });
    expect(points.at(-1)).toBe("FINISHED");
  });

  test("R11 calls that never run fire nothing: malformed, unknown", async () => {
    const { points } = await watched([
      { calls: [{ tool: "nobody" }, { tool: "add", args: { a: "x" } }, { tool: "add", rawArgs: "{" }] },
      "sorry",
    ]);

    expect(points.filter((point) => point.includes("TOOL"))).toEqual([]);
  });

  test("R11 FINISHED has the input and how the run ended", async () => {
    const { contexts, points, trace } = await watched(["Hello."]);

    expect(given(contexts, "FINISHED").inputs).toMatchObject({
      input: "Hello?",
      result: { text: "Hello.", stopReason: "answered" },
    });
    expect(points.filter((point) => point === "FINISHED" || point === "ERROR")).toEqual(["FINISHED"]);
    expect(trace.indexOf("FINISHED")).toBeLessThan(trace.indexOf("completed"));
  });

  test("R11 MODEL_ERROR and then ERROR fire when the model has failed for good, and FINISHED does not", async () => {
    const { contexts, points } = await watched([{ error: new Error("out of order") }]);

    expect(points).toEqual(["START", "PRE_LLM_CALL", "MODEL_ERROR", "ERROR"]);
    expect(given(contexts, "MODEL_ERROR").inputs).toMatchObject({
      error: { code: "model_failed", message: expect.stringContaining("out of order") },
    });
    expect(given(contexts, "MODEL_ERROR").inputs.messages).toHaveLength(1);
    expect(given(contexts, "MODEL_ERROR").inputs.tools.map(({ name }) => name)).toEqual(["add", "crash"]);
    expect(given(contexts, "ERROR").inputs).toMatchObject({
      input: "Hello?",
      error: { code: "model_failed", message: expect.stringContaining("out of order") },
    });
  });

  test("R11 MODEL_ERROR waits until no attempt and no fallback model is left", async () => {
    const broken = () =>
      scriptedModel([{ error: Object.assign(new Error("overloaded"), { statusCode: 529 }) }], { loop: true });
    const agent = new Agent({ name: "clerk", model: broken(), fallbackModels: [broken()] });
    const seen: [string, number][] = [];
    for (const point of ["PRE_LLM_CALL", "MODEL_ERROR"] as const)
      agent.hookManager.add(point, ({ attempt }) => void seen.push([point, attempt]));

    await expect(
      agent.run("Hi", { engine: localEngine({ retry: { retries: 1, baseMs: 1 } }) }),
    ).rejects.toThrow();
    expect(seen.at(-1)?.[0]).toBe("MODEL_ERROR");
    expect(seen.filter(([point]) => point === "MODEL_ERROR")).toHaveLength(1);
    expect(seen.filter(([point]) => point === "PRE_LLM_CALL").map(([, attempt]) => attempt)).toEqual([
      1, 2, 3, 4,
    ]);
  });
});

describe("R11 a cancel fires neither FINISHED nor ERROR", () => {
  test.each(["START", "PRE_LLM_CALL", "PRE_TOOL_CALL", "POST_TOOL_CALL"] as const)(
    "R11 during %s",
    async (point) => {
      const { points, result, trace } = await watched(TURN, async (ctx, cancel) => {
        if (ctx.event !== point) return;
        cancel();
        await new Promise((resolve) => setImmediate(resolve));
      });

      expect(result).toMatchObject({ code: "cancelled" });
      expect(points).not.toContain("FINISHED");
      expect(points).not.toContain("ERROR");
      expect(trace.at(-1)).toBe("cancelled");
    },
  );

  test("R11 while the model or a tool is at work", async () => {
    for (const script of [[{ hang: true }], [{ calls: [{ tool: "wait" }] }]] as Script[]) {
      const wait = defineTool({ name: "wait", execute: () => new Promise<never>(() => {}) });
      const agent = new Agent({ name: "clerk", model: scriptedModel(script), tools: [wait] });
      const points: string[] = [];
      for (const point of HOOK_POINTS) agent.hookManager.add(point, () => void points.push(point));
      const stream = agent.stream("Go");
      setTimeout(() => stream.cancel(), 5);
      const events = await collect(stream);

      expect(events.at(-1)).toMatchObject({ type: "status", status: "cancelled" });
      await expect(stream.result).rejects.toMatchObject({ code: "cancelled" });
      expect(
        points.filter((point) => ["FINISHED", "ERROR", "TOOL_ERROR", "MODEL_ERROR"].includes(point)),
      ).toEqual([]);
    }
  });
});
