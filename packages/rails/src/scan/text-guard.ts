import {
  abort,
  alert,
  type HookPoint,
  type Rail,
  type RailContext,
  type RailReturn,
  RailVerdict,
  type StreamHook,
  skip,
  streamTransformer,
} from "trackside";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { rewriteJson, rewriteObject } from "./json.ts";
import { rewriteMessages } from "./messages.ts";
import { type Found, Rewriter, Rewriting, type TextRule } from "./rewriter.ts";

/** Where texts can be looked through. */
export const TEXT_POINTS = [
  "START",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
  "TOOL_ERROR",
] as const satisfies readonly HookPoint[];
export type TextPoint = (typeof TEXT_POINTS)[number];

/** A guard on texts: what it looks for, and what it does about it. */
export interface TextGuard {
  readonly name: string;
  readonly rule: TextRule | ((ctx: RailContext<TextPoint>) => Promise<TextRule>);
  /** `rewrite` goes on with what the rule leaves; the others leave texts as they are. */
  readonly act: "rewrite" | "alert" | "abort" | "skip";
  /** How a rewritten text is spoken of: "redacted". */
  readonly done: string;
}

export interface Placed {
  readonly priority: number;
  /** Where it stands unless the settings say otherwise. */
  readonly on: readonly TextPoint[];
  /** Where it may stand. */
  readonly may?: readonly TextPoint[];
}

/** A rail that looks through the texts of its points. */
export function textRail(
  guard: TextGuard,
  { priority, on, may = TEXT_POINTS }: Placed,
  settings: RailSettings,
): Rail {
  const own = { name: guard.name, priority, on: may };
  return makeRail(own, { ...settings, on: settings.on ?? on }, (ctx) => handle(guard, ctx));
}

/** The same on a stream. What blocks throws, which fails the step with nothing of it shown. */
export function textStream(name: string, rule: TextRule, act: TextGuard["act"]): StreamHook {
  return streamTransformer(name, () => {
    const rewriter = new Rewriter(rule);
    const given = (text: string): string => {
      if ((act === "abort" || act === "skip") && rewriter.found.size > 0)
        throw new Error(`found ${listed(rewriter.found)}`);
      return text;
    };
    return { push: (chunk) => given(rewriter.push(chunk)), flush: () => given(rewriter.flush()) };
  });
}

async function handle(guard: TextGuard, ctx: RailContext<TextPoint>): Promise<RailReturn> {
  const rule = typeof guard.rule === "function" ? await guard.rule(ctx) : guard.rule;
  const rewriting = new Rewriting(rule);
  const assign = await lookThrough(ctx, rewriting);
  const { found } = rewriting;
  if (found.size === 0) return undefined;
  const what = `found ${listed(found)}${where(ctx)}`;
  switch (guard.act) {
    case "alert":
      return alert(what);
    case "abort":
      return abort(what);
    case "skip":
      return skip(what);
    case "rewrite":
      // An error's text cannot be changed, and a rail that comes after a skip is not asked: so all of it is withheld.
      if (assign === undefined)
        return skip(what, { replacement: `The tool failed. Its message is withheld: ${what}.` });
      assign();
      return new RailVerdict("continue", `${guard.done} ${listed(found)}${where(ctx)}`);
  }
}

/** Looks through what a point carries. Gives what puts the rewritten text in its place, where that can be done. */
async function lookThrough(
  ctx: RailContext<TextPoint>,
  rewriting: Rewriting,
): Promise<(() => void) | undefined> {
  switch (ctx.event) {
    case "START": {
      const input = await rewriting.text(ctx.inputs.input);
      return () => {
        ctx.inputs.input = input;
      };
    }
    case "PRE_LLM_CALL": {
      const messages = await rewriteMessages(ctx.inputs.messages, rewriting);
      return () => {
        ctx.inputs.messages = messages;
      };
    }
    case "POST_LLM_CALL": {
      const text = await rewriting.text(ctx.inputs.response.text);
      return () => {
        ctx.inputs.response = { ...ctx.inputs.response, text };
      };
    }
    case "PRE_TOOL_CALL": {
      const args = await rewriteObject(ctx.inputs.arguments, rewriting);
      return () => {
        ctx.inputs.arguments = args;
      };
    }
    case "POST_TOOL_CALL": {
      const result = await rewriteJson(ctx.inputs.result, rewriting);
      return () => {
        ctx.inputs.result = result;
      };
    }
    case "TOOL_ERROR":
      await rewriting.text(ctx.inputs.error.message);
      return undefined;
  }
}

/** What was found, never the thing itself: "2 email, 1 card". */
function listed(found: Found): string {
  return [...found].map(([kind, times]) => `${times} ${kind}`).join(", ");
}

function where(ctx: RailContext<TextPoint>): string {
  switch (ctx.event) {
    case "START":
      return " in the input";
    case "PRE_LLM_CALL":
      return " in the request";
    case "POST_LLM_CALL":
      return " in the answer";
    case "PRE_TOOL_CALL":
      return ` in the arguments of ${ctx.inputs.toolName}`;
    case "POST_TOOL_CALL":
      return ` in the result of ${ctx.inputs.toolName}`;
    case "TOOL_ERROR":
      return ` in the error of ${ctx.inputs.toolName}`;
  }
}
