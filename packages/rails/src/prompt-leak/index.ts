import type { Rail, StreamHook } from "trackside";
import * as z from "zod";
import { aboutHook, aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import { phraseRule } from "../scan/phrases.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail, textStream } from "../scan/text-guard.ts";
import { LeakProbe } from "./leak-probe.ts";
import { allLetters } from "./letters.ts";
import { Substrings } from "./substrings.ts";

export interface PromptLeakOptions {
  /** Texts beside the agent's instructions that may not be repeated. For a stream, all that may not: it knows no agent. */
  readonly protect?: readonly string[];
  /** Words put into the instructions for no other purpose: one of them in an answer is a leak, however little else. */
  readonly canaries?: readonly string[];
  /** What the instructions say and the agent may say too, such as a closing line. */
  readonly allow?: readonly string[];
  /** From how many letters and digits in a row on it is a leak; 40 unless given, which is about eight words. */
  readonly letters?: number;
  /** `redact` writes the replacement, `block` does not let the answer pass. `redact` unless given. */
  readonly action?: "redact" | "block";
  /** What `block` does: end the run, or do without the answer. `abort` unless given. */
  readonly onBlock?: "abort" | "skip";
  /** What stands where a passage stood: `[REDACTED]` unless given. */
  readonly replacement?: string;
}

const schema = later(() =>
  z.strictObject({
    protect: z
      .array(z.string().min(1))
      .default([])
      .describe(
        "Texts beside the agent's instructions that may not be repeated. For a stream, all that may not: it knows no agent.",
      ),
    canaries: z
      .array(
        z
          .string()
          .regex(/[\p{L}\p{N}].*[\p{L}\p{N}].*[\p{L}\p{N}].*[\p{L}\p{N}]/u, "at least 4 letters or digits")
          .describe("At least 4 letters or digits."),
      )
      .default([])
      .describe("Words put into the instructions for no other purpose: one of them in an answer is a leak."),
    allow: z
      .array(z.string().min(1))
      .default([])
      .describe("What the instructions say and the agent may say too, such as a closing line."),
    letters: z
      .number()
      .int()
      .min(12)
      .default(40)
      .describe("From how many letters and digits in a row on it is a leak; 40 is about eight words."),
    action: z
      .enum(["redact", "block"])
      .default("redact")
      .describe("Write the replacement, or do not let the answer pass."),
    onBlock: z
      .enum(["abort", "skip"])
      .default("abort")
      .describe("What block does: end the run, or do without the answer."),
    replacement: z.string().default("[REDACTED]").describe("What stands where a passage stood."),
  }),
);
const streamSchema = later(() =>
  schema()
    .refine(({ protect, canaries }) => protect.length + canaries.length > 0, {
      path: ["protect"],
      error:
        "the texts that may not be repeated, or canaries: a stream does not know the agent's instructions",
    })
    .meta({
      anyOf: ["protect", "canaries"].map((key) => ({
        required: [key],
        properties: { [key]: { minItems: 1 } },
      })),
    }),
);

type Read = z.output<ReturnType<typeof schema>>;

const placed = { priority: 18, on: ["POST_LLM_CALL"] as const };

const description = "Keeps the agent's instructions out of its answers.";
export const promptLeakAbout = /* @__PURE__ */ aboutRail({ description, options: schema }, placed);
export const promptLeakStreamAbout = /* @__PURE__ */ aboutHook(
  { description, options: streamSchema },
  "stream",
);

/**
 * The agent's instructions do not appear in its answers. Passages are compared by their letters and digits alone, so
 * other spacing, case, accents, punctuation or markdown hide nothing. A translation or a retelling is not a passage. It
 * stands on the answer; put it on `PRE_TOOL_CALL` too so that instructions do not leave by a tool.
 *
 * @example
 * new Agent({ name: "bot", model, instructions, rails: [promptLeak({ canaries: ["heron-4471"], action: "block" })] });
 */
export function promptLeak(given: PromptLeakOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("prompt-leak", schema(), given);
  let known: { readonly instructions: string; readonly rule: Promise<TextRule> } | undefined;
  const rule = (instructions: string): Promise<TextRule> => {
    if (known?.instructions !== instructions) {
      const texts = textsOf([instructions, ...read.protect], read);
      known = {
        instructions,
        rule: Substrings.inSlices(texts).then((substrings) => ruleOf(read, texts, substrings)),
      };
    }
    return known.rule;
  };
  const guard: TextGuard = {
    name: "prompt-leak",
    rule: (ctx) => rule(ctx.agent.instructions),
    act: actOf(read),
    done: "redacted",
  };
  return textRail(guard, { ...placed, may: ["POST_LLM_CALL", "PRE_TOOL_CALL"] }, settings);
}

/**
 * The same on streamed text and reasoning, for texts that are given. `block` fails the step.
 *
 * @example
 * new Agent({ name: "bot", model, instructions, hooks: { stream: [promptLeakStream({ protect: [instructions] })] } });
 */
export function promptLeakStream(given: PromptLeakOptions): StreamHook {
  const read = readOptions("prompt-leak", streamSchema(), given);
  const texts = textsOf(read.protect, read);
  return textStream("prompt-leak", ruleOf(read, texts, Substrings.of(texts)), actOf(read));
}

function actOf({ action, onBlock }: Read): TextGuard["act"] {
  return action === "block" ? onBlock : "rewrite";
}

const APART = "\ufffe";

/** What is protected, as it is compared, without what may be said. */
function textsOf(texts: readonly string[], { allow }: Read): readonly string[] {
  const spoken = allow.map(allLetters).filter((phrase) => phrase !== "");
  return texts.flatMap((text) => {
    let letters = allLetters(text);
    for (const phrase of spoken) letters = letters.replaceAll(phrase, APART);
    return letters.split(APART).filter((part) => part.length >= SHORTEST);
  });
}

/** Fewer letters than this are no passage of anything. */
const SHORTEST = 12;

function ruleOf(
  { canaries, letters, replacement }: Read,
  texts: readonly string[],
  substrings: Substrings,
): TextRule {
  const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
  const least = Math.min(letters, Math.max(SHORTEST, longest)); // all of a short text is a passage of it
  const phrases = phraseRule(
    canaries,
    { kind: "canary", wholeWord: false, caseSensitive: false },
    () => replacement,
  );
  return {
    probes: () => [
      ...(longest > 0 ? [new LeakProbe(substrings, least)] : []),
      ...(canaries.length > 0 ? phrases.probes() : []),
    ],
    replace: () => replacement,
  };
}
