import type { Rail, StreamHook } from "trackside";
import * as z from "zod";
import { aboutHook, aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import { phraseRule } from "../scan/phrases.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail, textStream } from "../scan/text-guard.ts";

export interface KeywordsOptions {
  /** Words and phrases. White space in a phrase stands for any amount of it. */
  readonly words: readonly string[];
  /** `redact` writes the replacement, `alert` lets the text pass and says so, `block` does not let it pass. */
  readonly action?: "redact" | "alert" | "block";
  /** What `block` does: end the run, or do without the input, the result or the answer. `abort` unless given. */
  readonly onBlock?: "abort" | "skip";
  /** Whether a word counts only by itself, and not as a part of another one. True unless given. */
  readonly wholeWord?: boolean;
  readonly caseSensitive?: boolean;
  /** What stands where a word stood: `[REDACTED]` unless given. */
  readonly replacement?: string;
}

const schema = later(() =>
  z.strictObject({
    words: z
      .array(z.string().regex(/\S/, "a word or a phrase").max(500).describe("A word or a phrase."))
      .min(1)
      .max(10_000)
      .describe("Words and phrases. White space in a phrase stands for any amount of it."),
    action: z
      .enum(["redact", "alert", "block"])
      .default("redact")
      .describe("Write the replacement, let the text pass and say so, or do not let it pass."),
    onBlock: z
      .enum(["abort", "skip"])
      .default("abort")
      .describe("What block does: end the run, or do without the input, the result or the answer."),
    wholeWord: z
      .boolean()
      .default(true)
      .describe("A word counts only by itself, and not as a part of another one."),
    caseSensitive: z.boolean().default(false).describe("Upper and lower case are different."),
    replacement: z.string().default("[REDACTED]").describe("What stands where a word stood."),
  }),
);
const streamSchema = later(() =>
  schema().extend({
    action: z
      .enum(["redact", "block"], '"redact" or "block"; only the rail can alert')
      .default("redact")
      .describe("Write the replacement, or do not let the text pass."),
  }),
);

type Read = z.output<ReturnType<typeof schema>>;

const placed = { priority: 17, on: ["START", "POST_LLM_CALL", "POST_TOOL_CALL", "TOOL_ERROR"] as const };

const description = "Words and phrases that may not be said are taken out, reported or blocked.";
export const keywordsAbout = /* @__PURE__ */ aboutRail({ description, options: schema }, placed);
export const keywordsStreamAbout = /* @__PURE__ */ aboutHook(
  { description, options: streamSchema },
  "stream",
);

/**
 * Words and phrases that may not be said: whole words, in any case, in any Unicode form, also with something invisible in
 * the middle. In scripts without spaces, such as Chinese or Thai, a word counts wherever it stands. It stands on the input,
 * on what tools return and on the answer.
 *
 * @example
 * new Agent({ name: "press", model, rails: [keywords({ words: ["Project Titan", "layoffs"], action: "block" })] });
 */
export function keywords(given: KeywordsOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("keywords", schema(), given);
  const guard: TextGuard = { name: "keywords", rule: ruleOf(read), act: actOf(read), done: "redacted" };
  return textRail(guard, placed, settings);
}

/**
 * The same on streamed text and reasoning, with the same result however the stream is cut. `block` fails the step.
 *
 * @example
 * new Agent({ name: "press", model, hooks: { stream: [keywordsStream({ words: ["Project Titan"] })] } });
 */
export function keywordsStream(
  given: Omit<KeywordsOptions, "action"> & { action?: "redact" | "block" },
): StreamHook {
  const read = readOptions("keywords", streamSchema(), given);
  return textStream("keywords", ruleOf(read), actOf(read));
}

function actOf({ action, onBlock }: Read): TextGuard["act"] {
  if (action === "alert") return "alert";
  return action === "block" ? onBlock : "rewrite";
}

function ruleOf({ words, wholeWord, caseSensitive, replacement }: Read): TextRule {
  return phraseRule(words, { kind: "keyword", wholeWord, caseSensitive }, () => replacement);
}
