import { Agent, defineTool, localEngine, type RunCancelledError, type ToolResultMetadata } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { toolResultMetadata } from "../../src/schema/tool.ts";
import { collect } from "../support/collect.ts";
import { resultsOf, runCalls } from "../support/run-calls.ts";

const T0 = 1_700_000_000_000;

/** A call that was not gated, not changed and not offloaded. */
const PLAIN = {
  approval_status: "not_required",
  approval_id: null,
  injected_args: {},
  offloaded_artifact_id: null,
  approval_wait_ms: 0,
  attempts: 1,
  skipped_by: null,
  original_args: null,
} as const;

const took = (status: ToolResultMetadata["status"], ms: number): ToolResultMetadata => ({
  status,
  started_at: T0,
  completed_at: T0 + ms,
  execution_time_ms: ms,
  ...PLAIN,
});

const never = new Promise<string>(() => {});

/** Each outcome of a call: how it comes about, and the record it leaves. */
function outcomes(clock = manualClock(T0)) {
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const works = defineTool({ name: "works", execute: () => wait(30).then(() => "ok") });
  const throws = defineTool({
    name: "throws",
    execute: () => wait(20).then(() => Promise.reject(new Error("no luck"))),
  });
  const hangs = defineTool({ name: "hangs", timeoutMs: 50, execute: () => never });
  const silent = defineTool({ name: "silent", execute: () => undefined });
  const picky = defineTool({ name: "picky", input: z.object({ n: z.number() }), execute: () => 1 });
  return { clock, tools: [works, throws, hangs, silent, picky] };
}

const EXPECTED = [
  ["success", { tool: "works" }, took("success", 30), null],
  ["a tool that throws", { tool: "throws" }, took("error", 20), "tool_failed"],
  ["a tool that takes too long", { tool: "hangs" }, took("timed_out", 50), "tool_timed_out"],
  ["a result that is none", { tool: "silent" }, took("error", 0), "tool_result_invalid"],
  ["an unknown tool", { tool: "nobody" }, took("error", 0), "tool_unknown"],
  [
    "arguments that do not fit",
    { tool: "picky", args: { n: "x" } },
    took("error", 0),
    "tool_arguments_invalid",
  ],
  [
    "arguments that do not parse",
    { tool: "picky", rawArgs: '{"n":' },
    took("error", 0),
    "tool_arguments_invalid",
  ],
] as const;

describe("T2 every result carries its record", () => {
  test.each(EXPECTED)("T2 %s", async (_what, call, metadata, code) => {
    const { clock, tools } = outcomes();
    const { results, events } = await clock.finish(runCalls(tools, [call], { clock }));
    const [result] = results;
    const event = events.find((one) => one.type === "tool_result");

    expect(result?.metadata).toEqual(metadata);
    expect(Object.keys(result?.metadata ?? {}).sort()).toEqual(
      Object.keys(toolResultMetadata.unwrap().shape).sort(),
    );
    expect(result?.output.type === "error" ? result.output.failure.code : null).toBe(code);
    expect(event).toMatchObject({
      call_id: result?.call_id,
      tool: call.tool,
      success: metadata.status === "success",
      error: result?.output.type === "error" ? result.output.failure.message : null,
      duration_ms: metadata.execution_time_ms,
      output: result?.output,
      metadata,
    });
  });

  test("T2 nothing of it is sent to the model", async () => {
    const { clock, tools } = outcomes();
    const calls = EXPECTED.map(([, call]) => call);
    const { requests } = await clock.finish(runCalls(tools, calls, { clock }));

    const sent = JSON.stringify(requests[1]);
    for (const field of Object.keys(toolResultMetadata.unwrap().shape)) expect(sent).not.toContain(field);
    expect(sent).not.toContain(String(T0));
  });

  test("T2 calls of one batch are timed each for itself", async () => {
    const { clock, tools } = outcomes();
    const { results } = await clock.finish(runCalls(tools, ["works", "throws", "hangs"], { clock }));

    expect(results.map(({ metadata }) => metadata.execution_time_ms)).toEqual([30, 20, 50]);
  });

  test("T2 a call that waits for another starts when it runs", async () => {
    const clock = manualClock(T0);
    const wait = () => new Promise<string>((resolve) => void clock.after(40, () => resolve("ok")));
    const alone = defineTool({ name: "alone", exclusive: true, execute: wait });
    const { results } = await clock.finish(runCalls([alone], ["alone", "alone"], { clock }));

    expect(results.map(({ metadata }) => metadata)).toEqual([
      took("success", 40),
      { ...took("success", 40), started_at: T0 + 40, completed_at: T0 + 80 },
    ]);
  });
});

test("T2 cancelled is an error: cancelled if the call never started, cancelled_unknown if it had", async () => {
  const clock = manualClock(T0);
  const hangs = defineTool({ name: "hangs", exclusive: true, execute: () => never });
  const model = scriptedModel([{ calls: [{ tool: "hangs" }, { tool: "hangs" }] }]);
  const agent = new Agent({ name: "clerk", model, tools: [hangs] });
  const stream = agent.stream("Go", { engine: localEngine({ clock }) });
  const events = collect(stream);
  await clock.advance(70);
  stream.cancel("enough");

  const error: RunCancelledError<{ messages: never[] }> = await stream.result.then(
    () => Promise.reject(new Error("it was not cancelled")),
    (thrown) => thrown,
  );
  const [running, waiting] = resultsOf(error.result);
  expect(running?.output).toMatchObject({ type: "error", failure: { code: "cancelled_unknown" } });
  expect(running?.metadata).toEqual(took("error", 70));
  expect(waiting?.output).toMatchObject({ type: "error", failure: { code: "cancelled" } });
  expect(waiting?.metadata).toEqual({ ...took("error", 0), started_at: T0 + 70, completed_at: T0 + 70 });
  expect((await events).filter(({ type }) => type === "tool_result")).toHaveLength(2);
});
