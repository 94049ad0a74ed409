import type { Json } from "trackside";

export interface Redactor {
  text(text: string): string;
  json<T extends Json>(value: T): T;
}

/** Shorter values are words: taking them out everywhere would hide more than it protects. */
const SHORTEST = 6;
const MARK = "[redacted]";

/**
 * Takes known secret values out of what leaves the host: logs, events, exports. It knows each value as it is and as it looks
 * in base64 (at any offset), percent-encoded, in JSON and in hex. It is for whole texts: a value that is cut in two by
 * chunks is not found.
 */
export function redactor(values: Iterable<string>): Redactor {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length >= SHORTEST) for (const form of formsOf(value)) forms.add(form);
  }
  // The longest first: a secret that begins with another one is taken out whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  if (ordered.length === 0) return { text: (text) => text, json: (value) => value };
  const pattern = new RegExp(ordered.map(escaped).join("|"), "g");
  const text = (given: string) => given.replace(pattern, MARK);
  return { text, json: (value) => walk(value, text) };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const percent = encodeURIComponent(value.toWellFormed());
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const found = [
    value,
    JSON.stringify(value).slice(1, -1),
    percent,
    lower(percent),
    form,
    lower(form),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...base64Forms(bytes),
  ];
  return found.filter((text) => text.length >= SHORTEST);
}

/** In the middle of other bytes, as in `Basic user:secret`, only the letters that depend on nothing else are the same. */
function base64Forms(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const whole = padded.toString("base64").replace(/=+$/, "");
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((padded.length * 8) / 6);
    const sure = whole.slice(from, to);
    // Short pieces would be found by chance.
    return sure.length < SHORTEST + 2 ? [] : [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function walk<T extends Json>(value: T, text: (given: string) => string): T {
  const inner = (given: Json): Json => {
    if (typeof given === "string") return text(given);
    if (typeof given !== "object" || given === null) return given;
    if (Array.isArray(given)) return given.map(inner);
    return Object.fromEntries(Object.entries(given).map(([key, one]) => [text(key), inner(one)]));
  };
  return inner(value) as T; // the same shape, with other strings in it
}
