import type { Rail, StreamHook } from "trackside";
import * as z from "zod";
import { aboutHook, aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail, textStream } from "../scan/text-guard.ts";
import { EmailProbe } from "./email.ts";
import { IbanProbe } from "./iban.ts";
import { Ipv6Probe } from "./ipv6.ts";
import { type NumberKind, NumberProbe } from "./numbers.ts";
import { hash, mask, type PiiEntity, type Replace, redact } from "./replace.ts";

export type { PiiEntity } from "./replace.ts";

export interface PiiOptions {
  /** What is looked for; all of it unless given. */
  readonly entities?: readonly PiiEntity[];
  /**
   * `redact` writes `[EMAIL]`, `mask` keeps the last four characters, `hash` writes `[EMAIL:1f3a9c0b]`, the same for the
   * same value, and `block` does not let the text pass. `redact` unless given.
   */
  readonly action?: "redact" | "mask" | "hash" | "block";
  /** What `block` does: end the run, or do without the input, the result or the answer. `abort` unless given. */
  readonly onBlock?: "abort" | "skip";
  /** A key for `hash`. Without one, somebody who can guess a value can tell that it is the one. */
  readonly hashKey?: string;
  /** Values that may stay, such as your own support address; upper and lower case are the same. */
  readonly allow?: readonly string[];
}

const ENTITIES = ["email", "phone", "card", "ssn", "iban", "ip"] as const satisfies readonly PiiEntity[];

const schema = later(() =>
  z.strictObject({
    entities: z
      .array(z.enum(ENTITIES))
      .min(1)
      .default([...ENTITIES])
      .describe("What is looked for."),
    action: z
      .enum(["redact", "mask", "hash", "block"])
      .default("redact")
      .describe(
        "Write [EMAIL], keep the last four characters, write [EMAIL:1f3a9c0b] (the same for the same value), or do not let the text pass.",
      ),
    onBlock: z
      .enum(["abort", "skip"])
      .default("abort")
      .describe("What block does: end the run, or do without the input, the result or the answer."),
    hashKey: z
      .string()
      .min(1)
      .optional()
      .describe("A key for hash. Without one, somebody who can guess a value can tell that it is the one."),
    allow: z
      .array(z.string().min(1))
      .default([])
      .describe("Values that may stay, such as your own support address; in upper or lower case."),
  }),
);

type Read = z.output<ReturnType<typeof schema>>;

const placed = { priority: 14, on: ["START", "POST_LLM_CALL", "POST_TOOL_CALL", "TOOL_ERROR"] as const };

const said = {
  description:
    "Keeps personal data out: e-mail addresses, phone numbers, payment cards, SSNs, IBANs, IP addresses.",
  options: schema,
};
export const piiAbout = /* @__PURE__ */ aboutRail(said, placed);
export const piiStreamAbout = /* @__PURE__ */ aboutHook(said, "stream");

/**
 * Keeps personal data out: e-mail addresses, phone numbers, payment cards, US social security numbers, IBANs and IP
 * addresses. It stands on the input, on what tools return and on the answer; put it on `PRE_TOOL_CALL` too for arguments,
 * or on `PRE_LLM_CALL` for everything that is sent to the model. Streamed text is held until a rail on the answer has
 * passed; to stream and guard, use `piiStream` and leave `POST_LLM_CALL` out.
 *
 * Checksums are checked where there are any. A phone number of a form that other numbers have too counts when a word near
 * it says so.
 *
 * @example
 * new Agent({ name: "support", model, rails: [pii({ action: "mask", allow: ["help@example.com"] })] });
 */
export function pii(given: PiiOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("pii", schema(), given);
  const guard: TextGuard = { name: "pii", rule: ruleOf(read), act: actOf(read), done: DONE[read.action] };
  return textRail(guard, placed, settings);
}

/**
 * The same on streamed text and reasoning, with the same result however the stream is cut. It holds back what may still
 * become a value, no more. `block` fails the step.
 *
 * @example
 * new Agent({ name: "support", model, hooks: { stream: [piiStream({ entities: ["card", "iban"] })] } });
 */
export function piiStream(given: PiiOptions = {}): StreamHook {
  const read = readOptions("pii", schema(), given);
  return textStream("pii", ruleOf(read), actOf(read));
}

const DONE: Readonly<Record<Read["action"], string>> = {
  redact: "redacted",
  mask: "masked",
  hash: "hashed",
  block: "blocked",
};

function actOf({ action, onBlock }: Read): TextGuard["act"] {
  return action === "block" ? onBlock : "rewrite";
}

function ruleOf({ entities, action, hashKey, allow }: Read): TextRule {
  const wanted = new Set<PiiEntity>(entities);
  const numbers = new Set<NumberKind>(
    (["phone", "card", "ssn", "ip"] as const).filter((kind) => wanted.has(kind)),
  );
  const allowed = new Set(allow.map((value) => value.toLowerCase()));
  const replace: Replace = action === "mask" ? mask : action === "hash" ? hash(hashKey) : redact;
  return {
    worth: /[\d@:%]/,
    probes: () => [
      ...(wanted.has("email") ? [new EmailProbe()] : []),
      ...(numbers.size > 0 ? [new NumberProbe(numbers)] : []),
      ...(wanted.has("iban") ? [new IbanProbe()] : []),
      ...(wanted.has("ip") ? [new Ipv6Probe()] : []),
    ],
    replace: (value, kind) => (allowed.has(value.toLowerCase()) ? value : replace(value, kind as PiiEntity)), // its probes report no other
  };
}
