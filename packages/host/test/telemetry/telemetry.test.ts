import { context, type Meter as RealMeter, type Tracer as RealTracer } from "@opentelemetry/api";
import type { DurableEvent } from "trackside";
import { describe, expect, test } from "vitest";
import { type Meter, type Tracer, telemetryOf } from "../../src/telemetry/index.ts";
import { metadata, ms, scene, story, usage } from "./support.ts";

const RUN = "run_1";
const facts = {
  run_id: RUN,
  agent: "clerk",
  model: "anthropic:claude",
  conversation_id: "conv_1",
  tenant: "a",
};

/** A run of two steps: a tool call with a retried model call before it, then the answer. */
function twoSteps(): DurableEvent[] {
  const run = story(RUN);
  return [
    run.next({ type: "status", status: "starting" }),
    run.next({ type: "step", step: 1, state: "started" }),
    run.next({
      type: "error",
      failure: { code: "model_unavailable", message: "private 529" },
      attempt: 1,
      retry_in_ms: 5,
    }),
    run.next({
      type: "usage",
      step: 1,
      model: "anthropic.messages:claude",
      call: usage(10, 5),
      total: usage(10, 5),
    }),
    run.next({ type: "text", message_id: "m1", text: "private thought" }),
    run.next({
      type: "tool_call",
      message_id: "m1",
      call_id: "c1",
      tool: "look_up",
      arguments: { q: "private query" },
    }),
    run.next({
      type: "tool_result",
      call_id: "c1",
      tool: "look_up",
      success: true,
      error: null,
      duration_ms: 50,
      output: { type: "text", value: "private result" },
      metadata: metadata(run.at() + 20, run.at() + 70),
    }),
    run.next({ type: "step", step: 1, state: "completed" }),
    run.next({ type: "step", step: 2, state: "started" }),
    run.next({
      type: "usage",
      step: 2,
      model: "anthropic.messages:claude",
      call: usage(20, 7),
      total: usage(30, 12),
    }),
    run.next({ type: "text", message_id: "m2", text: "private answer" }),
    run.next({ type: "step", step: 2, state: "completed" }),
    run.next({ type: "status", status: "completed", stop_reason: "answered" }),
  ];
}

