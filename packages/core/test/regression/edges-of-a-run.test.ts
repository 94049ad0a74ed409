import { Agent, defineTool, HOOK_POINTS, type HookContext, HookError, localEngine } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";

describe("what went wrong at the edges of a run", () => {
  test("a cancel during POST_LLM_CALL of the last step cancels the run, with or without a FINISHED hook", async () => {
    for (const finished of [true, false]) {
      const agent = new Agent({ name: "clerk", model: scriptedModel(["Hello."]) });
      const stop = new AbortController();
      agent.hookManager.add("POST_LLM_CALL", async () => {
        stop.abort("enough");
        await new Promise((resolve) => setImmediate(resolve));
      });
      if (finished) agent.hookManager.add("FINISHED", () => {});
      await expect(agent.run("Hi", { signal: stop.signal })).rejects.toMatchObject({ code: "cancelled" });
    }
  });

  test("a signal that is first read after the timeout is aborted", async () => {
    const clock = manualClock();
    let aborted: boolean | undefined;
    const late = defineTool({
      name: "late",
      timeoutMs: 10,
      execute: (_, context) =>
        new Promise<string>((resolve) => {
          clock.after(20, () => {
            aborted = context.signal.aborted;
            resolve("too late");
          });
        }),
    });
    const model = scriptedModel([{ calls: [{ tool: "late" }] }, { text: "done", delayMs: 50 }], {
      sleep: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    });
    await clock.finish(
      new Agent({ name: "clerk", model, tools: [late] }).run("Go", { engine: localEngine({ clock }) }),
    );
    expect(aborted).toBe(true);
  });

  test("a tool whose arguments were still being checked at the cancel never starts", async () => {
    let ran = false;
    const stop = new AbortController();
    const input = z.object({}).refine(async () => {
      stop.abort("enough");
      await new Promise((resolve) => setImmediate(resolve));
      return true;
    });
    const tool = defineTool({
      name: "tool",
      input,
      execute: () => {
        ran = true;
        return 1;
      },
    });
    const model = scriptedModel([{ calls: [{ tool: "tool" }] }]);
    await expect(
      new Agent({ name: "clerk", model, tools: [tool] }).run("Go", { signal: stop.signal }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(ran).toBe(false);
  });

  test.each(["callTool", "callOf"])("a cancel does not wait for a schema that hangs (%s)", async (where) => {
    const checking = Promise.withResolvers<void>();
    const input = z.object({}).refine(() => {
      checking.resolve();
      return new Promise<boolean>(() => {});
    });
    const tool = defineTool({
      name: "tool",
      input,
      execute: () => 1,
      ...(where === "callOf" ? { resourceKey: "k" } : {}),
    });
    const model = scriptedModel([{ calls: [{ tool: "tool" }] }]);
    const stream = new Agent({ name: "clerk", model, tools: [tool] }).stream("Go");
    void checking.promise.then(() => stream.cancel("enough"));
    await expect(stream.result).rejects.toMatchObject({ code: "cancelled" });
  });

  test("a tool's timeout covers a schema that hangs", async () => {
    const input = z.object({}).refine(() => new Promise<boolean>(() => {}));
    const tool = defineTool({ name: "tool", input, timeoutMs: 20, execute: () => 1 });
    const model = scriptedModel([{ calls: [{ tool: "tool" }] }, "done"]);
    expect((await new Agent({ name: "clerk", model, tools: [tool] }).run("Go")).output).toBe("done");
  });

  test("what hooks, readers and callers are given cannot change the log or the outcome", async () => {
    const add = defineTool({ name: "add", execute: () => ({ r: 1 }) });
    const crash = defineTool({
      name: "crash",
      execute: (): string => {
        throw new Error("x");
      },
    });
    const model = scriptedModel([
      { text: "hm", calls: [{ tool: "add" }, { tool: "crash" }] },
      "done",
      { error: new Error("down") },
    ]);
    const agent = new Agent({ name: "clerk", model, tools: [add, crash] });
    const thawed = new Set<string>();
    for (const point of HOOK_POINTS)
      agent.hookManager.add(point, (ctx: HookContext) => {
        for (const value of Object.values(ctx.inputs)) walk(value, point, thawed);
      });
    const engine = localEngine({ retry: { retries: 0 } });
    const { conversation, messages } = await agent.run("Go", { engine });
    await agent.run("Go", { engine, conversation }).catch(() => {});
    walk(messages, "result.messages", thawed);
    walk(conversation.messages, "conversation.messages", thawed);
    expect([...thawed]).toEqual([]);
  });

  test("R10: run() rejects with a HookError that has point, hook and result", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel(["Hello."]) });
    agent.hookManager.add("START", function guard() {
      throw new Error("no");
    });
    const error = await agent.run("Hi").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HookError);
    expect(error).toMatchObject({ point: "START", hook: "guard", result: { steps: 0 } });
  });

  test("a hook that fails on ERROR does not hide what the run failed of", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel([{ error: new Error("out of order") }]) });
    agent.hookManager.add("ERROR", function guard() {
      throw new Error("no");
    });
    const error = await agent
      .run("Hi", { engine: localEngine({ retry: { retries: 0 } }) })
      .catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error) + String((error as Error).cause)).toContain("out of order");
  });

  test("MODEL_ERROR fires when a model cannot be had at all", async () => {
    const agent = new Agent({ name: "clerk", model: "openai:gpt-4o" });
    const points: string[] = [];
    for (const point of HOOK_POINTS) agent.hookManager.add(point, () => void points.push(point));
    const key = process.env["OPENAI_API_KEY"];
    delete process.env["OPENAI_API_KEY"];
    await agent.run("Hi").catch(() => {});
    if (key) process.env["OPENAI_API_KEY"] = key;
    expect(points).toEqual(["START", "MODEL_ERROR", "ERROR"]);
  });

  test("progress that is no number is the tool's mistake, not an event nobody can read", async () => {
    const tool = defineTool({
      name: "tool",
      execute: (_, { progress }) => {
        progress({ progress: Number.NaN });
        return 1;
      },
    });
    const stream = new Agent({
      name: "clerk",
      model: scriptedModel([{ calls: [{ tool: "tool" }] }, "done"]),
      tools: [tool],
    }).stream("Go");
    for await (const event of stream)
      if (event.type === "mcp_progress") expect(Number.isFinite(event.progress)).toBe(true);
  });

  test("stream() never throws, whatever its options are", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel([]) });
    for (const options of [null, 5, "x", { engine: {} }, { engine: null }, { signal: {} }]) {
      const stream = agent.stream("Hi", options as never);
      const events = [];
      for await (const event of stream) events.push(event);
      expect(events).toMatchObject([
        { type: "status", status: "error", failure: { code: "config_invalid" } },
      ]);
      await expect(stream.result).rejects.toMatchObject({ code: "config_invalid" });
    }
  });
  test("input that cannot be read", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel([]) });
    for (const input of [
      null,
      undefined,
      5,
      [],
      [null],
      [{ type: "text" }],
      [
        {
          type: "text",
          get text() {
            throw new Error("x");
          },
        },
      ],
      Symbol("x"),
      new Proxy([], {
        get() {
          throw new Error("x");
        },
      }),
    ]) {
      await expect(agent.run(input as never)).rejects.toMatchObject({ code: "config_invalid" });
    }
  });
});

function walk(value: unknown, path: string, thawed: Set<string>, seen = new Set<object>()): void {
  if (typeof value !== "object" || value === null || seen.has(value) || value instanceof AbortSignal) return;
  seen.add(value);
  if ((!Object.isFrozen(value) && !Array.isArray(value)) || (Array.isArray(value) && !Object.isFrozen(value)))
    thawed.add(path.replace(/\d+/g, "N"));
  const keys = new Set<PropertyKey>(Reflect.ownKeys(value));
  for (
    let p = Object.getPrototypeOf(value);
    p && p !== Object.prototype && p !== Array.prototype;
    p = Object.getPrototypeOf(p)
  )
    for (const key of Reflect.ownKeys(p)) if (key !== "constructor") keys.add(key);
  for (const key of keys) walk(Reflect.get(value, key), `${path}.${String(key)}`, thawed, seen);
}
