import type { Usage } from "trackside";
import type { Attributes, Histogram, Meter } from "./otel.ts";

// The boundaries that the conventions ask for.
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

export class RunMetrics {
  readonly #duration: Histogram;
  readonly #tokens: Histogram;

  constructor(meter: Meter) {
    this.#duration = meter.createHistogram("gen_ai.client.operation.duration", {
      description: "GenAI operation duration.",
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.#tokens = meter.createHistogram("gen_ai.client.token.usage", {
      description: "Number of input and output tokens used.",
      unit: "{token}",
      advice: { explicitBucketBoundaries: TOKENS },
    });
  }

  duration(operation: string, fromMs: number, toMs: number, attributes: Attributes): void {
    this.#duration.record(Math.max(0, toMs - fromMs) / 1000, {
      "gen_ai.operation.name": operation,
      ...attributes,
    });
  }

  tokens(usage: Usage, attributes: Attributes): void {
    const about = { "gen_ai.operation.name": "chat", ...attributes };
    this.#tokens.record(usage.input_tokens, { ...about, "gen_ai.token.type": "input" });
    this.#tokens.record(usage.output_tokens, { ...about, "gen_ai.token.type": "output" });
  }
}
