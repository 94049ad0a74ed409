import {
  abort,
  alert,
  ask,
  type HookPoint,
  type Rail,
  type RailContext,
  type RailReturn,
  retry,
  skip,
} from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { oneOrMore, readOptions } from "../kit/options.ts";
import { matcher, toolPatterns } from "../kit/tool-names.ts";
import { fill, type Material, promptOption, readVerdict, SYSTEM } from "./question.ts";

/** What is judged: the user's message, a tool call, a tool's result, or the answer. */
export type JudgeSubject = "input" | "tool-call" | "tool-result" | "output";

export interface JudgeOptions {
  readonly subject: JudgeSubject | readonly JudgeSubject[];
  /** What the judge has to decide, so that PASS means nothing is wrong: "Is this call what the user asked for?" */
  readonly question: string;
  /** The model that judges, `provider:model`; the agent's own unless given. */
  readonly model?: string;
  /** The whole prompt, with `{{question}}` and `{{material}}`, or `{{input}}`, `{{output}}`, `{{tool}}`, `{{arguments}}`, `{{result}}`. */
  readonly prompt?: string;
  /** Instead of the built-in instructions to the judge. They have to ask for the JSON verdict. */
  readonly system?: string;
  /** Whether the judge is shown the user's message too; true unless given. */
  readonly showInput?: boolean;
  /** Which tools' calls and results are judged; all unless given. */
  readonly tools?: string | readonly string[];
  /** What FAIL does: withhold it (default), abort, ask a human (calls), or have it written again (answers). */
  readonly onFail?: "skip" | "abort" | "ask" | "retry";
  /** What a judge that times out, fails or gives no clear verdict means; `fail` unless given. */
  readonly undecided?: "fail" | "pass";
  readonly timeoutSeconds?: number;
  readonly maxTokens?: number;
  /** What stands in for an answer, or for a turn, that is withheld. */
  readonly message?: string;
}

const SUBJECTS = {
  input: "START",
  "tool-call": "PRE_TOOL_CALL",
  "tool-result": "POST_TOOL_CALL",
  output: "POST_LLM_CALL",
} as const;
type Point = (typeof SUBJECTS)[JudgeSubject];

const options = later(() =>
  z
    .strictObject({
      subject: oneOrMore(z.enum(["input", "tool-call", "tool-result", "output"])).describe(
        "What is judged: the user's message, a tool call, a tool's result, or the answer.",
      ),
      question: z
        .string()
        .min(1, "a question")
        .describe("What the judge has to decide, so that PASS means nothing is wrong."),
      model: z
        .string()
        .regex(/^[^:\s]+:\S+$/, '"provider:model"')
        .optional()
        .describe("The model that judges, as provider:model; the agent's own unless given."),
      prompt: promptOption.describe(
        "The whole prompt, with {{question}} and {{material}}, or {{input}}, {{output}}, {{tool}}, {{arguments}}, {{result}}.",
      ),
      system: z
        .string()
        .min(1, "a text that is not empty")
        .default(SYSTEM)
        .describe("The instructions to the judge. They have to ask for the JSON verdict."),
      showInput: z.boolean().default(true).describe("Show the judge the user's message too."),
      tools: toolPatterns.prefault(["*"]).describe("Which tools' calls and results are judged."),
      onFail: z
        .enum(["skip", "abort", "ask", "retry"])
        .default("skip")
        .describe(
          "What FAIL does: withhold it, abort, ask a human (calls), or have it written again (answers).",
        ),
      undecided: z
        .enum(["fail", "pass"])
        .default("fail")
        .describe("What a judge that times out, fails or gives no clear verdict means."),
      timeoutSeconds: z.number().positive().max(600).default(20).describe("How long the judge may take."),
      maxTokens: z
        .number()
        .int()
        .min(1)
        .default(500)
        .describe("How long the judge's verdict may be, in tokens."),
      message: z
        .string()
        .default("I cannot answer that.")
        .describe("What stands in for an answer, or for a turn, that is withheld."),
    })
    .superRefine(({ subject, onFail }, ctx) => {
      const only = (wanted: JudgeSubject) => subject.every((one) => one === wanted);
      const wrong = (message: string) => ctx.addIssue({ code: "custom", path: ["onFail"], message });
      if (onFail === "ask" && !only("tool-call"))
        wrong('"skip" or "abort": only a tool call can be asked about');
      if (onFail === "retry" && !only("output"))
        wrong('"skip" or "abort": only an answer can be written again');
    })
    .meta({ allOf: [onlyFor("ask", "tool-call"), onlyFor("retry", "output")] }),
);

