import { TracksideError } from "trackside";

// What is used of OpenTelemetry's interface, written down here: its package is an optional peer, and whoever does without
// it shall not miss its types either.

export type Attributes = Record<string, string | number | boolean | string[]>;

/** Seconds and nanoseconds. Plain numbers would be read as time since the process started when a run is older than it. */
export type SpanTime = [number, number];

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
}

export interface Span {
  spanContext(): SpanContext;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  addEvent(name: string, attributes?: Attributes, time?: SpanTime): unknown;
  end(time?: SpanTime): void;
}

export interface SpanOptions {
  kind?: number;
  attributes?: Attributes;
  links?: { context: SpanContext }[];
  startTime?: SpanTime;
}

/** A tracer of `@opentelemetry/api`. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions, context?: unknown): Span;
}

export interface Histogram {
  record(value: number, attributes?: Attributes): void;
}

/** A meter of `@opentelemetry/api`. */
export interface Meter {
  createHistogram(
    name: string,
    options?: { description?: string; unit?: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): Histogram;
}

/** What of the package itself is needed: contexts, and the tracer and meter that the process has registered. */
export interface Otel {
  tracer(): Tracer;
  meter(): Meter;
  /** The span around the caller, if there is one. */
  active(): SpanContext | undefined;
  /** A context in which new spans are children of this one; of none without it. */
  below(parent: SpanContext | undefined): unknown;
}

export const KIND = { internal: 0, client: 2 } as const;
export const FAILED = 2;

const SCOPE = "trackside";

export async function loadOtel(): Promise<Otel> {
  let api: typeof import("@opentelemetry/api");
  try {
    api = await import("@opentelemetry/api");
  } catch (cause) {
    throw new TracksideError(
      "telemetry_unavailable",
      "Telemetry is switched on, but @opentelemetry/api cannot be loaded. Install it: npm install @opentelemetry/api",
      { cause },
    );
  }
  const { trace, metrics, context, ROOT_CONTEXT } = api;
  return {
    tracer: () => trace.getTracer(SCOPE),
    meter: () => metrics.getMeter(SCOPE),
    active: () => trace.getSpanContext(context.active()),
    below: (parent) => (parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)),
  };
}

export function timeOf(unixMs: number): SpanTime {
  const seconds = Math.floor(unixMs / 1000);
  return [seconds, Math.round((unixMs - seconds * 1000) * 1e6)];
}

/** W3C `traceparent`, to keep a trace beyond the process. */
export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

export function readTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
