/**
 * Text of models, tools and files made safe to print: no character of it can move the cursor, change colours, set the
 * title or reorder what is around it. Line breaks and tabs stay; what is replaced stays visible.
 */
export function clean(text: string): string {
  return UNSAFE.test(text) ? text.replaceAll(EVERY_UNSAFE, visible) : text;
}

/** The same on one line, for names and messages that must not look like several. */
export function cleanLine(text: string): string {
  return clean(text)
    .replaceAll(/\s*[\n\t]\s*/g, " ")
    .trim();
}

/** JSON on one line that no reader of lines or terminal takes for more than that. It stays the same JSON. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(TERMINAL, escaped);
}

/** The same on a page of its own. */
export function jsonPage(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(TERMINAL, escaped);
}

const TERMINAL = /[\u007f-\u009f\u2028\u2029]/g;

// Controls but \n and \t, the line separators, and what overrides the direction of writing.
const UNSAFE = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const EVERY_UNSAFE = new RegExp(UNSAFE, "gu");

function visible(char: string): string {
  const code = char.charCodeAt(0);
  if (char === "\r") return ""; // what is left of \r\n; alone it would overwrite its line
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // ␛ and its like
  if (code === 0x7f) return "\u2421";
  if (code === 0x2028 || code === 0x2029) return "\n";
  return escaped(char);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