/** The same for JSON Schema. */
function onlyFor(onFail: string, subject: JudgeSubject): object {
  const only = { anyOf: [{ const: subject }, { type: "array", items: { const: subject } }] };
  return {
    if: { properties: { onFail: { const: onFail } }, required: ["onFail"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { subject: only } },
  };
}

const PRIORITY = 20;

export const judgeAbout = /* @__PURE__ */ aboutRail(
  {
    description: "Lets a model decide whether an input, a tool call, a result or an answer may pass.",
    options,
  },
  { priority: PRIORITY, on: Object.values(SUBJECTS) },
);

/** What is kept of the user's message for judging what comes of it; the rail state is small. */
const KEPT_INPUT = 2_000;

/**
 * Lets a model decide. It sees the material as JSON and must answer with a clear PASS or FAIL; when it does not, in time,
 * that counts as FAIL unless `undecided` says otherwise. Its tokens count as the run's. A judge is a model too: use it for
 * judgements, and for what must never happen a rule such as `tool-policy`.
 *
 * @example
 * judge({ subject: "tool-call", tools: "send_*", question: "Is this call what the user asked for?", onFail: "ask" });
 */
export function judge(given: JudgeOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("judge", options(), given);
  const name = settings.name ?? "judge";
  const judged = new Set<HookPoint>(read.subject.map((subject) => SUBJECTS[subject]));
  const isJudged = matcher(read.tools);
  const inputKey = `${name}/input`;

  async function handle(ctx: RailContext<Point>): Promise<RailReturn> {
    if (ctx.event === "START" && read.showInput)
      ctx.state.set(inputKey, ctx.inputs.input.slice(0, KEPT_INPUT));
    if (!judged.has(ctx.event)) return undefined;
    const material = materialOf(ctx, isJudged);
    if (material === undefined) return undefined;
    const input = read.showInput ? ctx.state.get(inputKey) : undefined;
    const shown = input === undefined || "input" in material ? material : { input, ...material };
    const { passed, reason, decided } = await decide(ctx, shown);
    if (passed) return decided ? undefined : alert(reason);
    return failed(ctx.event, reason);
  }

  async function decide(ctx: RailContext, material: Material) {
    const prompt = fill(read.prompt, read.question, material);
    const question = {
      prompt,
      system: read.system,
      maxTokens: read.maxTokens,
      ...(read.model === undefined ? {} : { model: read.model }),
    };
    let text: string;
    try {
      text = await within(ctx.model(question), read.timeoutSeconds * 1000);
    } catch (error) {
      return undecided(`the judge failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    const said = readVerdict(text);
    if (said === undefined) return undecided("the judge gave no clear verdict");
    return { passed: said.verdict === "PASS", reason: said.reason ?? "the judge objects", decided: true };
  }

  function undecided(reason: string) {
    return { passed: read.undecided === "pass", reason, decided: false };
  }

  function failed(point: HookPoint, reason: string): RailReturn {
    switch (read.onFail) {
      case "abort":
        return abort(reason);
      case "ask":
        return ask(reason);
      case "retry":
        return retry({ reason });
      case "skip":
        return point === "START" || point === "POST_LLM_CALL"
          ? skip(reason, { replacement: read.message })
          : skip(reason);
    }
  }

  const points: Point[] = read.subject.map((subject) => SUBJECTS[subject]);
  const on = [...new Set<Point>([...(read.showInput ? (["START"] as const) : []), ...points])];
  const timeoutMs = read.timeoutSeconds * 1000 + MARGIN_MS;
  const made = { name, priority: PRIORITY, on, needsAll: true, asks: read.onFail === "ask", timeoutMs };
  return makeRail(made, settings, handle);
}

/** The judge's own time comes first, so that `undecided` has its say before the rail's time is up. */
const MARGIN_MS = 5_000;

/** What there is to judge; undefined for nothing. Steps in which the model only calls tools are not answers. */
function materialOf(ctx: RailContext<Point>, isJudged: (tool: string) => boolean): Material | undefined {
  switch (ctx.event) {
    case "START":
      return { input: ctx.inputs.input };
    case "POST_LLM_CALL": {
      const { text, toolCalls } = ctx.inputs.response;
      return toolCalls.length > 0 || text === "" ? undefined : { output: text };
    }
    case "PRE_TOOL_CALL": {
      const { toolName, arguments: args } = ctx.inputs;
      return isJudged(toolName) ? { tool: toolName, arguments: args } : undefined;
    }
    case "POST_TOOL_CALL": {
      const { toolName, arguments: args, result } = ctx.inputs;
      return isJudged(toolName) ? { tool: toolName, arguments: args, result } : undefined;
    }
  }
}

function within<T>(pending: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
    pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
