import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { DurableEvent } from "trackside";
import { type ManualClock, manualClock } from "trackside/testing";
import { onTestFinished } from "vitest";
import { type Telemetry, type TelemetryOptions, telemetryOf } from "../../src/telemetry/index.ts";

export interface Scene {
  readonly telemetry: Telemetry;
  readonly clock: ManualClock;
  spans(): ReadableSpan[];
  /** Everything recorded, by metric: attributes, count and sum of each series. */
  metrics(): Promise<Record<string, { attributes: object; count: number; sum: number }[]>>;
}

export async function scene(given: Partial<TelemetryOptions> = {}): Promise<Scene> {
  const spans = new InMemorySpanExporter();
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const meters = new MeterProvider({ readers: [reader] });
  const clock = manualClock();
  const failed: unknown[] = [];
  const telemetry = await telemetryOf({
    tracer: tracers.getTracer("test"),
    meter: meters.getMeter("test"),
    clock,
    onError: (error) => failed.push(error),
    ...given,
  });
  if (telemetry === undefined) throw new Error("it is switched on");
  onTestFinished(async () => {
    await Promise.all([tracers.shutdown(), meters.shutdown()]);
    if (failed.length > 0 && given.onError === undefined) throw failed[0];
  });
  return {
    telemetry,
    clock,
    spans: () => spans.getFinishedSpans(),
    async metrics() {
      await meters.forceFlush();
      const found: Awaited<ReturnType<Scene["metrics"]>> = {};
      for (const { metrics } of exporter.getMetrics().at(-1)?.scopeMetrics ?? [])
        for (const { descriptor, dataPoints } of metrics)
          found[descriptor.name] = dataPoints.map(({ attributes, value }) => {
            if (typeof value === "number" || !("count" in value)) throw new Error("a histogram was expected");
            return { attributes, count: value.count, sum: value.sum ?? 0 };
          });
      return found;
    },
  };
}

type Draft = DurableEvent extends infer E
  ? E extends DurableEvent
    ? Omit<E, "run_id" | "turn_ref" | "seq" | "at" | "path"> & { path?: string[] }
    : never
  : never;

/** Stamps events as a run would: numbered, one every 100 ms unless told otherwise. */
export function story(run_id: string, start = 1_600_000_000_000) {
  let seq = 0;
  let at = start;
  return {
    wait(ms: number): void {
      at += ms;
    },
    at: () => at,
    next(draft: Draft): DurableEvent {
      at += 100;
      seq += 1;
      return { run_id, turn_ref: "turn_1", seq, at, path: [], ...draft } as DurableEvent; // what a stamp adds
    },
  };
}

export const usage = (input: number, output: number) => ({
  input_tokens: input,
  cached_input_tokens: 1,
  cache_write_tokens: 2,
  output_tokens: output,
  reasoning_tokens: 3,
  model_calls: 1,
  cost: null,
});

export const ms = ([seconds, nanos]: readonly [number, number]) => seconds * 1000 + nanos / 1e6;

export function metadata(started_at: number, completed_at: number) {
  return {
    status: "success" as "success" | "error" | "rejected" | "timed_out",
    started_at,
    completed_at,
    execution_time_ms: completed_at - started_at,
    approval_status: "not_required" as "not_required" | "approved" | "rejected" | "timed_out",
    approval_id: null as string | null,
    injected_args: {},
    offloaded_artifact_id: null,
    approval_wait_ms: 0,
    attempts: 1,
    skipped_by: null,
    original_args: null,
  };
}
