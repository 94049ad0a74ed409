import assert from "node:assert/strict";
import { APICallError } from "@ai-sdk/provider";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { RunCancelledError } from "../../errors.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { manualClock } from "../manual-clock.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, rejection, shown, trace, until } from "./behaviour.ts";

const http = (statusCode: number, headers: Record<string, string> = {}) =>
  new APICallError({
    message: `status ${statusCode}`,
    url: "http://127.0.0.1/",
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
  });

const never = () => new Promise<never>(() => {});

/** Provider retries (X8) and cancellation (X5). */
export const faults = [
  behaviour("X8 a provider error that may pass is tried again, visibly, and then fails", async (make) => {
    const clock = manualClock();
    const engine = await make({ clock, retry: { retries: 2, baseMs: 1000, maxMs: 8000 } });
    const model = scriptedModel([{ error: http(503) }, { error: http(429) }, "fine"]);
    const stream = new Agent({ name: "a", model }).stream("go", { engine });
    const events = await clock.finish(collect(stream));
    assert.equal((await stream.result).output, "fine");
    assert.deepEqual(trace(events).slice(1, 5), [
      "step:1:started",
      "error:model_failed",
      "error:model_failed",
      "usage",
    ]);
    const waits = events.flatMap((event) => (event.type === "error" ? [event.retry_in_ms] : []));
    assert.deepEqual(waits, [625, 1250], "exponential, with jitter");
    assert.equal((await stream.result).steps, 1);

    const failing = scriptedModel([{ error: http(500) }, { error: http(500) }, { error: http(500) }]);
    const error = await clock.finish(
      rejection(new Agent({ name: "a", model: failing }).run("go", { engine })),
    );
    assert.equal(error.code, "model_failed");
    failing.assertDone();
  }),

  behaviour("X8 Retry-After is honoured; above 60 s it counts as failed", async (make) => {
    const clock = manualClock();
    const engine = await make({ clock });
    const patient = scriptedModel([{ error: http(429, { "retry-after": "2" }) }, "fine"]);
    const events = await clock.finish(
      collect(new Agent({ name: "a", model: patient }).stream("go", { engine })),
    );
    const waits = events.flatMap((event) => (event.type === "error" ? [event.retry_in_ms] : []));
    assert.deepEqual(waits, [2_000]);
    assert.equal(patient.requests.length, 2);

    const impatient = scriptedModel([{ error: http(429, { "retry-after": "61" }) }]);
    const failing = rejection(new Agent({ name: "a", model: impatient }).run("go", { engine }));
    assert.equal((await clock.finish(failing)).code, "model_failed");
  }),

  behaviour("X8 what will not pass is not tried again", async (make) => {
    const model = scriptedModel([{ error: http(401) }]);
    const error = await rejection(new Agent({ name: "a", model }).run("go", { engine: await make() }));
    assert.equal(error.code, "model_failed");
    assert.equal(model.requests.length, 1);
  }),

  behaviour("X8 after its retries the fallback models are tried in order", async (make) => {
    const clock = manualClock();
    const engine = await make({ clock, retry: { retries: 1, baseMs: 10, maxMs: 10 } });
    const first = scriptedModel([{ error: http(529) }, { error: http(529) }], { modelId: "first" });
    const second = scriptedModel([{ error: http(400) }], { modelId: "second" });
    const third = scriptedModel(["from the third"], { modelId: "third" });
    const agent = new Agent({ name: "a", model: first, fallbackModels: [second, third] });
    const stream = agent.stream("go", { engine });
    const events = await clock.finish(collect(stream));
    assert.equal((await stream.result).output, "from the third");
    const used = events.flatMap((event) => (event.type === "usage" ? [event.model] : []));
    assert.deepEqual(used, ["scripted:third"]);
  }),

  behaviour("X8 nothing is tried again once text was shown: the step fails and says so", async (make) => {
    const model = scriptedModel([{ text: "Half an ans", errorAfter: 6, error: http(503) }], { chunk: 3 });
    const spare = scriptedModel(["never"]);
    const stream = new Agent({ name: "a", model, fallbackModels: [spare] }).stream("go", {
      engine: await make(),
    });
    const events = await collect(stream);
    const error = await rejection(stream.result);
    assert.match(error.message, /already shown \d+ characters/);
    assert.equal(spare.requests.length, 0);
    assert.deepEqual(trace(events), [
      "status:starting",
      "step:1:started",
      "text",
      "error:model_failed",
      "status:error",
    ]);
    const text = events.find((event) => event.type === "text");
    assert.ok(text?.type === "text" && text.partial === true);
    assert.equal(text.text, shown(events));
    const { messages } = error.result as RunResult;
    assert.ok(messages.at(-1)?.role === "assistant", "what was shown is in the log");
  }),

  behaviour("X8 a stream that ends without an end is a failure, not an answer", async (make) => {
    const parts = [{ type: "text-start" as const, id: "1" }];
    const call = { type: "tool-call" as const, toolCallId: "c", toolName: "pay", input: "{}" };
    let paid = 0;
    const pay = defineTool({ name: "pay", execute: () => ++paid });
    const engine = await make({ retry: { retries: 0 } });
    const model = scriptedModel([{ parts: [...parts, call] }]);
    const error = await rejection(new Agent({ name: "a", model, tools: [pay] }).run("go", { engine }));
    assert.equal(error.code, "model_failed");
    assert.equal(paid, 0);
  }),

  behaviour("X8 a model that falls silent fails within its bound", async (make) => {
    const clock = manualClock();
    const engine = await make({ clock, modelIdleMs: 5_000, retry: { retries: 0 } });
    const model = scriptedModel([{ hang: true }]);
    const error = await clock.finish(rejection(new Agent({ name: "a", model }).run("go", { engine })));
    assert.equal(error.code, "model_failed");
    assert.match(error.message, /5 s/);
  }),

  behaviour("X5 a cancel while the model speaks keeps what was shown and ends the run", async (make) => {
    const model = scriptedModel([{ text: "one two three four", hangAfter: 6 }], { chunk: 4 });
    const agent = new Agent({ name: "a", model });
    const stream = agent.stream("go", { engine: await make() });
    const events = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === "text_delta" && event.offset + event.text.length >= 8) stream.cancel("enough");
    }
    const error = await rejection(stream.result);
    assert.ok(error instanceof RunCancelledError);
    assert.equal(error.reason, "enough");
    assert.deepEqual(trace(events), ["status:starting", "step:1:started", "text", "status:cancelled"]);
    const text = events.find((event) => event.type === "text");
    assert.ok(text?.type === "text" && text.partial === true && text.text.startsWith("one two"));
  }),

  behaviour("X5 a cancel waits for no tool; every call gets its paired result first", async (make) => {
    let started = 0;
    let aborted = 0;
    const hangs = defineTool({
      name: "hangs",
      execute: (_, { signal }) => {
        started += 1;
        signal.addEventListener("abort", () => (aborted += 1));
        return never();
      },
    });
    const alone = defineTool({ name: "alone", exclusive: true, execute: () => "never runs" });
    const model = scriptedModel([{ calls: [{ tool: "hangs" }, { tool: "hangs" }, { tool: "alone" }] }]);
    const stream = new Agent({ name: "a", model, tools: [hangs, alone] }).stream("go", {
      engine: await make(),
    });
    const reading = collect(stream);
    await until(() => started === 2, "both tools have started");
    stream.cancel();
    const events = await reading;
    await until(() => aborted === 2, "the tools are told");
    assert.deepEqual(trace(events).slice(-4), [
      "tool_result:hangs:error",
      "tool_result:hangs:error",
      "tool_result:alone:error",
      "status:cancelled",
    ]);
    const { messages, conversation } = (await rejection(stream.result)).result as RunResult;
    const codes = messages.flatMap((m) =>
      m.role === "tool" && m.output.type === "error" ? [m.output.failure.code] : [],
    );
    assert.deepEqual(codes, ["cancelled_unknown", "cancelled_unknown", "cancelled"]);
    const next = await new Agent({ name: "b", model: scriptedModel(["ok"]) }).run("again", {
      conversation,
      engine: await make(),
    });
    assert.equal(next.output, "ok");
  }),

  behaviour("X5 a cancel between attempts or before the start makes no further model call", async (make) => {
    const engine = await make({ retry: { retries: 2, baseMs: 30_000, maxMs: 30_000 } });
    const model = scriptedModel([{ error: http(503) }]);
    const controller = new AbortController();
    const stream = new Agent({ name: "a", model }).stream("go", { engine, signal: controller.signal });
    for await (const event of stream) if (event.type === "error") controller.abort(new Error("closing time")); // it waits to try again
    assert.match((await rejection(stream.result)).message, /closing time/);
    assert.equal(model.requests.length, 1);

    const unused = scriptedModel([]);
    const already = AbortSignal.abort("too late");
    const refused = new Agent({ name: "a", model: unused }).stream("go", { engine, signal: already });
    const events = await collect(refused);
    assert.deepEqual(trace(events), ["status:starting", "status:cancelled"]);
    assert.ok((await rejection(refused.result)) instanceof RunCancelledError);
    assert.equal(unused.requests.length, 0);
  }),

  behaviour("X5 a tool that settles after the cancel changes nothing any more", async (make) => {
    let release: ((value: string) => void) | undefined;
    const late = defineTool({
      name: "late",
      execute: () => new Promise<string>((resolve) => (release = resolve)),
    });
    const model = scriptedModel([{ calls: [{ tool: "late" }] }, "next"]);
    const agent = new Agent({ name: "a", model, tools: [late] });
    const engine = await make();
    const stream = agent.stream("go", { engine });
    const reading = collect(stream);
    await until(() => release !== undefined, "the tool runs");
    stream.cancel();
    const events = await reading;
    release?.("too late");
    const { conversation } = (await rejection(stream.result)).result as RunResult;
    const next = await agent.run("and?", { engine, conversation });
    assert.equal(next.output, "next");
    assert.ok(!JSON.stringify([events, next.conversation, model.requests]).includes("too late"));
  }),

  behaviour(
    "R11 hooks run in order on their points, and one that fails ends the run by name",
    async (make) => {
      const seen: string[] = [];
      const echo = defineTool({ name: "echo", input: z.object({ t: z.string() }), execute: ({ t }) => t });
      const script = () => scriptedModel([{ calls: [{ tool: "echo", args: { t: "hi" } }] }, "done"]);
      const agent = new Agent({ name: "a", model: script(), tools: [echo] });
      const points = [
        "START",
        "PRE_LLM_CALL",
        "POST_LLM_CALL",
        "PRE_TOOL_CALL",
        "POST_TOOL_CALL",
        "FINISHED",
        "ERROR",
      ] as const;
      for (const point of points) {
        agent.hookManager.add(point, async function first() {
          seen.push(`${point} 1`);
        });
        agent.hookManager.add(point, function second() {
          seen.push(`${point} 2`);
        });
      }
      await agent.run("go", { engine: await make() });
      const expected = [
        "START",
        "PRE_LLM_CALL",
        "POST_LLM_CALL",
        "PRE_TOOL_CALL",
        "POST_TOOL_CALL",
        "PRE_LLM_CALL",
        "POST_LLM_CALL",
        "FINISHED",
      ];
      assert.deepEqual(
        seen,
        expected.flatMap((point) => [`${point} 1`, `${point} 2`]),
      );

      const guarded = new Agent({ name: "b", model: script(), tools: [echo] });
      guarded.hookManager.add("PRE_TOOL_CALL", function guard() {
        throw new Error("not today");
      });
      const stream = guarded.stream("go", { engine: await make() });
      const events = await collect(stream);
      const error = await rejection(stream.result);
      assert.equal(error.code, "hook_failed");
      assert.match(error.message, /"guard" on PRE_TOOL_CALL failed: not today/);
      assert.deepEqual(trace(events).slice(-3), [
        "tool_result:echo:error",
        "error:hook_failed",
        "status:error",
      ]);
    },
  ),

  behaviour("H1 the scope reaches tools and hooks and never the model", async (make) => {
    const seen: unknown[] = [];
    const who = defineTool({ name: "who", execute: (_, { scope }) => seen.push(scope) });
    const model = scriptedModel([{ calls: [{ tool: "who" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [who] });
    agent.hookManager.add("START", function look({ scope }) {
      seen.push(scope);
    });
    await agent.run("go", { engine: await make(), scope: { user: "u-7f3", role: { level: 2 } } });
    const scope = { tenant: "default", user: "u-7f3", role: { level: 2 } };
    assert.deepEqual(seen, [scope, scope]);
    assert.ok(!JSON.stringify(model.requests).includes("u-7f3"));
  }),
];
