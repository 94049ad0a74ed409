import { preview } from "../schema/preview.ts";

export type Root = "input" | "nodes" | "item" | "index";

/** One `{{ path }}` of a text. */
export interface ParsedReference {
  readonly root: Root;
  readonly node?: string;
  readonly path: readonly (string | number)[];
  readonly optional: boolean;
  readonly alone: boolean;
}

/** A text taken apart. Its parts mean something only if there are no problems. */
export interface ParsedTemplate {
  readonly parts: readonly (string | ParsedReference)[];
  readonly problems: readonly string[];
}

const MOST_STEPS = 100;
const MOST_PROBLEMS = 10;
/** JSON has no lists so long that more digits would matter. */
const MOST_DIGITS = 9;

const CACHED_TEXTS = 1_000;
const CACHED_LENGTH = 4_000;
/** The same texts are filled in for every run and every item. */
const cache = new Map<string, ParsedTemplate>();

/** Takes a text apart, in one pass from left to right whatever it is. */
export function parseTemplate(text: string): ParsedTemplate {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const parsed = new Parsing(text).whole();
  if (text.length <= CACHED_LENGTH) {
    const [oldest] = cache.keys();
    if (cache.size >= CACHED_TEXTS && oldest !== undefined) cache.delete(oldest);
    cache.set(text, parsed);
  }
  return parsed;
}

class Parsing {
  readonly #text: string;
  readonly #parts: (string | ParsedReference)[] = [];
  readonly #problems: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): ParsedTemplate {
    const text = this.#text;
    let literal = "";
    while (this.#at < text.length) {
      const open = text.indexOf("{{", this.#at);
      const end = open < 0 ? text.length : open;
      const slashes = open < 0 ? 0 : this.#slashesBefore(open);
      // Of backslashes before braces, two are one, and one that is left over makes the braces mere text.
      literal += text.slice(this.#at, end - slashes) + "\\".repeat(Math.floor(slashes / 2));
      this.#at = end;
      if (open < 0) break;
      if (slashes % 2 === 1) {
        literal += "{{";
        this.#at += 2;
        continue;
      }
      if (literal !== "") this.#parts.push(literal);
      literal = "";
      if (!this.#reference(open)) break;
    }
    if (literal !== "") this.#parts.push(literal);
    return { parts: this.#parts, problems: this.#problems };
  }

  #slashesBefore(open: number): number {
    let from = open;
    while (from > this.#at && this.#text[from - 1] === "\\") from--;
    return open - from;
  }

  /** Reads what begins at these braces. False when the rest of the text is no use. */
  #reference(open: number): boolean {
    this.#at = open + 2;
    const problem = this.#path(open);
    if (problem === undefined) return true;
    const close = this.#text.indexOf("}}", this.#at);
    const upTo = close < 0 ? this.#text.length : close + 2;
    const given = preview(this.#text.slice(open, Math.min(upTo, open + 200)));
    if (this.#problems.length < MOST_PROBLEMS)
      this.#problems.push(close < 0 ? `${given} is not closed; ${CLOSED}` : `${given}: ${problem}`);
    this.#at = upTo;
    return close >= 0;
  }

  /** Reads a path up to its closing braces and notes it, or says what is wrong. */
  #path(open: number): string | undefined {
    this.#space();
    const root = this.#name();
    if (!isRoot(root)) return ROOTS;
    const path: (string | number)[] = [];
    for (;;) {
      const step = this.#step();
      if (step === undefined) break;
      if (typeof step === "object") return step.problem;
      path.push(step);
      if (path.length > MOST_STEPS) return `a path of at most ${MOST_STEPS} steps expected`;
    }
    this.#space();
    const optional = this.#take("?");
    this.#space();
    if (root === "index" && path.length > 0) return "index is a number and has no parts";
    const [node, ...rest] = path;
    if (root === "nodes" && typeof node !== "string") return NODE;
    if (!this.#take("}}")) return "a path and nothing else expected, such as {{ input.order.id }}";
    const alone = open === 0 && this.#at === this.#text.length;
    const of = typeof node === "string" && root === "nodes" ? { node, path: rest } : { path };
    this.#parts.push({ root, ...of, optional, alone });
    return undefined;
  }

  /** `.name`, `[0]` or `["name"]`; undefined where there is none. */
  #step(): string | number | { readonly problem: string } | undefined {
    if (this.#take(".")) return this.#name() || { problem: "a name expected after the point" };
    if (!this.#take("[")) return undefined;
    const key = this.#text[this.#at] === '"' ? this.#quoted() : this.#digits();
    return key !== undefined && this.#take("]") ? key : { problem: BRACKETS };
  }

  #name(): string {
    const from = this.#at;
    while (this.#at < this.#text.length && isNameCode(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#text.slice(from, this.#at);
  }

  #digits(): number | undefined {
    const from = this.#at;
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++;
    const digits = this.#text.slice(from, this.#at);
    return digits !== "" && digits.length <= MOST_DIGITS ? Number(digits) : undefined;
  }

  /** A text as JSON writes it. */
  #quoted(): string | undefined {
    const from = this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at = Math.min(this.#at + 1, this.#text.length);
    try {
      const key: unknown = JSON.parse(this.#text.slice(from, this.#at));
      return typeof key === "string" ? key : undefined;
    } catch {
      return undefined;
    }
  }

  #space(): void {
    while (isSpace(this.#text[this.#at])) this.#at++;
  }

  #take(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }
}

const ROOTS = "a path that begins with input, nodes.<id>, item or index expected";
const NODE = "the id of a node expected after nodes, such as {{ nodes.triage }}";
const BRACKETS = 'a place in a list or a key in quotes expected in brackets, such as [0] or ["a key"]';
const CLOSED = "write }} after it, or \\{{ for braces that are mere text";

function isRoot(name: string): name is Root {
  return name === "input" || name === "nodes" || name === "item" || name === "index";
}

function isSpace(sign: string | undefined): boolean {
  return sign === " " || sign === "\t" || sign === "\n" || sign === "\r";
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Letters of any language, digits, `_`, `-` and `$`. */
function isNameCode(code: number): boolean {
  const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return isLetter || isDigit(code) || code === 95 || code === 45 || code === 36 || code > 0xbf;
}
