import { abort, ask, type JsonObject, type Rail, type RailReturn, skip } from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { readOptions } from "../kit/options.ts";
import { makeRule, type PolicyVerdict, type Rule, ruleOptions, verdictOption, type When } from "./rule.ts";

export type { PolicyVerdict };

/** Where a path argument may lead: roots, or roots with how relative paths are read. */
export type PathLimits =
  | readonly string[]
  | {
      /** Directories (absolute, or relative to `base`) that the path has to stay inside. */
      readonly roots: readonly string[];
      /** Where the tool resolves relative paths. Without it they are refused. */
      readonly base?: string;
      /** Whether the argument may be missing. */
      readonly optional?: boolean;
    };

/** Where a URL argument may lead: hosts, or hosts with more. */
export type HostLimits =
  | readonly string[]
  | {
      /** `api.example.com`, `*.example.com`, `localhost:8080`; `*`, the default, is every public host. */
      readonly allow?: readonly string[];
      /** Lets wildcards lead to loopback, private and link-local addresses too. A host that is listed by name always may. */
      readonly private?: boolean;
      /** `http` and `https` unless given. */
      readonly schemes?: readonly string[];
      /** Whether the argument may be missing. */
      readonly optional?: boolean;
    };

export interface PolicyRule {
  /** Names and patterns (`get_*`) of the tools it is about. */
  readonly tools: string | readonly string[];
  /** Let it run, ask a human, refuse it with a reason the model reads, or end the run. */
  readonly verdict: PolicyVerdict;
  /** What the model or the human is told. */
  readonly reason?: string;
  /** A JSON Schema that the arguments have to fit for the rule to apply. */
  readonly arguments?: JsonObject;
  /** Places of path arguments (`path`, `files.*.path`) and where they lead. */
  readonly paths?: Readonly<Record<string, PathLimits>>;
  /** Places of URL or host arguments and where they lead. */
  readonly hosts?: Readonly<Record<string, HostLimits>>;
  /** In code only: one more condition. */
  readonly when?: When;
}

export interface ToolPolicyOptions {
  /** Tried in order; the first that applies decides. */
  readonly rules?: readonly PolicyRule[];
  /** What happens to a call that no rule applies to; `deny` unless given. */
  readonly default?: PolicyVerdict;
}

const options = later(() =>
  z.strictObject({
    rules: z.array(ruleOptions()).prefault([]).describe("Tried in order; the first that applies decides."),
    default: verdictOption.default("deny").describe("What happens to a call that no rule applies to."),
  }),
);

const placed = { priority: 15, on: ["PRE_TOOL_CALL"] as const };

export const toolPolicyAbout = /* @__PURE__ */ aboutRail(
  {
    description: "Says which tools may be called, with which arguments, and which a human has to agree to.",
    options,
  },
  placed,
);

/**
 * Which tools may be called, with which arguments. Rules are tried in order and the first that applies decides; what none
 * applies to is denied, unless `default` says otherwise. An `allow` rule applies when all its conditions surely hold; the
 * others apply as soon as one of the paths or hosts may be meant, so what cannot be told is never allowed.
 *
 * @example
 * toolPolicy({
 *   rules: [
 *     { tools: "read_file", verdict: "allow", paths: { path: ["/srv/data"] } },
 *     { tools: "http_get", verdict: "allow", hosts: { url: ["api.example.com", "*.example.org"] } },
 *     { tools: "refund", verdict: "allow", arguments: { properties: { amount: { maximum: 100 } }, required: ["amount"] } },
 *     { tools: ["refund", "delete_*"], verdict: "ask" },
 *   ],
 * });
 */
export function toolPolicy(given: ToolPolicyOptions = {}, settings: RailSettings = {}): Rail {
  const read = readOptions("tool-policy", options(), given);
  const rules = read.rules.map(makeRule);
  const asks = [read.default, ...rules.map(({ verdict }) => verdict)].includes("ask");
  const made = { name: "tool-policy", ...placed, asks };
  return makeRail(made, settings, ({ inputs, scope }) => {
    const { toolName } = inputs;
    const { verdict, reason } = decide(rules, read.default, { toolName, args: inputs.arguments, scope });
    return answer(verdict, reason);
  });
}

function decide(
  rules: readonly Rule[],
  otherwise: PolicyVerdict,
  call: Parameters<Rule["holds"]>[0],
): { readonly verdict: PolicyVerdict; readonly reason: string } {
  const missed: string[] = [];
  for (const rule of rules) {
    if (!rule.names(call.toolName)) continue;
    const { holds, why } = rule.holds(call);
    if (holds === "unclear") missed.push(why);
    if (holds === "yes" || (holds === "unclear" && rule.verdict !== "allow")) {
      const said = rule.reason ?? PLAIN[rule.verdict];
      return { verdict: rule.verdict, reason: reasonFor(call.toolName, [said], missed) };
    }
    if (holds === "no" && rule.verdict === "allow") missed.push(why);
  }
  const said = missed.length > 0 ? [] : ["no rule is about such a call"];
  return { verdict: otherwise, reason: reasonFor(call.toolName, said, missed) };
}

const PLAIN: Readonly<Record<PolicyVerdict, string>> = {
  allow: "",
  ask: "a human has to agree",
  deny: "the policy denies it",
  abort: "the policy forbids it",
};

/** What was missing for the call to be allowed tells the model what it may do instead. */
function reasonFor(toolName: string, said: readonly string[], missed: readonly string[]): string {
  return `${toolName}: ${[...said, ...missed].join("; ")}`;
}

function answer(verdict: PolicyVerdict, reason: string): RailReturn {
  switch (verdict) {
    case "allow":
      return undefined;
    case "ask":
      return ask(reason);
    case "deny":
      return skip(reason);
    case "abort":
      return abort(reason);
  }
}
