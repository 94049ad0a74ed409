import { Agent, defineTool, localEngine } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { collect } from "../support/collect.ts";
import { runCalls } from "../support/run-calls.ts";

/** Runs tools against a clock and notes which of them ran beside each other. */
function stage() {
  const clock = manualClock();
  const running = new Set<string>();
  const beside: string[] = [];
  const order: string[] = [];
  const work = async (label: string, ms = 10) => {
    for (const other of running) beside.push([other, label].sort().join("+"));
    running.add(label);
    order.push(label);
    await new Promise<void>((resolve) => void clock.after(ms, resolve));
    running.delete(label);
    return label;
  };
  return { clock, work, beside, order };
}

describe("T5 exclusive", () => {
  test("T5 an exclusive call never runs beside another, before or after it", async () => {
    const { clock, work, beside, order } = stage();
    const free = defineTool({
      name: "free",
      input: z.object({ n: z.int() }),
      execute: ({ n }) => work(`free${n}`),
    });
    const alone = defineTool({ name: "alone", exclusive: true, execute: () => work("alone") });
    const freely = (n: number) => ({ tool: "free", args: { n } });
    await clock.finish(
      runCalls([free, alone], [freely(1), freely(2), "alone", freely(3), freely(4)], { clock }),
    );

    expect(order).toEqual(["free1", "free2", "alone", "free3", "free4"]);
    expect(beside).toEqual(["free1+free2", "free3+free4"]);
  });

  test("T5 a call that fails still makes way", async () => {
    const { clock, work, order } = stage();
    const alone = defineTool({
      name: "alone",
      exclusive: true,
      execute: () => Promise.reject(new Error("no")),
    });
    const next = defineTool({ name: "next", execute: () => work("next") });
    await clock.finish(runCalls([alone, next], ["alone", "next"], { clock }));

    expect(order).toEqual(["next"]);
  });
});

describe("T5 resourceKey", () => {
  test("T5 a text serialises all calls of the tools that share it, and only those", async () => {
    const { clock, work, beside, order } = stage();
    const read = defineTool({ name: "read", resourceKey: "disk", execute: () => work("read") });
    const write = defineTool({ name: "write", resourceKey: "disk", execute: () => work("write") });
    const ask = defineTool({ name: "ask", resourceKey: "net", execute: () => work("ask") });
    await clock.finish(runCalls([read, write, ask], ["read", "write", "ask"], { clock }));

    expect(order).toEqual(["read", "ask", "write"]);
    expect(beside).toContain("ask+read");
    expect(beside).not.toContain("read+write");
  });

  test("T5 a function serialises calls by their own arguments, as the tool gets them", async () => {
    const { clock, work, beside } = stage();
    const write = defineTool({
      name: "write",
      input: z.object({ path: z.string().toLowerCase(), n: z.int() }),
      resourceKey: ({ path }) => (path === "" ? undefined : path),
      execute: ({ path, n }) => work(`${path || "none"}${n}`),
    });
    const to = (path: string, n: number) => ({ tool: "write", args: { path, n } });
    const calls = [to("a", 1), to("A", 2), to("b", 3), to("", 4), to("", 5)];
    const { results } = await clock.finish(runCalls([write], calls, { clock }));

    expect(beside).not.toContain("a1+a2");
    expect(beside).toEqual(expect.arrayContaining(["a1+b3", "none4+none5"]));
    expect(results.map(({ output }) => output)).toEqual(
      ["a1", "a2", "b3", "none4", "none5"].map((value) => ({ type: "text", value })),
    );
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("lost the key");
      },
      "lost the key",
    ],
    [
      "returns something else",
      () => 5 as never, // what a caller without types could return
      "resourceKey returned 5; return a string, or undefined for none",
    ],
  ])(
    "T5 a function that %s fails its call alone, before the tool runs",
    async (_what, resourceKey, problem) => {
      let ran = false;
      const keyed = defineTool({
        name: "keyed",
        resourceKey,
        execute() {
          ran = true;
          return "ran";
        },
      });
      const sound = defineTool({ name: "sound", execute: () => "fine" });
      const { told } = await runCalls([keyed, sound], ["keyed", "sound"]);

      expect(told).toEqual([
        { type: "error-text", value: problem },
        { type: "text", value: "fine" },
      ]);
      expect(ran).toBe(false);
    },
  );
});

