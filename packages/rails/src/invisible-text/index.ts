import type { Rail, StreamHook } from "trackside";
import * as z from "zod";
import { aboutHook, aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail, textStream } from "../scan/text-guard.ts";
import { InvisibleProbe } from "./invisible-probe.ts";

export interface InvisibleTextOptions {
  /** `strip` takes the characters out, `block` does not let the text pass. `strip` unless given. */
  readonly action?: "strip" | "block";
  /** What `block` does: end the run, or do without the input, the result or the answer. `abort` unless given. */
  readonly onBlock?: "abort" | "skip";
}

const schema = later(() =>
  z.strictObject({
    action: z
      .enum(["strip", "block"])
      .default("strip")
      .describe("Take the characters out, or do not let the text pass."),
    onBlock: z
      .enum(["abort", "skip"])
      .default("abort")
      .describe("What block does: end the run, or do without the input, the result or the answer."),
  }),
);

type Read = z.output<ReturnType<typeof schema>>;

const placed = { priority: 10, on: ["START", "POST_LLM_CALL", "POST_TOOL_CALL", "TOOL_ERROR"] as const };

const said = {
  description: "Takes out what a person does not see and a model reads, such as zero-width characters.",
  options: schema,
};
export const invisibleTextAbout = /* @__PURE__ */ aboutRail(said, placed);
export const invisibleTextStreamAbout = /* @__PURE__ */ aboutHook(said, "stream");

/**
 * Takes out what a person does not see and a model reads: tag characters, zero-width characters, overrides of direction,
 * runs of variation selectors. What emoji, Arabic, Persian and Indic scripts, Hebrew, Khmer, Mongolian or Chinese variants
 * need stays where they need it. It runs before the other guards, so that nothing hides from them.
 *
 * @example
 * new Agent({ name: "reader", model, tools: [fetchPage], rails: [invisibleText()] });
 */
export function invisibleText(given: InvisibleTextOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("invisible-text", schema(), given);
  const guard: TextGuard = { name: "invisible-text", rule, act: actOf(read), done: "stripped" };
  return textRail(guard, placed, settings);
}

/**
 * The same on streamed text and reasoning, with the same result however the stream is cut. Put it before other
 * transformers. `block` fails the step.
 *
 * @example
 * new Agent({ name: "reader", model, hooks: { stream: [invisibleTextStream(), piiStream()] } });
 */
export function invisibleTextStream(given: InvisibleTextOptions = {}): StreamHook {
  return textStream("invisible-text", rule, actOf(readOptions("invisible-text", schema(), given)));
}

function actOf({ action, onBlock }: Read): TextGuard["act"] {
  return action === "block" ? onBlock : "rewrite";
}

const rule: TextRule = {
  worth: /[^\0-\u00ac]/,
  probes: () => [new InvisibleProbe()],
  replace: () => "",
};
