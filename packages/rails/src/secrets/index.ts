import type { Rail, StreamHook } from "trackside";
import * as z from "zod";
import { aboutHook, aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail, textStream } from "../scan/text-guard.ts";
import { PemProbe } from "./pem.ts";
import { TokenProbe } from "./token-probe.ts";
import { UrlPasswordProbe } from "./url-password.ts";

export interface SecretsOptions {
  /** `redact` writes `[SECRET:github]`, `block` does not let the text pass. `redact` unless given. */
  readonly action?: "redact" | "block";
  /** What `block` does: end the run, or do without the input, the result or the answer. `abort` unless given. */
  readonly onBlock?: "abort" | "skip";
  /** Values that may stay, such as a key that only works in tests. */
  readonly allow?: readonly string[];
}

const schema = later(() =>
  z.strictObject({
    action: z
      .enum(["redact", "block"])
      .default("redact")
      .describe("Write [SECRET:github] and the like, or do not let the text pass."),
    onBlock: z
      .enum(["abort", "skip"])
      .default("abort")
      .describe("What block does: end the run, or do without the input, the result or the answer."),
    allow: z
      .array(z.string().min(1))
      .default([])
      .describe("Values that may stay, such as a key that only works in tests."),
  }),
);

type Read = z.output<ReturnType<typeof schema>>;

const placed = { priority: 12, on: ["START", "POST_LLM_CALL", "POST_TOOL_CALL", "TOOL_ERROR"] as const };

const said = {
  description: "Keeps keys, tokens and passwords out of inputs, tool results and answers.",
  options: schema,
};
export const secretsAbout = /* @__PURE__ */ aboutRail(said, placed);
export const secretsStreamAbout = /* @__PURE__ */ aboutHook(said, "stream");

/**
 * Keeps keys, tokens and passwords out: those of more than a hundred services by their prefix, length and alphabet;
 * private keys, JSON web tokens, passwords in connection strings; and what is called a key or a password where it stands.
 * Placeholders such as `sk-xxxx`, hashes and ids are left alone. It stands on the input, on what tools return and say when
 * they fail, and on the answer; put it on `PRE_TOOL_CALL` too for arguments.
 *
 * @example
 * new Agent({ name: "ops", model, tools, rails: [secrets({ action: "block", onBlock: "skip" })] });
 */
export function secrets(given: SecretsOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("secrets", schema(), given);
  const guard: TextGuard = { name: "secrets", rule: ruleOf(read), act: actOf(read), done: "redacted" };
  return textRail(guard, placed, settings);
}

/**
 * The same on streamed text and reasoning, with the same result however the stream is cut. `block` fails the step.
 *
 * @example
 * new Agent({ name: "ops", model, hooks: { stream: [secretsStream()] } });
 */
export function secretsStream(given: SecretsOptions = {}): StreamHook {
  const read = readOptions("secrets", schema(), given);
  return textStream("secrets", ruleOf(read), actOf(read));
}

function actOf({ action, onBlock }: Read): TextGuard["act"] {
  return action === "block" ? onBlock : "rewrite";
}

function ruleOf({ allow }: Read): TextRule {
  const allowed = new Set(allow);
  return {
    probes: () => [new TokenProbe(), new UrlPasswordProbe(), new PemProbe()],
    replace: (value, kind) => (allowed.has(value) ? value : `[SECRET:${kind}]`),
  };
}