describe("T5 timeoutMs", () => {
  test("T5 a call ends at its bound and not before, and its signal is aborted", async () => {
    const clock = manualClock();
    let signal: AbortSignal | undefined;
    const slow = defineTool({
      name: "slow",
      timeoutMs: 100,
      execute: (_, context) => {
        signal = context.signal;
        return new Promise<never>(() => {});
      },
    });
    const running = runCalls([slow], ["slow"], { clock });
    await clock.advance(99);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);

    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ name: "AbortError", message: "timed out after 100 ms" });
    expect((await running).told).toEqual([
      { type: "error-text", value: "The tool slow did not finish within 100 ms." },
    ]);
    expect(clock.pending).toBeLessThanOrEqual(1); // the engine's own tick
  });

  test("T5 a call that is done in time leaves no timer behind and keeps its signal", async () => {
    const { clock, work } = stage();
    let signal: AbortSignal | undefined;
    const quick = defineTool({
      name: "quick",
      timeoutMs: 100,
      execute: (_, context) => {
        signal = context.signal;
        return work("quick");
      },
    });
    await clock.finish(runCalls([quick], ["quick"], { clock }));

    expect(clock.pending).toBeLessThanOrEqual(1); // the engine's own tick
    expect(signal?.aborted).toBe(false);
  });
});

test("T5 the signal of a running tool is aborted when the run is cancelled", async () => {
  let signal: AbortSignal | undefined;
  const hangs = defineTool({
    name: "hangs",
    execute: (_, context) => {
      signal = context.signal;
      context.progress({ progress: 0 });
      return new Promise<never>(() => {});
    },
  });
  const model = scriptedModel([{ calls: [{ tool: "hangs" }] }]);
  const stream = new Agent({ name: "clerk", model, tools: [hangs] }).stream("Go");
  for await (const event of stream) if (event.type === "mcp_progress") stream.cancel("enough");

  await expect(stream.result).rejects.toMatchObject({ code: "cancelled" });
  expect(signal?.aborted).toBe(true);
  expect(signal?.reason).toMatchObject({ name: "AbortError", message: "enough" });
});

describe("T5 progress", () => {
  const counting = defineTool({
    name: "counting",
    async execute(_, { progress }) {
      progress({ progress: 0.5 });
      await Promise.resolve();
      progress({ progress: 2, total: 3, message: "nearly" });
      return "counted";
    },
  });

  test("T5 it is shown as it happens, keyed by call, always before that call's result", async () => {
    const { events } = await runCalls([counting], ["counting", "counting"]);

    for (const result of events.filter((event) => event.type === "tool_result")) {
      const mine = events.filter(
        (event) => event.type === "mcp_progress" && event.call_id === result.call_id,
      );
      expect(mine).toMatchObject([
        { server: null, progress: 0.5, total: null, message: null, offset: 0 },
        { server: null, progress: 2, total: 3, message: "nearly", offset: 1 },
      ]);
      for (const one of mine) expect(events.indexOf(one)).toBeLessThan(events.indexOf(result));
    }
  });

  test("T5 with emit_mcp_progress off none is shown, and nothing else changes", async () => {
    const on = await runCalls([counting], ["counting"]);
    const off = await runCalls([counting], ["counting"], { emitMcpProgress: false });
    const types = ({ events }: typeof on) =>
      events.map(({ type }) => type).filter((type) => type !== "mcp_progress");

    expect(off.events.some(({ type }) => type === "mcp_progress")).toBe(false);
    expect(on.events.some(({ type }) => type === "mcp_progress")).toBe(true);
    expect(types(off)).toEqual(types(on));
    expect(off.requests[0]).toEqual(on.requests[0]);
    expect(off.told).toEqual(on.told);
  });

  test("T5 what a tool reports after its call is over is shown to nobody", async () => {
    const clock = manualClock();
    const late = defineTool({
      name: "late",
      timeoutMs: 10,
      execute: (_, { progress }) =>
        new Promise<string>((resolve) => {
          clock.after(20, () => {
            progress({ progress: 1 });
            resolve("too late");
          });
        }),
    });
    const model = scriptedModel([{ calls: [{ tool: "late" }] }, { text: "done", delayMs: 30 }], {
      sleep: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    });
    const stream = new Agent({ name: "clerk", model, tools: [late] }).stream("Go", {
      engine: localEngine({ clock }),
    });
    const events = await clock.finish(collect(stream));

    expect(events.filter(({ type }) => type === "mcp_progress")).toEqual([]);
    expect(events.find((event) => event.type === "tool_result")).toMatchObject({ success: false });
  });
});

test("T5 a tool is told who asks: run, turn, call, scope, attempt and a key for repeated requests", async () => {
  const seen: Record<string, unknown>[] = [];
  const who = defineTool({
    name: "who",
    execute(_, { scope, runId, turnRef, callId, idempotencyKey, attempt, signal, progress }) {
      seen.push({ scope, runId, turnRef, callId, idempotencyKey, attempt, signal, progress });
      return "ok";
    },
  });
  const { result, results } = await runCalls([who], ["who", "who"], { scope: { user: "u1" } });

  expect(seen).toHaveLength(2);
  for (const [i, context] of seen.entries()) {
    expect(context).toEqual({
      scope: { tenant: "default", user: "u1" },
      runId: result.runId,
      turnRef: result.turnRef,
      callId: results[i]?.call_id,
      idempotencyKey: results[i]?.call_id,
      attempt: 1,
      signal: expect.any(AbortSignal),
      progress: expect.any(Function),
    });
  }
});
