import { abort, type Rail, type RailContext, type RailReturn, skip } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { NO_LIMIT, operationOf } from "../kit/operation.ts";
import { readOptions } from "../kit/options.ts";
import { matcher, toolPattern } from "../kit/tool-names.ts";

export interface CallLimitsOptions {
  /** Calls by tool: `{ search: 5, "delete_*": 1 }`. What a pattern names shares one limit. */
  readonly tools?: Readonly<Record<string, number>>;
  /** Calls of all tools together. */
  readonly toolCalls?: number;
  /** Requests to the model, retries included. */
  readonly modelCalls?: number;
  /** Refuse the call with a reason the model reads (for the model: end the run with `message`), or abort. */
  readonly onLimit?: "skip" | "abort";
  /** The answer of a run that has used up its model calls. */
  readonly message?: string;
}

const options = later(() => {
  const count = z.number().int().min(0);
  return z.strictObject({
    tools: z
      .record(toolPattern, count)
      .default({})
      .describe("Calls by tool, or by a pattern such as delete_*. What a pattern names shares one limit."),
    toolCalls: count.optional().describe("Calls of all tools together."),
    modelCalls: count.optional().describe("Requests to the model, retries included."),
    onLimit: z
      .enum(["skip", "abort"])
      .default("skip")
      .describe("Refuse the call with a reason (for the model: end the run with the message), or abort."),
    message: z
      .string()
      .default("I had to stop: the limit of model calls for this task is reached.")
      .describe("The answer of a run that has used up its model calls."),
  });
});

const placed = { priority: 19, on: ["PRE_LLM_CALL", "PRE_TOOL_CALL"] as const };

export const callLimitsAbout = /* @__PURE__ */ aboutRail(
  {
    description: "Limits how often tools and the model may be called in a run and everything below it.",
    options,
  },
  placed,
);

interface Limit {
  readonly counter: string;
  readonly max: number;
  readonly what: string;
  names(tool: string): boolean;
}

/**
 * How often tools and the model may be called in a run and everything below it. Calls made at the same time are counted
 * one by one, so of fifty parallel calls under a limit of ten exactly ten run. A retry of a tool call is the same call.
 *
 * @example
 * callLimits({ tools: { send_email: 1, "search_*": 10 }, toolCalls: 40, modelCalls: 20 });
 */
export function callLimits(given: CallLimitsOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("call-limits", options(), given);
  const name = settings.name ?? "call-limits";
  const limits = limitsOf(name, read);
  const end = read.onLimit === "abort" ? abort : skip;

  async function tool(ctx: RailContext<"PRE_TOOL_CALL">): Promise<RailReturn> {
    const asked = limits.filter((limit) => limit.names(ctx.inputs.toolName));
    if (asked.length === 0) return undefined;
    const { granted: first } = await ctx.reserve(`${name}/seen/${operationOf(ctx)}`, 1, 1);
    if (!first) return undefined; // another attempt at a call that was counted
    for (const [i, { counter, max, what }] of asked.entries()) {
      const { granted } = await ctx.reserve(counter, 1, max);
      if (granted) continue;
      for (const taken of asked.slice(0, i)) await ctx.reserve(taken.counter, -1, NO_LIMIT);
      return end(`the limit of ${max} ${max === 1 ? "call" : "calls"} of ${what} is reached`);
    }
    return undefined;
  }

  async function model(ctx: RailContext<"PRE_LLM_CALL">, max: number): Promise<RailReturn> {
    const { granted } = await ctx.reserve(`${name}/model`, 1, max);
    if (granted) return undefined;
    const reason = `the limit of ${max} model ${max === 1 ? "call" : "calls"} is reached`;
    return read.onLimit === "abort" ? abort(reason) : skip(reason, { replacement: read.message });
  }

  return makeRail({ name, ...placed }, settings, (ctx) => {
    if (ctx.event === "PRE_TOOL_CALL") return limits.length > 0 ? tool(ctx) : undefined;
    return read.modelCalls === undefined ? undefined : model(ctx, read.modelCalls);
  });
}

function limitsOf(
  name: string,
  { tools, toolCalls }: z.output<ReturnType<typeof options>>,
): readonly Limit[] {
  const limits = Object.entries(tools).map(([pattern, max]) => ({
    counter: `${name}/tool/${pattern}`,
    max,
    what: pattern,
    names: matcher([pattern]),
  }));
  if (toolCalls === undefined) return limits;
  return [...limits, { counter: `${name}/tools`, max: toolCalls, what: "all tools", names: () => true }];
}
