import type { Rail, StreamHook } from "trackside";
import * as z from "zod";
import { aboutHook, aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import type { RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import type { TextRule } from "../scan/rewriter.ts";
import { type TextGuard, textRail, textStream } from "../scan/text-guard.ts";
import { HOST_PATTERN, hostList, isHostPattern } from "./hosts.ts";
import { UrlProbe } from "./url-probe.ts";

export interface UrlPolicyOptions {
  /** Hosts that links may lead to: `example.com`, `*.example.com` for everything below it, `*` for all. */
  readonly allow: readonly string[];
  /** Hosts that images and other things a page loads by itself may come from; those of `allow` unless given. */
  readonly images?: readonly string[];
  /** Schemes that may be used; `https` and `http` unless given. */
  readonly schemes?: readonly string[];
  /** `replace` writes the replacement, `strip` nothing, `block` does not let the text pass. `replace` unless given. */
  readonly action?: "replace" | "strip" | "block";
  /** What `block` does: end the run, or do without the result or the answer. `abort` unless given. */
  readonly onBlock?: "abort" | "skip";
  /** What stands where an address stood: `[link removed]` unless given. */
  readonly replacement?: string;
}

const schema = later(() => {
  const host = z.string().refine(isHostPattern, 'a host such as "example.com" or "*.example.com"').meta({
    pattern: HOST_PATTERN.source,
    description: 'A host such as "example.com" or "*.example.com"; "*" for all.',
  });
  return z.strictObject({
    allow: z
      .array(host)
      .describe("Hosts that links may lead to; *.example.com is everything below it, * is all."),
    images: z
      .array(host)
      .optional()
      .describe(
        "Hosts that images and other things a page loads by itself may come from; those of allow unless given.",
      ),
    schemes: z
      .array(
        z
          .string()
          .regex(/^[a-z][a-z0-9+.-]*$/, 'a scheme such as "https"')
          .describe('A scheme such as "https".'),
      )
      .default(["https", "http"])
      .describe("Schemes that may be used."),
    action: z
      .enum(["replace", "strip", "block"])
      .default("replace")
      .describe("Write the replacement, write nothing, or do not let the text pass."),
    onBlock: z
      .enum(["abort", "skip"])
      .default("abort")
      .describe("What block does: end the run, or do without the result or the answer."),
    replacement: z.string().default("[link removed]").describe("What stands where an address stood."),
  });
});

type Read = z.output<ReturnType<typeof schema>>;

const placed = { priority: 16, on: ["POST_LLM_CALL", "POST_TOOL_CALL", "TOOL_ERROR"] as const };

const said = {
  description: "Takes out links and images that lead to hosts you did not list.",
  options: schema,
};
export const urlPolicyAbout = /* @__PURE__ */ aboutRail(said, placed);
export const urlPolicyStreamAbout = /* @__PURE__ */ aboutHook(said, "stream");

/**
 * Addresses only of hosts you list: plain ones, `www.` ones, the targets of markdown links, images and definitions, those
 * in attributes. An image is loaded without a click, so whatever a model was talked into writing behind a `?` would be gone
 * with it. Addresses that hide where they lead (a user's name before the host, backslashes, `//host`, encoded dots,
 * character references) are read as a browser would. Places on the same site (`/docs`, `#top`) may stand. It stands on the
 * answer and on what tools return.
 *
 * @example
 * new Agent({ name: "docs", model, rails: [urlPolicy({ allow: ["example.com", "*.example.com"], images: [] })] });
 */
export function urlPolicy(given: UrlPolicyOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("url-policy", schema(), given);
  const guard: TextGuard = { name: "url-policy", rule: ruleOf(read), act: actOf(read), done: "removed" };
  return textRail(guard, placed, settings);
}

/**
 * The same on streamed text and reasoning, with the same result however the stream is cut. `block` fails the step.
 *
 * @example
 * new Agent({ name: "docs", model, hooks: { stream: [urlPolicyStream({ allow: ["example.com"] })] } });
 */
export function urlPolicyStream(given: UrlPolicyOptions): StreamHook {
  const read = readOptions("url-policy", schema(), given);
  return textStream("url-policy", ruleOf(read), actOf(read));
}

function actOf({ action, onBlock }: Read): TextGuard["act"] {
  return action === "block" ? onBlock : "rewrite";
}

function ruleOf({ allow, images, schemes, action, replacement }: Read): TextRule {
  const links = hostList(allow);
  const policy = {
    links,
    images: images === undefined ? links : hostList(images),
    schemes: new Set(schemes),
  };
  const stands = action === "strip" ? "" : replacement;
  return {
    worth: /[:/\\.&]/,
    probes: () => [new UrlProbe(policy)],
    replace: () => stands,
  };
}
