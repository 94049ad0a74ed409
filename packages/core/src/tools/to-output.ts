import { messageOf } from "../errors.ts";
import { deepFreeze, type Json, type JsonObject } from "../schema/json.ts";
import type { ToolOutput } from "../schema/message.ts";
import { isPlain, preview } from "../schema/preview.ts";
import { jsonPieces } from "./json-pieces.ts";
import { isText, ToolFile } from "./tool-file.ts";

type Valid = Exclude<ToolOutput, { type: "error" }>;

const NO_FILES: readonly ToolFile[] = Object.freeze([]);

/** What a tool returned, written out, with the files that are spoken of in it. */
export class ToolValue {
  readonly ok = true;
  readonly type: Valid["type"];
  /** Its text, which may be large. */
  readonly pieces: readonly string[];
  readonly files: readonly ToolFile[];
  #output: Valid | undefined;

  constructor(type: Valid["type"], text: string | readonly string[], files: readonly ToolFile[] = NO_FILES) {
    this.type = type;
    this.pieces = typeof text === "string" ? [text] : text;
    this.files = files;
  }

  /** Made anew of its pieces each time, rather than kept beside them. */
  get text(): string {
    return this.pieces.join("");
  }

  get chars(): number {
    return this.pieces.reduce((n, { length }) => n + length, 0);
  }

  /** The same as JSON, which is what rails see. Made when somebody looks: of what is put away often nobody does. */
  get output(): Valid {
    this.#output ??=
      this.type === "text"
        ? { type: "text", value: this.text }
        : { type: "json", value: deepFreeze(JSON.parse(this.text)) };
    return this.#output;
  }
}

export type Converted = ToolValue | { readonly ok: false; readonly problem: string };

/** The largest result there may be. What is too large for the model goes to the artifact store, which has a limit, too. */
const MAX_CHARS = 64_000_000;
const MAX_FILES = 100;
const SMALL = 65_536;
const DEEP = 500;

/**
 * Turns what a tool returned into what the model reads: text as text, anything else as JSON, detached from the tool. With
 * `brief`, of files only which they are.
 */
export function toOutput(value: unknown, { brief = false } = {}): Converted {
  switch (typeof value) {
    case "string":
      return fits(value.length) ? new ToolValue("text", value) : tooLarge(value.length);
    case "boolean":
      return new ToolValue("json", String(value));
    case "number":
      if (!Number.isFinite(value))
        return { ok: false, problem: `it returned ${value}, which JSON cannot express` };
      return new ToolValue("json", JSON.stringify(value));
    case "object":
      return value === null ? new ToolValue("json", "null") : fromObject(value, brief);
    default:
      return {
        ok: false,
        problem: `it returned ${typeof value === "undefined" ? "nothing" : `a ${typeof value}`}; return a JSON value`,
      };
  }
}

function fromObject(value: object, brief: boolean): Converted {
  try {
    const listed: unknown = value instanceof ToolFile ? [value] : value;
    const files = Array.isArray(listed) ? listed.filter((one) => one instanceof ToolFile) : NO_FILES;
    if (files.length > MAX_FILES)
      return { ok: false, problem: `it returned ${files.length} files, at most ${MAX_FILES} are taken` };
    const bytes = files.reduce((n, { data }) => n + data.length, 0);
    if (!fits(bytes)) return tooLarge(bytes, "bytes of files");
    const shown =
      files.length > 0 && Array.isArray(listed) ? listed.map((one) => entry(one, files, brief)) : value;
    const pieces = jsonPieces(shown, MAX_CHARS);
    if (pieces === undefined) return { ok: false, problem: "its result has no JSON form" };
    if (pieces[0] === "{}" && !isPlain(value))
      return { ok: false, problem: `it returned ${preview(value)}, of which nothing is left in JSON` };
    const made = new ToolValue("json", pieces, files);
    if (!fits(made.chars)) return tooLarge(made.chars);
    // Read now what may turn out to be too deep to be read; what is only large is read when it has to be.
    if (made.chars <= SMALL || isDeep(pieces)) void made.output;
    return made;
  } catch (error) {
    return { ok: false, problem: `its result cannot be written as JSON (${firstLine(messageOf(error))})` };
  }
}

/** Whether JSON is nested deeply. Brackets in texts count too, so that now and then it is taken to be and is not. */
function isDeep(pieces: readonly string[]): boolean {
  let depth = 0;
  for (const text of pieces) {
    for (let i = 0; i < text.length && depth <= DEEP; i++) {
      const unit = text.charCodeAt(i) | 0x20; // the same for both kinds of brackets
      if (unit === 0x7b) depth += 1;
      else if (unit === 0x7d) depth -= 1;
    }
  }
  return depth > DEEP;
}

/** A file as rails see it: a text with all it says, which they may change; anything else by its kind and size. */
function entry(one: unknown, files: readonly ToolFile[], brief: boolean): unknown {
  if (!(one instanceof ToolFile)) return one;
  const { mediaType, name, data } = one;
  const about = { index: files.indexOf(one), media_type: mediaType, ...(name === undefined ? {} : { name }) };
  if (brief) return { file: { index: about.index } };
  return { file: isText(mediaType) ? { ...about, text: textOf(data) } : { ...about, bytes: data.length } };
}

/** A file in what rails left of a result: the one it is about, and the text if it has one. */
export function fileOf(
  value: Json,
  files: readonly ToolFile[],
): { file: ToolFile; text: string | undefined } | undefined {
  const about = isObject(value) && Object.keys(value).length === 1 ? value["file"] : undefined;
  if (!isObject(about) || typeof about["index"] !== "number") return undefined;
  const file = files[about["index"]];
  const text = about["text"];
  return file && { file, text: typeof text === "string" ? text : undefined };
}

export function textOf(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fits(chars: number): boolean {
  return chars <= MAX_CHARS;
}

function tooLarge(size: number, of = "characters"): { ok: false; problem: string } {
  const problem = `its result is too large (${size} ${of}, at most ${MAX_CHARS}); return less, or a reference`;
  return { ok: false, problem };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
