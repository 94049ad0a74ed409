import type { JsonObject, Scope } from "trackside";
import * as z from "zod";
import { compileCheck, jsonSchema } from "../kit/json-schema.ts";
import { later } from "../kit/later.ts";
import { inCode } from "../kit/options.ts";
import { matcher, toolPatterns } from "../kit/tool-names.ts";
import { checkPlaces, type Held, no, type Quantifier, YES } from "./constraint.ts";
import { leadsTo, patternProblem } from "./hosts.ts";
import { insideRoots, rootProblem } from "./paths.ts";

export const verdictOption = z.enum(["allow", "ask", "deny", "abort"]);
export type PolicyVerdict = z.infer<typeof verdictOption>;

const pathLimits = later(() =>
  z
    .union([
      z.array(z.string()).min(1).describe("Directories that the path has to stay inside."),
      z.strictObject({
        roots: z
          .array(z.string())
          .min(1)
          .describe("Directories (absolute, or relative to base) that the path has to stay inside."),
        base: z
          .string()
          .optional()
          .describe("Where the tool resolves relative paths. Without it they are refused."),
        optional: z.boolean().optional().describe("The argument may be missing."),
      }),
    ])
    .transform((given) => {
      const { roots, base, optional = false } = "roots" in given ? given : { roots: given };
      return { roots, base, optional };
    })
    .superRefine(({ roots, base }, ctx) => {
      const problems = [
        ...(base === undefined ? [] : [rootProblem(base, undefined)]),
        ...roots.map((root) => rootProblem(root, base)),
      ];
      for (const message of problems) if (message !== undefined) ctx.addIssue({ code: "custom", message });
    }),
);

const hostLimits = later(() => {
  const hostPattern = z
    .string()
    .superRefine((pattern, ctx) => {
      const message = patternProblem(pattern);
      if (message !== undefined) ctx.addIssue({ code: "custom", message });
    })
    .meta({
      pattern: "^(?:\\*|(?:\\*\\.)?[^\\s/\\\\@?#*]+)$",
      description: "api.example.com, *.example.com, localhost:8080; * is every public host.",
    });
  return z
    .union([
      z.array(hostPattern).min(1).describe("Hosts that it may lead to."),
      z.strictObject({
        allow: z.array(hostPattern).min(1).default(["*"]).describe("Hosts that it may lead to."),
        private: z
          .boolean()
          .default(false)
          .describe("Wildcards may lead to loopback, private and link-local addresses too."),
        schemes: z
          .array(
            z
              .string()
              .regex(/^[a-z][a-z0-9+.-]*$/, 'a scheme such as "https"')
              .describe('A scheme such as "https".'),
          )
          .min(1)
          .default(["http", "https"])
          .describe("Schemes that may be used."),
        optional: z.boolean().default(false).describe("The argument may be missing."),
      }),
    ])
    .transform((given) =>
      "allow" in given
        ? given
        : { allow: given, private: false, schemes: ["http", "https"], optional: false },
    );
});

export const ruleOptions = later(() => {
  const place = z
    .string()
    .regex(/^[^.\s]+(\.[^.\s]+)*$/, 'the place of an argument, such as "path" or "files.*.path"')
    .describe('The place of an argument, such as "path" or "files.*.path".');
  return z.strictObject({
    tools: toolPatterns.describe("Names and patterns of the tools it is about."),
    verdict: verdictOption.describe(
      "Let it run, ask a human, refuse it with a reason the model reads, or end the run.",
    ),
    reason: z
      .string()
      .min(1, "a text that is not empty")
      .optional()
      .describe("What the model or the human is told."),
    arguments: jsonSchema
      .optional()
      .describe("A JSON Schema that the arguments have to fit for the rule to apply."),
    paths: z
      .record(place, pathLimits())
      .optional()
      .describe("Places of path arguments, such as files.*.path, and where they may lead."),
    hosts: z
      .record(place, hostLimits())
      .optional()
      .describe("Places of URL or host arguments and where they may lead."),
    when: inCode<When>("(args, call) => boolean"),
  });
});

/** In code: another condition of a rule. */
export type When = (args: JsonObject, call: { readonly toolName: string; readonly scope: Scope }) => boolean;

/** A call a rule is held against. */
interface PolicyCall {
  readonly toolName: string;
  readonly args: JsonObject;
  readonly scope: Scope;
}

/** A rule, ready. */
export interface Rule {
  readonly verdict: PolicyVerdict;
  readonly reason: string | undefined;
  names(tool: string): boolean;
  /** Whether its conditions hold. */
  holds(call: PolicyCall): Held;
}

type Condition = (call: PolicyCall) => Held;

export function makeRule(options: z.output<ReturnType<typeof ruleOptions>>): Rule {
  const { verdict, reason } = options;
  const conditions = conditionsOf(options, verdict === "allow" ? "all" : "any");
  return {
    verdict,
    reason,
    names: matcher(options.tools),
    holds(call) {
      const held = conditions.map((condition) => condition(call));
      return held.find(({ holds }) => holds === "no") ?? held.find(({ holds }) => holds === "unclear") ?? YES;
    },
  };
}

function conditionsOf(
  options: z.output<ReturnType<typeof ruleOptions>>,
  quantifier: Quantifier,
): readonly Condition[] {
  const { arguments: schema, paths, hosts, when } = options;
  const conditions: Condition[] = [];
  if (schema) {
    const check = compileCheck(schema);
    conditions.push(({ args }) => {
      const problem = check(args);
      return problem === undefined ? YES : no(problem);
    });
  }
  if (paths) {
    const places = Object.entries(paths).map(([at, { roots, base, optional }]) => ({
      place: at,
      optional,
      check: insideRoots(roots, base),
    }));
    conditions.push(({ args }) => checkPlaces(args, places, quantifier));
  }
  if (hosts) {
    const places = Object.entries(hosts).map(([at, limits]) => ({
      place: at,
      optional: limits.optional,
      check: leadsTo(limits),
    }));
    conditions.push(({ args }) => checkPlaces(args, places, quantifier));
  }
  if (when) {
    conditions.push(({ args, toolName, scope }) => {
      const said: unknown = when(args, { toolName, scope });
      if (typeof said !== "boolean") throw new TypeError("`when` of a rule has to return true or false");
      return said ? YES : no("its `when` does not hold");
    });
  }
  return conditions;
}
