import { abort, type Json, type Rail, type RailContext, type RailReturn, skip } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { operationOf, stepOf } from "../kit/operation.ts";
import { readOptions } from "../kit/options.ts";
import { anyToolPatterns, matcher } from "../kit/tool-names.ts";
import { type Blocked, circleOf } from "./circles.ts";
import { callDigest, callsOf } from "./history.ts";

export interface LoopBreakerOptions {
  /** How often the very same call (tool and arguments) may be made in a run; 5 unless given. */
  readonly repeats?: number;
  /** How many rounds two calls may alternate (A B A B …); 3 unless given. */
  readonly pingPong?: number;
  /** How many calls in a row may bring the same: results that are known, the same error, nothing; 4 unless given. */
  readonly noProgress?: number;
  /** In how many steps calls are refused, with the reason, before the run is aborted; 3 unless given. */
  readonly warnings?: number;
  /** Tools that may be called over and over, such as one that waits. */
  readonly ignore?: string | readonly string[];
}

const options = later(() =>
  z.strictObject({
    repeats: z
      .number()
      .int()
      .min(1)
      .default(5)
      .describe("How often the very same call (tool and arguments) may be made in a run."),
    pingPong: z.number().int().min(2).default(3).describe("How many rounds two calls may alternate."),
    noProgress: z
      .number()
      .int()
      .min(2)
      .default(4)
      .describe("How many calls in a row may bring the same: known results, the same error, nothing."),
    warnings: z
      .number()
      .int()
      .min(0)
      .default(3)
      .describe("In how many steps calls are refused, with the reason, before the run is aborted."),
    ignore: anyToolPatterns
      .prefault([])
      .describe("Tools that may be called over and over, such as one that waits."),
  }),
);

const placed = { priority: 18, on: ["PRE_LLM_CALL", "PRE_TOOL_CALL"] as const };

export const loopBreakerAbout = /* @__PURE__ */ aboutRail(
  { description: "Stops a run that goes round in circles.", options },
  placed,
);

/**
 * Stops a run that goes round in circles: the same call again and again, two calls in turn, or calls that bring nothing
 * new. Such a call is refused with the reason, so that the model can do something else; if it does not, the run is aborted.
 *
 * @example
 * loopBreaker({ repeats: 3, ignore: ["wait_for_*"] });
 */
export function loopBreaker(given: LoopBreakerOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("loop-breaker", options(), given);
  const name = settings.name ?? "loop-breaker";
  const ignored = matcher(read.ignore);

  /** Before the model speaks: what it must not do again. */
  function look(ctx: RailContext<"PRE_LLM_CALL">): void {
    const made = callsOf(ctx.inputs.messages, ctx.runId, name).filter(({ tool }) => !ignored(tool));
    const found: Json = (circleOf(made, read.pingPong, read.noProgress) ?? null) as Json; // plain texts by digest and name
    if (JSON.stringify(found) !== JSON.stringify(ctx.state.get(name) ?? null)) ctx.state.set(name, found);
  }

  async function guard(ctx: RailContext<"PRE_TOOL_CALL">): Promise<RailReturn> {
    const { toolName } = ctx.inputs;
    if (ignored(toolName)) return undefined;
    const call = callDigest(toolName, ctx.inputs.arguments);
    const blocked = ctx.state.get(name) as unknown as Blocked | null | undefined; // written by `look`
    const why = blocked?.calls[call] ?? blocked?.tools[toolName];
    if (why !== undefined) return refuse(ctx, why);
    const { granted: first } = await ctx.reserve(`${name}/seen/${operationOf(ctx)}`, 1, 1);
    if (!first) return undefined; // another attempt at a call that was counted
    const { granted } = await ctx.reserve(`${name}/call/${call}`, 1, read.repeats);
    if (granted) return undefined;
    return refuse(ctx, `${toolName} has been called ${read.repeats} times with the same arguments`);
  }

  /** However many calls of a step are refused, it is one warning. */
  async function refuse(ctx: RailContext<"PRE_TOOL_CALL">, why: string): Promise<RailReturn> {
    const { granted: first } = await ctx.reserve(`${name}/warned/${stepOf(ctx)}`, 1, 1);
    if (first) {
      const { granted } = await ctx.reserve(`${name}/warnings`, 1, read.warnings);
      if (!granted) return abort(`${why}, and ${read.warnings} warnings did not help`);
    }
    return skip(`${why}. Do something else, or answer with what you have`);
  }

  return makeRail({ name, ...placed, needsAll: true }, settings, (ctx) => {
    if (ctx.event === "PRE_TOOL_CALL") return guard(ctx);
    look(ctx);
    return undefined;
  });
}
