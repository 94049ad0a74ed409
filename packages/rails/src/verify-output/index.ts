import {
  cont,
  type HookSettings,
  type JsonObject,
  type PostHook,
  postHook,
  regenerate,
  type Turn,
} from "trackside";
import * as z from "zod";
import { aboutHook } from "../kit/about.ts";
import { type CheckValue, compileCheck, jsonSchema } from "../kit/json-schema.ts";
import { later } from "../kit/later.ts";
import { anyNumber, inCode, readOptions } from "../kit/options.ts";

/** In code: `true` when the answer is right, else what is wrong with it. */
export type CheckAnswer = (answer: string, turn: Turn) => true | string | Promise<true | string>;

export interface AnswerPattern {
  /** A regular expression, without slashes. */
  readonly pattern: string;
  readonly flags?: string;
  /** Whether the answer has to have it (default) or must not have it. */
  readonly forbidden?: boolean;
  /** What the model is told when it does not fit. */
  readonly feedback?: string;
}

export interface VerifyOutputOptions {
  /** The answer has to be JSON that fits this JSON Schema. One code block around it is allowed. */
  readonly schema?: JsonObject;
  /** Regular expressions the answer has to fit, or must not. */
  readonly patterns?: string | AnswerPattern | readonly (string | AnswerPattern)[];
  /** The longest answer, in characters. */
  readonly maxLength?: number;
  /** In code only: any other check. */
  readonly check?: CheckAnswer;
  /** Put before what is wrong, in the feedback to the model. */
  readonly feedback?: string;
}

const patternOption = later(() =>
  z
    .union([
      z.string().meta({ format: "regex" }),
      z.strictObject({
        pattern: z.string().describe("A regular expression, without slashes."),
        flags: z
          .string()
          .regex(/^[imsuv]*$/, "flags of i, m, s, u, v")
          .optional()
          .describe("Flags of i, m, s, u, v; u unless given."),
        forbidden: z.boolean().optional().describe("The answer must not have it."),
        feedback: z
          .string()
          .min(1, "a text that is not empty")
          .optional()
          .describe("What the model is told when it does not fit."),
      }),
    ])
    .transform((given, ctx) => {
      const {
        pattern,
        flags = "u",
        forbidden = false,
        feedback,
      } = typeof given === "string" ? { pattern: given, feedback: undefined } : given;
      try {
        return { expression: new RegExp(pattern, flags), forbidden, feedback };
      } catch (error) {
        ctx.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    }),
);

const options = later(() =>
  z
    .strictObject({
      schema: jsonSchema
        .optional()
        .describe(
          "The answer has to be JSON that fits this JSON Schema. One code block around it is allowed.",
        ),
      patterns: anyNumber(patternOption())
        .prefault([])
        .describe("Regular expressions the answer has to fit, or must not."),
      maxLength: z.number().int().min(1).optional().describe("The longest answer, in characters."),
      check: inCode<CheckAnswer>("(answer, turn) => true or what is wrong"),
      feedback: z
        .string()
        .default("Your answer cannot be used.")
        .describe("Put before what is wrong, in the feedback to the model."),
    })
    .refine(({ schema, patterns, maxLength, check }) => schema || patterns.length > 0 || maxLength || check, {
      message: "at least one of schema, patterns, maxLength and check",
    })
    .meta({
      anyOf: [
        { required: ["schema"] },
        { required: ["patterns"], properties: { patterns: { minItems: 1 } } },
        { required: ["maxLength"] },
      ],
    }),
);

export const verifyOutputAbout = /* @__PURE__ */ aboutHook(
  {
    description: "Has an answer written again until it fits a JSON Schema, regular expressions or a length.",
    options,
  },
  "post",
);

/**
 * A post-hook that has an answer written again until it fits: a JSON Schema, regular expressions, a length, or in code any
 * check. The model reads its draft with what is wrong with it; after `max_regenerations` the turn is halted, so what does
 * not fit is never given out.
 *
 * @example
 * new Agent({ …, hooks: { post: [verifyOutput({ patterns: { pattern: "https?://", feedback: "Name a source." } })] } });
 */
export function verifyOutput(
  given: VerifyOutputOptions,
  settings: HookSettings & { readonly name?: string } = {},
): PostHook {
  const read = readOptions("verify-output", options(), given);
  const fits = read.schema && compileCheck(read.schema);
  return postHook({ name: "verify-output", ...settings }, async (turn) => {
    const answer = turn.answer ?? "";
    const problems = [...(fits ? jsonProblems(answer, fits) : []), ...textProblems(answer, read)];
    const said: unknown = await read.check?.(answer, turn);
    if (typeof said === "string") problems.push(said);
    else if (read.check && said !== true)
      throw new TypeError("the check of verify-output has to return true, or a text that says what is wrong");
    if (problems.length === 0) return cont(turn);
    return regenerate(`${read.feedback} ${problems.join(" ")}`);
  });
}

function jsonProblems(answer: string, fits: CheckValue): string[] {
  const [, fenced] = /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(answer.trim()) ?? [];
  let value: unknown;
  try {
    value = JSON.parse(fenced ?? answer);
  } catch {
    return ["It has to be JSON and nothing else."];
  }
  const problem = fits(value);
  return problem === undefined ? [] : [`It does not fit the JSON Schema: ${problem}.`];
}

function textProblems(
  answer: string,
  { patterns, maxLength }: z.output<ReturnType<typeof options>>,
): string[] {
  const problems = patterns
    .filter(({ expression, forbidden }) => expression.test(answer) === forbidden)
    .map(
      ({ expression, forbidden, feedback }) =>
        feedback ?? `It must ${forbidden ? "not " : ""}match ${expression}.`,
    );
  if (maxLength !== undefined && answer.length > maxLength)
    problems.push(`It has ${answer.length} characters, at most ${maxLength} are allowed.`);
  return problems;
}
