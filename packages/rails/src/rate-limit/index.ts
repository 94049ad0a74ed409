import { abort, type Rail, type RailContext, type RailReturn, retry, type Scope, skip } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { operationOf } from "../kit/operation.ts";
import { anyNumber, inCode, oneOfKeys, readOptions } from "../kit/options.ts";
import { matcher, toolPatterns } from "../kit/tool-names.ts";
import { Buckets } from "./bucket.ts";

export interface Rate {
  /** Names and patterns of the tools that share this rate; or `model`. */
  readonly tools?: string | readonly string[];
  /** For requests to the model. */
  readonly model?: true;
  readonly calls: number;
  readonly seconds: number;
  /** How many may come at once; as many as `calls` unless given. */
  readonly burst?: number;
}

export interface RateLimitOptions {
  readonly limits: readonly Rate[];
  /** Keys of the run's scope that have a rate of their own; `tenant` unless given, `[]` for one rate for all. */
  readonly by?: string | readonly string[];
  /** Rails with the same pool share their rates, of whatever agent; `default` unless given. */
  readonly pool?: string;
  /** What happens to a call that comes too early: it waits (default), is refused with a reason, or the run is aborted. */
  readonly onLimit?: "wait" | "skip" | "abort";
  /** With `wait`: one that would have to wait longer is refused; 60 unless given. */
  readonly maxWaitSeconds?: number;
  /** The answer of a run whose request to the model is refused. */
  readonly message?: string;
  /** In code only: the clock, in milliseconds. */
  readonly now?: () => number;
}

const options = later(() => {
  const rate = z
    .strictObject({
      tools: toolPatterns
        .optional()
        .describe("Names and patterns of the tools that share this rate; or model."),
      model: z.literal(true).optional().describe("For requests to the model."),
      calls: z.number().int().min(1).describe("How many calls."),
      seconds: z.number().positive().describe("In how many seconds."),
      burst: z
        .number()
        .int()
        .min(1)
        .optional()
        .describe("How many may come at once; as many as calls unless given."),
    })
    .refine(({ tools, model }) => (tools === undefined) !== (model === undefined), {
      message: "either `tools` or `model: true`",
    })
    .meta({ oneOf: oneOfKeys("tools", "model") });

  return z.strictObject({
    limits: z
      .array(rate)
      .min(1, "at least one limit")
      .describe("The rates; a call has to keep all it falls under."),
    by: anyNumber(z.string().min(1))
      .prefault(["tenant"])
      .describe("Keys of the run's scope that have a rate of their own; none for one rate for all."),
    pool: z
      .string()
      .min(1)
      .default("default")
      .describe("Rails with the same pool share their rates, of whatever agent."),
    onLimit: z
      .enum(["wait", "skip", "abort"])
      .default("wait")
      .describe(
        "What happens to a call that comes too early: it waits, is refused with a reason, or the run is aborted.",
      ),
    maxWaitSeconds: z
      .number()
      .min(0)
      .default(60)
      .describe("With wait: one that would have to wait longer is refused."),
    message: z
      .string()
      .default("I had to stop: too many requests at the moment. Please try again later.")
      .describe("The answer of a run whose request to the model is refused."),
    now: inCode<() => number>("() => number"),
  });
});

const placed = { priority: 17, on: ["PRE_LLM_CALL", "PRE_TOOL_CALL"] as const };

export const rateLimitAbout = /* @__PURE__ */ aboutRail(
  {
    description: "Limits how fast tools and the model may be called, by tenant, in all runs together.",
    options,
  },
  placed,
);

/** A place is kept for whoever waits, so more than one wait only comes of timers that fire early. */
const MAX_WAITS = 100;

const shared = new Buckets();

/**
 * How fast tools and the model may be called, by tenant or any other part of the scope, in all runs of this process
 * together. Calls that come too early wait for their turn, in order.
 *
 * @example
 * rateLimit({ limits: [{ tools: "search_*", calls: 10, seconds: 60 }, { model: true, calls: 100, seconds: 60, burst: 10 }] });
 */
export function rateLimit(given: RateLimitOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("rate-limit", options(), given);
  const { now = Date.now, onLimit } = read;
  const longest = onLimit === "wait" ? read.maxWaitSeconds * 1000 : 0;
  // What a rail in shadow takes is missing nowhere else.
  const pool = settings.mode === "shadow" ? `shadow of ${read.pool}` : read.pool;
  const limits = read.limits.map(({ tools, calls, seconds, burst = calls }) => ({
    what: tools?.join(",") ?? "model",
    names: tools && matcher(tools),
    rate: { calls, perMs: seconds * 1000, burst },
    told: `${calls} ${calls === 1 ? "call" : "calls"} in ${seconds} s`,
  }));

  const handle = (ctx: RailContext<"PRE_LLM_CALL" | "PRE_TOOL_CALL">): RailReturn => {
    const tool = ctx.event === "PRE_TOOL_CALL" ? ctx.inputs.toolName : undefined;
    const asked = limits.filter(({ names }) => (tool === undefined ? names === undefined : names?.(tool)));
    if (asked.length === 0) return undefined;
    const who = keyOf(ctx.scope, read.by);
    const subject = tool === undefined ? ctx.agent.model : "tools";
    const wanted = asked.map(({ what, told, rate: one }) => ({
      key: JSON.stringify([pool, subject, what, told, one.burst, who]),
      rate: one,
    }));
    const wait = shared.take(wanted, operationOf(ctx), now(), longest);
    if (wait === 0) return undefined;
    const reason = `the rate of ${asked.map(({ told }) => told).join(" and ")} for ${tool ?? "the model"} is reached`;
    if (wait !== undefined) return retry({ delay: wait / 1000, maxRetries: MAX_WAITS, reason });
    if (onLimit === "abort") return abort(reason);
    return tool === undefined ? skip(reason, { replacement: read.message }) : skip(reason);
  };

  return makeRail({ name: "rate-limit", ...placed }, settings, handle);
}

function keyOf(scope: Scope, by: readonly string[]): readonly unknown[] {
  return by.map((key) => (Object.hasOwn(scope, key) ? scope[key] : null));
}
