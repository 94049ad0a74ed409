import { type FailureCode, type Json, type Rail, retry, skip } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { type Backoff, backoffOptions, delayBefore } from "../kit/backoff.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { operationOf } from "../kit/operation.ts";
import { inCode, jsonValue, oneOrMore, readOptions } from "../kit/options.ts";
import { matcher, toolPattern, toolPatterns } from "../kit/tool-names.ts";

export interface ResilientToolsOptions extends Backoff {
  /** Names and patterns of tools that may run twice: their `effect` is `none` or `idempotent`. Others are never run again. */
  readonly tools: string | readonly string[];
  /** How often a call is tried again; 3 unless given. */
  readonly retries?: number;
  /** Only failures of these kinds, or whose message has one of these texts in it; every failure unless given. */
  readonly only?: string | readonly string[];
  /** What the model is given, by tool, when all of that did not help; without it the error. */
  readonly fallback?: Readonly<Record<string, Json>>;
  /** In code only: chance, from 0 to 1. */
  readonly random?: () => number;
}

const options = later(() =>
  z.strictObject({
    tools: toolPatterns.describe(
      "Names and patterns of tools that may run twice: their effect is none or idempotent. Others are never run again.",
    ),
    retries: z.number().int().min(0).max(100).default(3).describe("How often a call is tried again."),
    ...backoffOptions,
    delaySeconds: backoffOptions.delaySeconds
      .default(0.5)
      .describe("The wait before the first retry, in seconds."),
    only: oneOrMore(z.string().min(1, "a kind of failure, or a text"))
      .optional()
      .describe(
        "Only failures of these kinds, or whose message has one of these texts in it; every failure unless given.",
      ),
    fallback: z
      .record(toolPattern, jsonValue)
      .default({})
      .describe("What the model is given, by tool, when all of that did not help; without it the error."),
    random: inCode<() => number>("() => number"),
  }),
);

const placed = { priority: 20, on: ["TOOL_ERROR"] as const };

export const resilientToolsAbout = /* @__PURE__ */ aboutRail(
  { description: "Runs a tool again that failed or timed out, if it may run twice.", options },
  placed,
);

const KINDS: readonly FailureCode[] = ["tool_failed", "tool_timed_out", "tool_result_invalid"];

/**
 * Runs a tool again that failed or timed out, after a wait that doubles. Only for tools that may run twice; one that is
 * `once` is not run again whatever this says.
 *
 * @example
 * resilientTools({ tools: ["get_*", "search"], retries: 4, fallback: { get_weather: "The weather is not available now." } });
 */
export function resilientTools(given: ResilientToolsOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("resilient-tools", options(), given);
  const name = settings.name ?? "resilient-tools";
  const mayRunAgain = matcher(read.tools);
  const fallbacks = Object.entries(read.fallback).map(([pattern, value]) => ({
    names: matcher([pattern]),
    value,
  }));
  const { random = Math.random } = read;

  return makeRail({ name, ...placed }, settings, async (ctx) => {
    const { toolName, error } = ctx.inputs;
    if (!mayRunAgain(toolName) || !isMeant(error, read.only)) return undefined;
    const { granted, used } = await ctx.reserve(`${name}/${operationOf(ctx)}`, 1, read.retries);
    const reason = `${toolName} failed: ${error.message}`;
    if (granted) return retry({ delay: delayBefore(used, read, random), maxRetries: read.retries, reason });
    const fallback = fallbacks.find(({ names }) => names(toolName));
    return fallback && skip(reason, { replacement: fallback.value });
  });
}

function isMeant(
  { code, message }: { code: FailureCode; message: string },
  only: readonly string[] | undefined,
): boolean {
  if (!KINDS.includes(code)) return false;
  return only === undefined || only.some((wanted) => wanted === code || message.includes(wanted));
}
