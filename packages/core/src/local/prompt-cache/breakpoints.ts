import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { Following } from "./follow.ts";

/** Providers that keep a prefix only where they are told to: Anthropic, also as sold by others, and Bedrock. */
const ANTHROPIC = /(^|\.)anthropic/;
const BEDROCK = /^(amazon-)?bedrock\b/;
/** Bedrock refuses the mark for models that know none; its own cache without. */
const BEDROCK_CANNOT = /claude-(v2|instant|3-(opus|sonnet|haiku)|3-5-sonnet)/;

const CACHE_CONTROL: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
const CACHE_POINT: SharedV4ProviderOptions = { bedrock: { cachePoint: { type: "default" } } };

/** No model caches less than 1,024 tokens; one that wants more pays no heed to the mark. The estimate may be a bit short. */
const LEAST_TOKENS = 920;

/** How a breakpoint is written for a model; undefined for those that need none, or know none. */
export function breakpointFor(model: {
  provider: string;
  modelId: string;
}): SharedV4ProviderOptions | undefined {
  const { provider, modelId } = model;
  if (provider.includes("anthropic") && ANTHROPIC.test(provider)) return CACHE_CONTROL;
  if (!provider.includes("bedrock")) return undefined; // a look is enough for all others
  if (!BEDROCK.test(provider) || !modelId.includes("claude") || BEDROCK_CANNOT.test(modelId))
    return undefined;
  return CACHE_POINT;
}

/**
 * Marks where the provider should keep what it has read: behind the system prompt, and so behind the tools; behind the
 * user's message, where the next turn leaves off if this one has transient parts; and behind the last message that the
 * next step will send too. Providers look for an earlier mark only a few blocks back, so the last one that is still in
 * this request is set again: with it there are four at most, as many as they allow.
 *
 * The list is this request's own, its messages are not: those that are marked are copied.
 *
 * @param turnAt How many messages come before this turn's transient parts, without the system prompt.
 */
export function setBreakpoints(
  prompt: LanguageModelV4Prompt,
  mark: SharedV4ProviderOptions,
  following: Following,
  turnAt: number,
): void {
  const { next } = following;
  const system = next.pieces.system === null ? 0 : 1;
  const wanted = new Set<number>();
  if (system === 1) wanted.add(0);
  wanted.add(system + turnAt - 1);
  wanted.add(system + next.lasting - 1);
  const again = following.last?.marks.findLast((at) => at < following.shared);
  if (again !== undefined) wanted.add(again);

  const marks: number[] = [];
  for (const at of [...wanted].sort((a, b) => a - b)) {
    const message = prompt[at];
    if (message === undefined || at < 0 || !canEndAt(message)) continue;
    if (!next.reaches(at + 1 - system, LEAST_TOKENS)) continue;
    prompt[at] = { ...message, providerOptions: { ...message.providerOptions, ...mark } };
    marks.push(at);
  }
  next.marks = marks;
}

/** Providers refuse a mark on an empty text, and know none for reasoning. */
function canEndAt({ content }: LanguageModelV4Message): boolean {
  if (typeof content === "string") return content !== "";
  const last = content.at(-1);
  return last !== undefined && last.type !== "reasoning" && !(last.type === "text" && last.text === "");
}
