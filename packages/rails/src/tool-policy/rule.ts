import type { JsonObject, Scope } from "trackside";
import * as z from "zod";
import { compileCheck, jsonSchema } from "../kit/json-schema.ts";
import { matcher, toolPatterns } from "../kit/tool-names.ts";
import { checkPlaces, type Held, no, type Quantifier, YES } from "./constraint.ts";
import { leadsTo, patternProblem } from "./hosts.ts";
import { insideRoots, rootProblem } from "./paths.ts";

export const verdictOption = z.enum(["allow", "ask", "deny", "abort"]);
export type PolicyVerdict = z.infer<typeof verdictOption>;

const place = z
  .string()
  .regex(/^[^.\s]+(\.[^.\s]+)*$/, 'the place of an argument, such as "path" or "files.*.path"');

const pathLimits = z
  .union([
    z.array(z.string()).min(1),
    z.strictObject({
      roots: z.array(z.string()).min(1),
      base: z.string().optional(),
      optional: z.boolean().optional(),
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
  });

const hostPattern = z.string().superRefine((pattern, ctx) => {
  const message = patternProblem(pattern);
  if (message !== undefined) ctx.addIssue({ code: "custom", message });
});

const hostLimits = z
  .union([
    z.array(hostPattern).min(1),
    z.strictObject({
      allow: z.array(hostPattern).min(1).default(["*"]),
      private: z.boolean().default(false),
      schemes: z
        .array(z.string().regex(/^[a-z][a-z0-9+.-]*$/, 'a scheme such as "https"'))
        .min(1)
        .default(["http", "https"]),
      optional: z.boolean().default(false),
    }),
  ])
  .transform((given) =>
    "allow" in given ? given : { allow: given, private: false, schemes: ["http", "https"], optional: false },
  );

export const ruleOptions = z.strictObject({
  tools: toolPatterns,
  verdict: verdictOption,
  reason: z.string().min(1, "a text that is not empty").optional(),
  arguments: jsonSchema.optional(),
  paths: z.record(place, pathLimits).optional(),
  hosts: z.record(place, hostLimits).optional(),
  when: z
    .custom<When>((given) => typeof given === "function", "a function (args, call) => boolean")
    .optional(),
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

export function makeRule(options: z.output<typeof ruleOptions>): Rule {
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

function conditionsOf(options: z.output<typeof ruleOptions>, quantifier: Quantifier): readonly Condition[] {
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
