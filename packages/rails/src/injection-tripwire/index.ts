import type { Rail } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import { PhraseProbe } from "../scan/phrase-probe.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail } from "../scan/text-guard.ts";
import { OrderProbe } from "./order-probe.ts";
import { phraseSet, type Signal } from "./phrases.ts";

export type InjectionSignal = Exclude<Signal, "phrase">;

export interface InjectionTripwireOptions {
  /** `alert` lets the text pass and says so, `abort` ends the run, `skip` does without the text. `alert` unless given. */
  readonly action?: "alert" | "abort" | "skip";
  /** What is looked for; all of it unless given. */
  readonly signals?: readonly InjectionSignal[];
  /** Phrases that count as well. */
  readonly phrases?: readonly string[];
}

const SIGNALS = [
  "ignore-instructions",
  "new-role",
  "prompt-request",
  "role-marker",
  "concealment",
  "exfiltration",
  "addressed-to-ai",
] as const satisfies readonly InjectionSignal[];

const schema = later(() =>
  z.strictObject({
    action: z
      .enum(["alert", "abort", "skip"])
      .default("alert")
      .describe("Let the text pass and say so, end the run, or do without the text."),
    signals: z
      .array(z.enum(SIGNALS))
      .min(1)
      .default([...SIGNALS])
      .describe("What is looked for."),
    phrases: z
      .array(z.string().regex(/\S/, "a phrase").max(500).describe("A phrase."))
      .max(10_000)
      .default([])
      .describe("Phrases that count as well."),
  }),
);

const placed = { priority: 20, on: ["START", "POST_TOOL_CALL", "TOOL_ERROR"] as const };

export const injectionTripwireAbout = /* @__PURE__ */ aboutRail(
  {
    description:
      "Tells when the input or what a tool returned reads as if it wanted to give the agent orders.",
    options: schema,
  },
  placed,
);

/**
 * Tells when the input or what a tool returned reads as if it wanted to give the agent orders. It is a tripwire: it knows
 * the common forms, says when somebody steps on one, and promises nothing. Whoever takes care writes another sentence. To
 * keep an agent from acting on what it read, use `untrusted-data` and `tool-policy`, which do not depend on wording.
 *
 * @example
 * new Agent({ name: "reader", model, tools: [fetchPage], rails: [injectionTripwire({ action: "skip" })] });
 */
export function injectionTripwire(given: InjectionTripwireOptions = {}, settings: RailSettings = {}): Rail {
  const { action, signals, phrases } = readOptions("injection-tripwire", schema(), given);
  const wanted = new Set<Signal>(signals);
  const set = phraseSet(wanted, phrases);
  const rule: TextRule = {
    worth: /[A-Za-z]|[^\0-\u007f]/, // without a letter there is no order
    probes: () => [new PhraseProbe(set), new OrderProbe(wanted)],
    replace: () => "", // texts are not rewritten; what differs is counted
  };
  const guard: TextGuard = { name: "injection-tripwire", rule, act: action, done: "" };
  return textRail(guard, { ...placed, may: placed.on }, settings);
}
