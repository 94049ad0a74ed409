import type { JsonObject } from "../schema/json.ts";
import type { ArtifactReader, ArtifactRef } from "./artifact.ts";
import { defineTool, type Tool } from "./define-tool.ts";
import { cutAt } from "./text-cut.ts";
import { isText } from "./tool-file.ts";

export const READ_ARTIFACT = "read_artifact";

/** A tool that keeps its results short by itself: they are never offloaded, or there would be no way to read one. */
export interface BoundedTool extends Tool {
  readonly bounded: true;
  /** The tools whose words a call with these arguments, which fit its schema, passes on. */
  sources(args: JsonObject): Promise<readonly string[]>;
}

export function isBounded(tool: Tool): tool is BoundedTool {
  return "bounded" in tool;
}

interface Arguments {
  readonly artifact_id: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly search?: string;
}

/** Read at once: a store may have to load more than it is asked for, so that small pieces cost more in all. */
const WINDOW_BYTES = 1 << 20;
const PAGE = 8_000;
const LARGEST_PAGE = 20_000;
const SMALLEST_PAGE = 1_000;
const LARGEST_RANGE = 3_000;
const MOST_HITS = 20;
const LONGEST_SEARCH = 200;
/** So much is shown on either side of what was found. */
const AROUND = 160;

const NO_SOURCES: readonly string[] = Object.freeze([]);

const DESCRIPTION =
  "Reads what is kept as an artifact of this conversation. Texts are read in pages of characters from `offset` on; with " +
  "`search` you get the places where a text occurs (upper and lower case are the same), with line and offset, from " +
  "`offset` on. Of anything else you are told size and type, and with `limit` you get so many bytes from `offset` on as base64.";

const INPUT = {
  type: "object",
  properties: {
    artifact_id: { type: "string", description: "The id, as the result that speaks of it has it." },
    offset: { type: "integer", minimum: 0, description: "Where to begin. Default 0." },
    limit: { type: "integer", minimum: 1, description: `How much to read. Default ${PAGE} characters.` },
    search: { type: "string", minLength: 1, maxLength: LONGEST_SEARCH, description: "A text to look for." },
  },
  required: ["artifact_id"],
  additionalProperties: false,
} as const;

/**
 * The tool by which a model reads artifacts of its conversation. It is offered from the first artifact on, at the end of the
 * list (H9): agents that never offload stay as small as they were, and the tools before it stay a prefix that providers
 * have cached.
 */
export function readArtifactTool(reader: ArtifactReader, above: number): BoundedTool {
  // A page is never larger than what would be put away, unless that is next to nothing.
  const most = Math.min(LARGEST_PAGE, Math.max(SMALLEST_PAGE, above));
  const tool = defineTool({
    name: READ_ARTIFACT,
    description: DESCRIPTION,
    input: INPUT,
    effect: "none",
    execute: (args) => readArtifact(reader, args as unknown as Arguments, most), // checked against the schema above
  });
  const sources = async ({ artifact_id: id }: JsonObject) =>
    (await reader.find(String(id)))?.sources ?? NO_SOURCES;
  return Object.freeze({ ...tool, bounded: true as const, sources });
}

async function readArtifact(reader: ArtifactReader, args: Arguments, most: number): Promise<string> {
  const { artifact_id: id, offset = 0, limit, search } = args;
  const ref = await reader.find(id);
  if (ref === undefined)
    throw new Error(
      `there is no artifact ${JSON.stringify(id)} in this conversation. Use an id that one of its results names.`,
    );
  if (!isText(ref.media_type)) {
    if (search !== undefined) throw new Error(`${told(ref)}: it is no text, so it cannot be searched.`);
    return limit === undefined && offset === 0 ? about(ref) : readBytes(reader, ref, offset, limit);
  }
  if (search !== undefined) return searchText(reader, ref, search, offset);
  return readText(reader, ref, offset, Math.min(limit ?? PAGE, most));
}

function told({ id, bytes, media_type }: ArtifactRef): string {
  return `${id} has ${bytes} bytes of ${media_type}`;
}

function about(ref: ArtifactRef): string {
  return `[${told(ref)} (SHA-256 ${ref.digest}). It is no text: give "offset" and "limit" to get some of its bytes as base64.]`;
}

async function readBytes(
  reader: ArtifactReader,
  ref: ArtifactRef,
  offset: number,
  limit = LARGEST_RANGE,
): Promise<string> {
  if (offset >= ref.bytes && ref.bytes > 0) throw beyond(ref, offset, ref.bytes, "bytes");
  const end = Math.min(ref.bytes, offset + Math.min(limit, LARGEST_RANGE));
  const content = await reader.read(ref.id, offset, end);
  const next = end < ref.bytes ? ` More from offset ${end} on.` : " This is its end.";
  return `[${told(ref)}. Bytes ${offset} to ${end} as base64:]\n${base64(content)}\n[${next.trim()}]`;
}

