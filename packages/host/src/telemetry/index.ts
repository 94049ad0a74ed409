export type { Meter, Tracer } from "./otel.ts";
export { type Telemetry, type TelemetryOptions, telemetryOf } from "./telemetry.ts";
