import { messageOf } from "../errors.ts";
import { deepFreeze, type Json } from "../schema/json.ts";
import type { ToolOutput } from "../schema/message.ts";
import { isPlain, preview } from "../schema/preview.ts";

type Valid = Exclude<ToolOutput, { type: "error" }>;
export type Converted =
  | { readonly ok: true; readonly output: Valid }
  | { readonly ok: false; readonly problem: string };

/** The largest result that is given to a model whole. */
const MAX_CHARS = 4_000_000;

/** Turns what a tool returned into what the model reads: text as text, anything else as JSON, detached from the tool. */
export function toOutput(value: unknown): Converted {
  switch (typeof value) {
    case "string":
      return fits(value.length) ? { ok: true, output: { type: "text", value } } : tooLarge(value.length);
    case "boolean":
      return { ok: true, output: { type: "json", value } };
    case "number":
      if (!Number.isFinite(value))
        return { ok: false, problem: `it returned ${value}, which JSON cannot express` };
      return { ok: true, output: { type: "json", value } };
    case "object":
      return value === null ? { ok: true, output: { type: "json", value } } : fromObject(value);
    default:
      return {
        ok: false,
        problem: `it returned ${typeof value === "undefined" ? "nothing" : `a ${typeof value}`}; return a JSON value`,
      };
  }
}

function fromObject(value: object): Converted {
  try {
    const text = JSON.stringify(value);
    if (text === undefined) return { ok: false, problem: "its result has no JSON form" };
    if (text === "{}" && !isPlain(value))
      return { ok: false, problem: `it returned ${preview(value)}, of which nothing is left in JSON` };
    if (!fits(text.length)) return tooLarge(text.length);
    const copy: Json = JSON.parse(text);
    return { ok: true, output: { type: "json", value: deepFreeze(copy) } };
  } catch (error) {
    return { ok: false, problem: `its result cannot be written as JSON (${firstLine(messageOf(error))})` };
  }
}

function fits(chars: number): boolean {
  return chars <= MAX_CHARS;
}

function tooLarge(chars: number): Converted {
  const problem = `its result is too large (${chars} characters, at most ${MAX_CHARS}); return less, or a reference`;
  return { ok: false, problem };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