async function readText(
  reader: ArtifactReader,
  ref: ArtifactRef,
  offset: number,
  limit: number,
): Promise<string> {
  let at = 0; // how many characters came before this window
  let start = offset;
  const page: string[] = [];
  let length = 0;
  for await (const text of windows(reader, ref)) {
    if (length === limit) return pageText(ref, page, start, start + length, true);
    if (at + text.length > offset || length > 0) {
      const from = length > 0 ? 0 : cutAt(text, offset - at);
      if (length === 0) start = at + from;
      const room = from + limit - length;
      // A character that does not fit is on the next page, unless the page would be empty.
      const to = cutAt(text, room) > from ? cutAt(text, room) : Math.min(text.length, room + 1);
      page.push(text.slice(from, to));
      length += to - from;
      if (to < text.length) return pageText(ref, page, start, start + length, true);
    }
    at += text.length;
  }
  if (length === 0 && (offset > at || (offset === at && at > 0))) throw beyond(ref, offset, at, "characters");
  return pageText(ref, page, start, start + length, false);
}

function pageText(
  ref: ArtifactRef,
  page: readonly string[],
  from: number,
  to: number,
  more: boolean,
): string {
  const next = more ? `[More from offset ${to} on.]` : "[This is its end.]";
  return [`[${told(ref)}. Characters ${from} to ${to}:]`, page.join(""), next].join("\n");
}

function beyond({ id }: ArtifactRef, offset: number, size: number, of: string): Error {
  return new Error(
    `offset ${offset} is beyond the end: ${id} has ${size} ${of}. Use one from 0 to ${size - 1}.`,
  );
}

/** The text in pieces. Characters are never torn apart between them. */
async function* windows(reader: ArtifactReader, { id, bytes }: ArtifactRef): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes; at += WINDOW_BYTES) {
    const content = await reader.read(id, at, Math.min(bytes, at + WINDOW_BYTES));
    yield decoder.decode(content, { stream: true });
  }
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}

async function searchText(
  reader: ArtifactReader,
  ref: ArtifactRef,
  search: string,
  offset: number,
): Promise<string> {
  const found = new Search(search, offset);
  for await (const text of windows(reader, ref)) {
    found.look(text, false);
    if (found.isFull) break;
  }
  found.look("", true);
  const { hits, next, end } = found;
  if (hits.length === 0 && offset > 0 && offset >= end) throw beyond(ref, offset, end, "characters");
  const what = JSON.stringify(search);
  const since = offset > 0 ? ` from offset ${offset} on` : "";
  if (hits.length === 0) return `[${told(ref)}. ${what} does not occur in it${since}.]`;
  const more =
    next === undefined ? "[These are all.]" : `[There may be more: search again from offset ${next} on.]`;
  return [`[${told(ref)}. ${what} occurs${since} at:]`, ...hits, more].join("\n");
}

/** Looks for a text in another one that comes in pieces. */
class Search {
  readonly hits: string[] = [];
  readonly #needle: string;
  readonly #from: number;
  /** What is left of the pieces so far, for what begins in one and ends in the next. */
  #text = "";
  /** Where that begins: its offset, and how many lines came before. */
  #at = 0;
  #lines = 0;
  /** How far it has been looked through. */
  #seen = 0;
  /** Where to go on, when there were too many. */
  next: number | undefined;

  constructor(search: string, from: number) {
    this.#needle = folded(search);
    this.#from = from;
  }

  get isFull(): boolean {
    return this.hits.length === MOST_HITS;
  }

  /** How many characters have come so far. */
  get end(): number {
    return this.#at + this.#text.length;
  }

  look(piece: string, isLast: boolean): void {
    this.#text += piece;
    const { length } = this.#needle;
    // What is found is shown with what follows, so that has to be there.
    const until = isLast ? this.#text.length : this.#text.length - length - AROUND;
    const text = folded(this.#text);
    let at = Math.max(this.#seen, this.#from - this.#at);
    while (!this.isFull) {
      at = text.indexOf(this.#needle, at);
      if (at < 0 || at >= until) break;
      this.hits.push(this.#shown(at, at + length));
      at += length;
      this.next = this.isFull ? this.#at + at : undefined;
    }
    this.#seen = Math.max(this.#seen, this.isFull ? at : until);
    this.#forget(Math.max(0, this.#seen - AROUND));
  }

  #shown(from: number, to: number): string {
    const text = this.#text;
    const line = this.#lines + countLines(text, from) + 1;
    const first = Math.max(0, from - AROUND);
    const last = Math.min(text.length, to + AROUND);
    // Whole lines where they fit, so that no line looks as if it began in its middle.
    const newline = first === 0 && this.#at === 0 ? -1 : text.indexOf("\n", first);
    const begin = newline >= first && newline < from ? newline + 1 : cutAt(text, first);
    const ending = last === text.length ? -1 : text.lastIndexOf("\n", last);
    const end = ending >= to ? ending : cutAt(text, last);
    const before = begin > 0 && text[begin - 1] !== "\n" ? "…" : "";
    const after = end < text.length && text[end] !== "\n" ? "…" : "";
    return [`line ${line}, offset ${this.#at + from}:`, before + text.slice(begin, end) + after].join("\n");
  }

  #forget(count: number): void {
    this.#lines += countLines(this.#text, count);
    this.#at += count;
    this.#seen -= count;
    this.#text = this.#text.slice(count);
  }
}

function countLines(text: string, until: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < until; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** In lower case and just as long: a few letters get longer, and those stay as they are. */
function folded(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** There is no Buffer in this room; what is written is short. */
function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const group = (a << 16) | (b << 8) | c;
    const digits = [18, 12, 6, 0].map((shift) => DIGITS.charAt((group >> shift) & 63)).join("");
    const left = bytes.length - i;
    text += left === 1 ? `${digits.slice(0, 2)}==` : left === 2 ? `${digits.slice(0, 3)}=` : digits;
  }
  return text;
}
