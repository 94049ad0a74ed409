import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { manualClock } from "../manual-clock.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, trace, until } from "./behaviour.ts";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const sleepy = defineTool({
  name: "sleepy",
  input: z.object({ ms: z.number() }),
  execute: async ({ ms }) => {
    await wait(ms);
    return `slept ${ms}`;
  },
});

/** Tool calls: order, isolation, ids (T). */
export const calls = [
  behaviour("T6 results enter the log in call order, events in completion order", async (make) => {
    let release = () => {};
    const later = new Promise<void>((resolve) => {
      release = resolve;
    });
    const take = defineTool({
      name: "take",
      input: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        if (n === 0) await later; // until the other one's result was seen
        return `took ${n}`;
      },
    });
    const calls = [0, 1].map((n) => ({ tool: "take", args: { n } }));
    const agent = new Agent({ name: "a", model: scriptedModel([{ calls }, "done"]), tools: [take] });
    const stream = agent.stream("go", { engine: await make() });
    const finished: (string | undefined)[] = [];
    for await (const event of stream) {
      if (event.type !== "tool_result") continue;
      finished.push(event.call_id.split(".").at(-1));
      release();
    }
    assert.deepEqual(finished, ["1", "0"], "the quick one is seen first");
    const logged = (await stream.result).messages.flatMap((m) => (m.role === "tool" ? [m.output] : []));
    assert.deepEqual(logged, [
      { type: "text", value: "took 0" },
      { type: "text", value: "took 1" },
    ]);
  }),

  behaviour("T1 a call that cannot run fails alone, as a result the model can read", async (make) => {
    const model = scriptedModel([
      {
        calls: [
          { tool: "sleepy", args: { ms: 1 } },
          { tool: "sleepy", args: { ms: "long" } },
          { tool: "nowhere", args: {} },
          { tool: "sleepy", rawArgs: '{"ms": 1' },
          { tool: "breaks", args: {} },
        ],
      },
      "done",
    ]);
    const breaks = defineTool({
      name: "breaks",
      execute: () => {
        throw new Error("the disk is full");
      },
    });
    const agent = new Agent({ name: "a", model, tools: [sleepy, breaks] });
    const result = await agent.run("go", { engine: await make() });
    assert.equal(result.output, "done");
    assert.deepEqual(codes(result), [
      "success",
      "tool_arguments_invalid",
      "tool_unknown",
      "tool_arguments_invalid",
      "tool_failed",
    ]);
    const request = JSON.stringify(model.requests[1]?.prompt);
    assert.match(request, /the disk is full/);
    assert.match(request, /There is no tool \\"nowhere\\". Known tools: sleepy, breaks/);
  }),

  behaviour(
    "T5 an exclusive call runs alone, calls with one resource key one after another",
    async (make) => {
      const log: string[] = [];
      const tracked = (name: string, extra: object) =>
        defineTool({
          name,
          input: z.object({ id: z.string() }),
          execute: async ({ id }) => {
            log.push(`${id}+`);
            await wait(4);
            if (id === "x1") await until(() => log.includes("y1+"), "y1 runs beside x1");
            log.push(`${id}-`);
            return id;
          },
          ...extra,
        });
      const free = tracked("free", {});
      const alone = tracked("alone", { exclusive: true });
      const shared = tracked("shared", { resourceKey: (args: { id: string }) => args.id.slice(0, 1) });
      const call = (tool: string, id: string) => ({ tool, args: { id } });
      const model = scriptedModel([
        {
          calls: [
            call("shared", "x1"),
            call("shared", "x2"),
            call("shared", "y1"),
            call("free", "f1"),
            call("alone", "a1"),
            call("free", "f2"),
          ],
        },
        "done",
      ]);
      await new Agent({ name: "a", model, tools: [free, alone, shared] }).run("go", { engine: await make() });
      const at = (mark: string) => log.indexOf(mark);
      assert.ok(at("x1-") < at("x2+"), "x2 waits for x1");
      assert.ok(at("y1+") < at("x1-"), "y1 does not");
      assert.equal(at("a1-"), at("a1+") + 1, "nothing runs beside the exclusive call");
      assert.ok(at("a1-") < at("f2+"), "what comes after it waits");
    },
  ),

  behaviour("T7 call ids are ours; provider ids are kept and made unique within a request", async (make) => {
    const twice = {
      calls: [
        { tool: "sleepy", args: { ms: 1 }, id: "c1" },
        { tool: "sleepy", args: { ms: 2 }, id: "c1" },
      ],
    };
    const model = scriptedModel([twice, { calls: [{ tool: "sleepy", args: { ms: 1 }, id: "" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [sleepy] });
    const result = await agent.run("go", { engine: await make() });
    const ids = result.messages.flatMap((m) => (m.role === "tool" ? [m.call_id] : []));
    assert.deepEqual(ids, [
      `${result.runId}.main.1.0`,
      `${result.runId}.main.1.1`,
      `${result.runId}.main.2.0`,
    ]);
    const wire = model.requests[2]?.prompt.flatMap((m) =>
      m.role === "tool"
        ? m.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []))
        : [],
    );
    assert.equal(wire?.[0], "c1");
    assert.equal(new Set(wire).size, 3);
    assert.ok(wire?.every((id) => id !== ""));
    const outputs = result.messages.flatMap((m) => (m.role === "tool" ? [m.output] : []));
    assert.deepEqual(outputs[1], { type: "text", value: "slept 2" }, "each call kept its own arguments");
  }),

  behaviour("T2 every result carries its record, mirrored on its event", async (make) => {
    const model = scriptedModel([
      {
        calls: [
          { tool: "sleepy", args: { ms: 5 } },
          { tool: "sleepy", args: {} },
        ],
      },
      "done",
    ]);
    const stream = new Agent({ name: "a", model, tools: [sleepy] }).stream("go", { engine: await make() });
    const events = await collect(stream);
    const result = await stream.result;
    for (const message of result.messages) {
      if (message.role !== "tool") continue;
      const event = events.find((e) => e.type === "tool_result" && e.call_id === message.call_id);
      assert.ok(event?.type === "tool_result");
      assert.deepEqual(event.metadata, message.metadata);
      assert.equal(event.duration_ms, message.metadata.execution_time_ms);
      assert.equal(event.success, message.metadata.status === "success");
    }
    const [ran, malformed] = result.messages.flatMap((m) => (m.role === "tool" ? [m.metadata] : []));
    assert.equal(ran?.status, "success");
    assert.equal(ran?.approval_status, "not_required");
    assert.equal(malformed?.status, "error");
    assert.equal(malformed?.started_at, malformed?.completed_at);
    assert.equal(malformed?.execution_time_ms, 0);
  }),

  behaviour("T5 a tool that takes too long is timed out, its siblings and the run go on", async (make) => {
    const clock = manualClock();
    const stuck = defineTool({ name: "stuck", timeoutMs: 500, execute: () => new Promise<string>(() => {}) });
    const quick = defineTool({ name: "quick", execute: () => "ok" });
    const model = scriptedModel([{ calls: [{ tool: "stuck" }, { tool: "quick" }] }, "done"]);
    const running = new Agent({ name: "a", model, tools: [stuck, quick] }).run("go", {
      engine: await make({ clock }),
    });
    const result = await clock.finish(running);
    assert.equal(result.output, "done");
    assert.deepEqual(codes(result), ["tool_timed_out", "success"]);
    const stuckMetadata = result.messages.find((m) => m.role === "tool")?.metadata;
    assert.equal(stuckMetadata?.status, "timed_out");
    assert.equal(stuckMetadata?.approval_status, "not_required");
    assert.equal(stuckMetadata?.execution_time_ms, 500);
  }),

  behaviour("T5 progress is shown while a tool runs, always before its result", async (make) => {
    let late = () => {};
    const working = defineTool({
      name: "working",
      execute: async (_, { progress }) => {
        progress({ progress: 0.5, total: 1, message: "half" });
        await wait(1);
        progress({ progress: 1 });
        late = () => progress({ progress: 9 });
        return "ok";
      },
    });
    const answer = async () => {
      late(); // the call has its result
      await wait(1);
      return "done";
    };
    const run = async (emit: boolean) => {
      const model = scriptedModel([{ calls: [{ tool: "working" }] }, answer]);
      const agent = new Agent({ name: "a", model, tools: [working], emitMcpProgress: emit });
      return collect(agent.stream("go", { engine: await make() }));
    };
    const events = await run(true);
    const progress = events.flatMap((event) => (event.type === "mcp_progress" ? [event.progress] : []));
    assert.deepEqual(progress, [0.5, 1]);
    const last = events.findLastIndex((event) => event.type === "mcp_progress");
    assert.ok(last < events.findIndex((event) => event.type === "tool_result"));
    const silent = await run(false);
    assert.ok(!silent.some((event) => event.type === "mcp_progress"));
    assert.deepEqual(trace(silent), trace(events));
  }),
];

function codes(result: RunResult<unknown>): string[] {
  return result.messages.flatMap((message) => {
    if (message.role !== "tool") return [];
    return [message.output.type === "error" ? message.output.failure.code : "success"];
  });
}
