import { type Failure, type Rail, retry, skip } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { type Backoff, backoffOptions, delayBefore } from "../kit/backoff.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { operationOf } from "../kit/operation.ts";
import { inCode, oneOrMore, readOptions } from "../kit/options.ts";

const KINDS = [
  "auth",
  "bad_request",
  "connection",
  "content_filter",
  "context_overflow",
  "not_found",
  "overloaded",
  "rate_limited",
  "server_error",
  "stream_error",
  "timeout",
  "unknown",
] as const;

/** Why a model failed, as `error.details.reason` says it. */
export type ModelFailureKind = (typeof KINDS)[number];

export interface ModelFallbackOptions extends Backoff {
  /** How often all of the agent's models are tried again, from the first; 0 unless given. */
  readonly retries?: number;
  /** The answer when that did not help; without it the run fails with the model's error. */
  readonly message?: string;
  /** Only for failures of these kinds; every failure of the model unless given. */
  readonly only?: ModelFailureKind | readonly ModelFailureKind[];
  /** In code only: chance, from 0 to 1. */
  readonly random?: () => number;
}

const options = later(() =>
  z
    .strictObject({
      retries: z
        .number()
        .int()
        .min(0)
        .max(100)
        .default(0)
        .describe("How often all of the agent's models are tried again, from the first."),
      ...backoffOptions,
      delaySeconds: backoffOptions.delaySeconds
        .default(10)
        .describe("The wait before the first retry, in seconds."),
      message: z
        .string()
        .min(1, "a text that is not empty")
        .optional()
        .describe("The answer when that did not help; without it the run fails with the model's error."),
      only: oneOrMore(z.enum(KINDS))
        .optional()
        .describe("Only for failures of these kinds; every failure of the model unless given."),
      random: inCode<() => number>("() => number"),
    })
    .refine(({ retries, message }) => retries > 0 || message !== undefined, {
      message: "`retries`, a `message`, or both",
    })
    .meta({
      anyOf: [{ required: ["message"] }, { required: ["retries"], properties: { retries: { minimum: 1 } } }],
    }),
);

const placed = { priority: 20, on: ["MODEL_ERROR"] as const };

export const modelFallbackAbout = /* @__PURE__ */ aboutRail(
  {
    description:
      "Tries a model that cannot be reached again, then answers with a fixed message instead of failing.",
    options,
  },
  placed,
);

/**
 * What happens when the model cannot be reached, after the engine has tried it again and tried `fallback_models`: wait and
 * start over where that may help, then answer with a fixed message instead of failing. What had already been shown in part
 * is retracted.
 *
 * @example
 * modelFallback({ retries: 2, delaySeconds: 30, message: "I cannot be reached at the moment. Please try again later." });
 */
export function modelFallback(given: ModelFallbackOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("model-fallback", options(), given);
  const name = settings.name ?? "model-fallback";
  const { random = Math.random } = read;

  return makeRail({ name, ...placed }, settings, async (ctx) => {
    const { error } = ctx.inputs;
    if (!isMeant(error, read.only)) return undefined;
    if (error.details?.retryable === true) {
      const { granted, used } = await ctx.reserve(`${name}/${operationOf(ctx)}`, 1, read.retries);
      const delay = delayBefore(used, read, random);
      if (granted) return retry({ delay, maxRetries: read.retries, reason: error.message });
    }
    return read.message === undefined ? undefined : skip(error.message, { replacement: read.message });
  });
}

function isMeant({ code, details }: Failure, only: readonly ModelFailureKind[] | undefined): boolean {
  if (code !== "model_failed") return false; // a hook of one's own that fails is no fault of the model
  return only === undefined || only.some((kind) => kind === details?.reason);
}
