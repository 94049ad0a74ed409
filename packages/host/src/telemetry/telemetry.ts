import type { Clock, DurableEvent } from "trackside";
import { systemClock, type Timer } from "trackside/engine";
import { RunMetrics } from "./metrics.ts";
import { loadOtel, type Meter, type Otel, type Tracer, writeTraceparent } from "./otel.ts";
import { type RunFacts, RunTrace, type TraceParts } from "./run-trace.ts";

export interface TelemetryOptions {
  /** Those that the process has registered with OpenTelemetry unless given. */
  readonly tracer?: Tracer;
  readonly meter?: Meter;
  /** Whether spans carry what users, models and tools wrote. They do not unless this is true. */
  readonly content?: boolean;
  readonly clock?: Clock;
  /** Hears what went wrong in here; a run never does. */
  readonly onError?: (error: unknown) => void;
}

/** Watches the durable events of runs and makes spans and metrics of them. Nothing it does reaches a run. */
export interface Telemetry {
  /** A run starts here: call it where it is started, so that its span is below the caller's. */
  onRun(run: RunFacts): void;
  /** A run that began in another process goes on here. */
  onRecovered(run: RunFacts): void;
  /** Every event, once it is committed, in order. An event that was told before does not matter. */
  onEvent(event: DurableEvent): void;
  /** To keep with the run: with it another process continues the same trace. */
  traceparent(runId: string): string | undefined;
  /** This process has nothing more to do with the run. */
  onReleased(runId: string): void;
  close(): void;
}

const IDLE_MS = 5 * 60_000;

/** What watches runs; undefined, and nothing is loaded, where telemetry is not configured. */
export async function telemetryOf(options: TelemetryOptions | undefined): Promise<Telemetry | undefined> {
  return options && new OtelTelemetry(await loadOtel(), options);
}

class OtelTelemetry implements Telemetry {
  readonly #parts: TraceParts;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #runs = new Map<string, { readonly trace: RunTrace; heardAt: number }>();
  #sweep: Timer | undefined;

  constructor(otel: Otel, options: TelemetryOptions) {
    this.#parts = {
      otel,
      tracer: options.tracer ?? otel.tracer(),
      metrics: new RunMetrics(options.meter ?? otel.meter()),
      content: options.content ?? false,
    };
    this.#clock = options.clock ?? systemClock;
    this.#onError = options.onError ?? (() => {});
  }

  onRun(run: RunFacts): void {
    this.#safely(() => this.#add(run, false));
  }

  onRecovered(run: RunFacts): void {
    this.#safely(() => this.#add(run, true));
  }

  onEvent(event: DurableEvent): void {
    this.#safely(() => {
      const known = this.#runs.get(event.run_id) ?? this.#add({ run_id: event.run_id }, event.seq > 1);
      known.heardAt = this.#clock.now();
      const ended = known.trace.onEvent(event);
      if (ended) this.#runs.delete(event.run_id);
      else if (known.trace.waiting) this.#sweepLater();
    });
  }

  traceparent(runId: string): string | undefined {
    const context = this.#runs.get(runId)?.trace.context;
    return context && writeTraceparent(context);
  }

  onReleased(runId: string): void {
    this.#safely(() => this.#runs.get(runId)?.trace.rest("released"));
    this.#runs.delete(runId);
  }

  close(): void {
    this.#sweep?.stop();
    for (const id of [...this.#runs.keys()]) this.onReleased(id);
  }

  #add(run: RunFacts, recovered: boolean) {
    const { run_id, parent_run_id } = run;
    const above = parent_run_id == null ? undefined : this.#runs.get(parent_run_id)?.trace.context;
    // What is around a recovery is the recovery, not whoever started the run.
    const parent = above ?? (recovered ? undefined : this.#parts.otel.active());
    const known = { trace: new RunTrace(this.#parts, run, parent, recovered), heardAt: this.#clock.now() };
    this.#runs.set(run_id, known);
    return known;
  }

  /** A run that waits for somebody holds no span for longer than this: what comes later is linked to what was before. */
  #sweepLater(): void {
    if (this.#sweep !== undefined) return;
    this.#sweep = this.#clock.after(IDLE_MS, () => {
      this.#sweep = undefined;
      const idle = this.#clock.now() - IDLE_MS;
      let more = false;
      for (const { trace, heardAt } of this.#runs.values()) {
        if (!trace.open || !trace.waiting) continue;
        if (heardAt <= idle) this.#safely(() => trace.rest("waiting"));
        else more = true;
      }
      if (more) this.#sweepLater();
    });
    this.#sweep.hold?.(false);
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onError(error);
    }
  }
}
