import { abort, type Rail, type RailContext, type RailReturn, skip, type Usage } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { inCode, oneOfKeys, readOptions } from "../kit/options.ts";
import { estimateRequest } from "./estimate.ts";
import { type Amounts, Ledger, type Refusal } from "./ledger.ts";
import { NANO, type Price, Prices, pricesOption } from "./prices.ts";

export interface SpendOptions {
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** US dollars. Every model of the agent has to have a price. */
  readonly cost?: number;
  /** Wall-clock time from the start of the run, waiting for people included. */
  readonly seconds?: number;
  /** How many output tokens a call is taken to need while the agent's `max_tokens` does not say; 4096 unless given. */
  readonly outputTokens?: number;
  /** Prices in US dollars for a million tokens, by `provider:model`, before the built-in table. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** End the run with `message` as its answer (default), or abort it. */
  readonly onLimit?: "skip" | "abort";
  readonly message?: string;
  /** In code only: the clock, in milliseconds. */
  readonly now?: () => number;
}

const options = later(() =>
  z
    .strictObject({
      tokens: z.number().int().min(1).optional().describe("Input and output tokens together."),
      cost: z
        .number()
        .positive()
        .optional()
        .describe("US dollars. Every model of the agent has to have a price."),
      seconds: z
        .number()
        .positive()
        .optional()
        .describe("Wall-clock time from the start of the run, waiting for people included."),
      outputTokens: z
        .number()
        .int()
        .min(1)
        .default(4096)
        .describe(
          "How many output tokens a call is taken to need while the agent's max_tokens does not say.",
        ),
      prices: pricesOption()
        .default({})
        .describe("Prices in US dollars for a million tokens, by provider:model, before the built-in table."),
      onLimit: z
        .enum(["skip", "abort"])
        .default("skip")
        .describe("End the run with the message as its answer, or abort it."),
      message: z
        .string()
        .default("I had to stop: the budget of this task is used up.")
        .describe("The answer of a run that has spent what it may."),
      now: inCode<() => number>("() => number"),
    })
    .refine(
      ({ tokens, cost, seconds }) => tokens !== undefined || cost !== undefined || seconds !== undefined,
      {
        message: "at least one of tokens, cost and seconds",
      },
    )
    .meta({ anyOf: oneOfKeys("tokens", "cost", "seconds") }),
);

const placed = {
  priority: 20,
  on: ["START", "PRE_LLM_CALL", "POST_LLM_CALL", "MODEL_ERROR", "PRE_TOOL_CALL"] as const,
};

export const spendAbout = /* @__PURE__ */ aboutRail(
  {
    description: "Limits the tokens, the money and the time that a run and everything below it may spend.",
    options,
  },
  placed,
);

/**
 * What a run and everything below it may spend: tokens, money, time. Before each model call an estimate (the request, and
 * as much output as it may have) is taken from one ledger, so calls at the same time cannot overdraw it together; after the
 * call the real usage stands in its place. A cost limit on a model without a price refuses the run at the start.
 *
 * @example
 * spend({ tokens: 200_000, cost: 0.5, seconds: 300 });
 */
export function spend(given: SpendOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("spend", options(), given);
  const name = settings.name ?? "spend";
  const { seconds, now = Date.now } = read;
  const prices = new Prices(read.prices);
  const ledger = new Ledger(name, limitsOf(read));
  const started = `${name}/started`;

  function start(ctx: RailContext<"START">): RailReturn {
    if (seconds !== undefined) ctx.state.set(started, now());
    const unpriced = read.cost === undefined ? [] : prices.unpriced(ctx.agent);
    if (unpriced.length === 0) return undefined;
    const what = unpriced.join(" and ");
    return abort(
      `there is a cost limit, but the price of ${what} is not known. Add it to \`prices\`, or limit tokens`,
    );
  }

  async function before(ctx: RailContext<"PRE_LLM_CALL">): Promise<RailReturn> {
    const late = overtime(ctx);
    if (late !== undefined) return end(late);
    const input = estimateRequest(ctx);
    const output = ctx.agent.max_tokens ?? read.outputTokens;
    const tokens = {
      input_tokens: input,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: output,
    };
    const refusal = await ledger.open(ctx, {
      tokens: input + output,
      cost: prices.atMost(ctx.agent, tokens),
    });
    return refusal && end(told(refusal));
  }

  function after(ctx: RailContext<"POST_LLM_CALL">): Promise<void> {
    const { usage } = ctx.inputs;
    const tokens = usage.input_tokens + usage.output_tokens;
    if (tokens === 0) return ledger.keep(ctx);
    return ledger.settle(ctx, spentBy(ctx, usage, tokens));
  }

  function spentBy({ agent }: RailContext, usage: Usage, tokens: number): Amounts {
    return { tokens, cost: read.cost === undefined ? 0 : prices.spent(agent, usage) };
  }

  function overtime(ctx: RailContext<"PRE_LLM_CALL" | "PRE_TOOL_CALL">): string | undefined {
    if (seconds === undefined) return undefined;
    const since = ctx.state.get(started);
    if (typeof since !== "number") {
      ctx.state.set(started, now()); // a child, whose own time starts with it
      return undefined;
    }
    return now() - since < seconds * 1000 ? undefined : `the time limit of ${seconds} s is reached`;
  }

  function end(reason: string): RailReturn {
    return read.onLimit === "abort" ? abort(reason) : skip(reason, { replacement: read.message });
  }

  function tool(ctx: RailContext<"PRE_TOOL_CALL">): RailReturn {
    const late = overtime(ctx);
    if (late === undefined) return undefined;
    return read.onLimit === "abort" ? abort(late) : skip(late);
  }

  return makeRail({ name, ...placed, needsAll: true }, settings, (ctx) => {
    switch (ctx.event) {
      case "START":
        return start(ctx);
      case "PRE_LLM_CALL":
        return before(ctx);
      case "POST_LLM_CALL":
        return after(ctx);
      case "MODEL_ERROR":
        return ledger.settle(ctx, {});
      case "PRE_TOOL_CALL":
        return tool(ctx);
    }
  });
}

function limitsOf({ tokens, cost }: z.output<ReturnType<typeof options>>): Amounts {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost: Math.round(cost * NANO) }),
  };
}

function told({ unit, needed, left, max }: Refusal): string {
  const shown = (amount: number) => (unit === "cost" ? `$${(amount / NANO).toFixed(4)}` : `${amount} tokens`);
  return `the next call may need ${shown(needed)}, and of ${shown(max)} only ${shown(left)} are left`;
}