describe("telemetry", () => {
  test("that is not configured is nothing at all", async () => {
    expect(await telemetryOf(undefined)).toBeUndefined();
  });

  test("takes tracers and meters of OpenTelemetry as they are", () => {
    const taken = (tracer: RealTracer, meter: RealMeter): { tracer: Tracer; meter: Meter } => ({
      tracer,
      meter,
    });
    expect(taken).toBeTypeOf("function");
  });

  test("makes one span for the run, one for each model call and one for each tool, with the times of the events", async () => {
    const { telemetry, spans } = await scene();
    telemetry.onRun(facts);
    const events = twoSteps();
    for (const event of events) telemetry.onEvent(event);
    const found = spans();
    expect(found.map(({ name }) => name).sort()).toEqual([
      "chat claude",
      "chat claude",
      "execute_tool look_up",
      "invoke_agent clerk",
    ]);
    const root = found.find(({ name }) => name.startsWith("invoke_agent"));
    const tool = found.find(({ name }) => name.startsWith("execute_tool"));
    const [first, second] = found.filter(({ name }) => name.startsWith("chat"));
    for (const child of [tool, first, second]) {
      expect(child?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
      expect(child?.spanContext().traceId).toBe(root?.spanContext().traceId);
    }
    const at = (n: number) => events[n - 1]?.at;
    expect([ms(root?.startTime ?? [0, 0]), ms(root?.endTime ?? [0, 0])]).toEqual([at(1), at(13)]);
    expect([ms(first?.startTime ?? [0, 0]), ms(first?.endTime ?? [0, 0])]).toEqual([at(2), at(4)]);
    expect([ms(second?.startTime ?? [0, 0]), ms(second?.endTime ?? [0, 0])]).toEqual([at(9), at(10)]);
    expect(ms(tool?.endTime ?? [0, 0]) - ms(tool?.startTime ?? [0, 0])).toBe(50);
    expect(root?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "clerk",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude",
      "gen_ai.conversation.id": "conv_1",
      "gen_ai.usage.input_tokens": 30,
      "gen_ai.usage.output_tokens": 12,
      "trackside.run.id": RUN,
      "trackside.run.status": "completed",
      "trackside.stop_reason": "answered",
    });
    expect(first?.kind).toBe(2);
    expect(first?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 10,
    });
    expect(first?.events.map(({ name, attributes }) => [name, attributes?.["error.type"]])).toEqual([
      ["trackside.retry", "model_unavailable"],
    ]);
    expect(tool?.attributes).toMatchObject({ "gen_ai.tool.name": "look_up", "gen_ai.tool.call.id": "c1" });
    expect(found.every(({ status }) => status.code === 0)).toBe(true);
  });

  test("holds nothing that anybody wrote, unless it is asked to", async () => {
    const without = await scene();
    const withContent = await scene({ content: true });
    for (const { telemetry } of [without, withContent])
      for (const event of twoSteps()) telemetry.onEvent(event);
    const text = (spans: ReturnType<typeof without.spans>) =>
      JSON.stringify(
        spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
      );
    expect(text(without.spans())).not.toContain("private");
    const shown = text(withContent.spans());
    for (const word of ["query", "result", "thought", "answer"]) expect(shown).toContain(`private ${word}`);
  });

  test("counts tokens and measures durations", async () => {
    const { telemetry, metrics } = await scene();
    telemetry.onRun(facts);
    for (const event of twoSteps()) telemetry.onEvent(event);
    const found = await metrics();
    const model = { "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude" };
    expect(found["gen_ai.client.token.usage"]).toEqual([
      {
        attributes: { "gen_ai.operation.name": "chat", ...model, "gen_ai.token.type": "input" },
        count: 2,
        sum: 30,
      },
      {
        attributes: { "gen_ai.operation.name": "chat", ...model, "gen_ai.token.type": "output" },
        count: 2,
        sum: 12,
      },
    ]);
    const durations = found["gen_ai.client.operation.duration"]?.map(({ attributes, count, sum }) => [
      (attributes as Record<string, unknown>)["gen_ai.operation.name"],
      count,
      Number(sum.toFixed(3)),
    ]);
    expect(durations).toEqual([
      ["execute_tool", 1, 0.05],
      ["chat", 2, 0.3],
      ["invoke_agent", 1, 1.2],
    ]);
  });

  test("tells how a run failed, was cancelled or had a call refused, by code", async () => {
    const { telemetry, spans } = await scene();
    const run = story(RUN);
    const failure = { code: "model_failed" as const, message: "private" };
    telemetry.onEvent(run.next({ type: "status", status: "starting" }));
    telemetry.onEvent(run.next({ type: "step", step: 1, state: "started" }));
    const result = (
      status: "error" | "rejected" | "timed_out",
      code: "tool_failed" | "rejected" | "tool_timed_out",
      call: string,
    ) =>
      run.next({
        type: "tool_result",
        call_id: call,
        tool: call,
        success: false,
        error: "private",
        duration_ms: 0,
        output: { type: "error", failure: { code, message: "private" } },
        metadata: { ...metadata(run.at(), run.at()), status },
      });
    telemetry.onEvent(result("error", "tool_failed", "broken"));
    telemetry.onEvent(result("rejected", "rejected", "refused"));
    telemetry.onEvent(result("timed_out", "tool_timed_out", "slow"));
    telemetry.onEvent(run.next({ type: "error", failure }));
    telemetry.onEvent(run.next({ type: "status", status: "error", failure }));
    const told = spans().map(({ name, status, attributes }) => [
      name,
      status.code,
      attributes["error.type"],
      status.message,
    ]);
    expect(told).toEqual([
      ["execute_tool broken", 2, "tool_failed", undefined],
      ["execute_tool refused", 0, undefined, undefined],
      ["execute_tool slow", 2, "tool_timed_out", undefined],
      ["chat", 2, "model_failed", undefined],
      ["invoke_agent", 2, "model_failed", undefined],
    ]);
  });

  test("marks approvals, rails and what was taken back on the run's span", async () => {
    const { telemetry, spans } = await scene();
    const run = story(RUN);
    const about = {
      type: "approval" as const,
      approval_id: "ap_1",
      kind: "tool_call" as const,
      call_id: "c1",
      tool: "send",
      reasons: ["private"],
      deadline: null,
    };
    for (const event of [
      run.next({ type: "status", status: "starting" }),
      run.next({ ...about, state: "pending" }),
      run.next({ ...about, state: "approved", decided_by: "ann" }),
      run.next({
        type: "rail",
        point: "PRE_LLM_CALL",
        step: 1,
        call_id: null,
        records: [
          {
            rail: "pii",
            point: "PRE_LLM_CALL",
            action: "skip",
            reason: "private",
            attempt: 1,
            duration_ms: 1,
            shadow: false,
          },
        ],
      }),
      run.next({ type: "message_retracted", message_id: "m1", attempt: 1, reason: "private" }),
      run.next({ type: "status", status: "cancelled", reason: "private" }),
    ])
      telemetry.onEvent(event);
    const [root] = spans();
    expect(root?.events.map(({ name }) => name)).toEqual([
      "trackside.approval.requested",
      "trackside.approval.decided",
      "trackside.rail",
      "trackside.retracted",
    ]);
    expect(root?.events[1]?.attributes).toMatchObject({
      "trackside.approval.decided_by": "ann",
      "trackside.approval.state": "approved",
    });
    expect(JSON.stringify(root?.events)).not.toContain("private");
  });

  test("holds no span open while a run waits for days, and links what comes after", async () => {
    const { telemetry, spans, clock } = await scene();
    telemetry.onRun(facts);
    const run = story(RUN, clock.now());
    const about = {
      type: "approval" as const,
      approval_id: "ap_1",
      kind: "tool_call" as const,
      call_id: "c1",
      tool: "send",
      reasons: [],
      deadline: null,
    };
    telemetry.onEvent(run.next({ type: "status", status: "starting" }));
    telemetry.onEvent(run.next({ type: "step", step: 1, state: "started" }));
    telemetry.onEvent(
      run.next({ type: "usage", step: 1, model: "openai:gpt", call: usage(1, 1), total: usage(1, 1) }),
    );
    telemetry.onEvent(
      run.next({ type: "tool_call", message_id: "m", call_id: "c1", tool: "send", arguments: {} }),
    );
    telemetry.onEvent(run.next({ ...about, state: "pending" }));
    const asked = run.at();
    await clock.advance(60_000);
    expect(spans()).toEqual([]);
    await clock.advance(3 * 86_400_000);
    expect(spans().map(({ name }) => name)).toEqual(["chat gpt", "invoke_agent clerk"]);
    expect(clock.pending).toBe(0);
    run.wait(3 * 86_400_000);
    telemetry.onEvent(run.next({ ...about, state: "approved", decided_by: "ann" }));
    telemetry.onEvent(run.next({ type: "status", status: "completed", stop_reason: "answered" }));
    const [, before, after] = spans();
    expect(ms(before?.endTime ?? [0, 0])).toBe(asked);
    expect(before?.attributes["trackside.run.status"]).toBe("waiting");
    expect(after?.links.map((link) => link.context.spanId)).toEqual([before?.spanContext().spanId]);
    expect(after?.spanContext().traceId).toBe(before?.spanContext().traceId);
    expect(after?.attributes["trackside.continued"]).toBe(true);
  });

  test("continues the trace of a run that another process began", async () => {
    const one = await scene();
    const other = await scene();
    const events = twoSteps();
    one.telemetry.onRun(facts);
    for (const event of events.slice(0, 6)) one.telemetry.onEvent(event);
    const traceparent = one.telemetry.traceparent(RUN);
    one.telemetry.onReleased(RUN);
    expect(one.telemetry.traceparent(RUN)).toBeUndefined();
    expect(one.spans().map(({ name }) => name)).toEqual(["chat claude", "invoke_agent clerk"]);

    other.telemetry.onRecovered({ ...facts, ...(traceparent === undefined ? {} : { traceparent }) });
    for (const event of events.slice(5)) other.telemetry.onEvent(event);
    const root = other.spans().find(({ name }) => name.startsWith("invoke_agent"));
    expect(root?.spanContext().traceId).toBe(one.spans()[0]?.spanContext().traceId);
    expect(root?.attributes["trackside.recovered"]).toBe(true);
    expect(root?.links).toHaveLength(1);
  });

  test("tells an event that comes twice once, and a run it has never heard of all the same", async () => {
    const { telemetry, spans } = await scene();
    const events = twoSteps();
    for (const event of events.slice(0, -1)) {
      telemetry.onEvent(event);
      telemetry.onEvent(event);
    }
    telemetry.onEvent(events.at(-1) as DurableEvent); // there is one
    expect(spans()).toHaveLength(4);
  });

  test("keeps runs apart, and children below their parent", async () => {
    const { telemetry, spans } = await scene();
    const parent = story("run_p");
    const child = story("run_c");
    telemetry.onRun({ run_id: "run_p", agent: "parent" });
    telemetry.onEvent(parent.next({ type: "status", status: "starting" }));
    telemetry.onRun({ run_id: "run_c", agent: "child", parent_run_id: "run_p" });
    telemetry.onEvent(child.next({ type: "status", status: "starting" }));
    telemetry.onEvent(child.next({ type: "status", status: "completed", stop_reason: "answered" }));
    telemetry.onEvent(parent.next({ type: "status", status: "completed", stop_reason: "answered" }));
    const [low, high] = spans();
    expect(low?.parentSpanContext?.spanId).toBe(high?.spanContext().spanId);
  });

  test("gives the planner's model calls spans of their own", async () => {
    const { telemetry, spans } = await scene();
    const run = story(RUN);
    telemetry.onEvent(run.next({ type: "status", status: "starting" }));
    telemetry.onEvent(run.next({ type: "step", step: 1, state: "started", path: ["planner"] }));
    telemetry.onEvent(run.next({ type: "step", step: 1, state: "started" }));
    telemetry.onEvent(
      run.next({
        type: "usage",
        step: 1,
        model: "openai:a",
        call: usage(1, 1),
        total: usage(1, 1),
        path: ["planner"],
      }),
    );
    telemetry.onEvent(
      run.next({ type: "usage", step: 1, model: "openai:b", call: usage(1, 1), total: usage(2, 2) }),
    );
    telemetry.onEvent(run.next({ type: "status", status: "completed", stop_reason: "answered" }));
    expect(spans().map(({ name }) => name)).toEqual(["chat a", "chat b", "invoke_agent"]);
  });

  test("never fails a run", async () => {
    const failed: unknown[] = [];
    const broken: Tracer = {
      startSpan() {
        throw new Error("no exporter");
      },
    };
    const { telemetry } = await scene({ tracer: broken, onError: (error) => failed.push(error) });
    telemetry.onRun(facts);
    for (const event of twoSteps()) telemetry.onEvent(event);
    telemetry.close();
    expect(failed.length).toBeGreaterThan(0);
    expect(context.active()).toBeDefined();
  });

  test("closes what is open when the host stops", async () => {
    const { telemetry, spans } = await scene();
    for (const event of twoSteps().slice(0, 4)) telemetry.onEvent(event);
    telemetry.close();
    expect(spans().map(({ name, ended }) => [name, ended])).toEqual([
      ["chat claude", true],
      ["invoke_agent", true],
    ]);
  });
});
