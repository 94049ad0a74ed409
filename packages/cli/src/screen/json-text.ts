import type { Json } from "trackside";

const DEEPEST = 40;

/** JSON for people: each object or list on one line where it fits, else one entry to a line. */
export function jsonText(value: Json, width: number, depth = 0): string {
  const line = inline(value);
  if (line.length <= width || typeof value !== "object" || value === null || depth > DEEPEST) return line;
  const list = Array.isArray(value);
  const entries = list
    ? value.map((entry: Json) => jsonText(entry, width - 2, depth + 1))
    : Object.entries(value).map(([key, entry]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + jsonText(entry, width - 2 - name.length, depth + 1);
      });
  if (entries.length === 0) return line;
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  // Line by line: to a pattern, a line also ends at characters that JSON leaves as they are in a text.
  const lines = entries.join(",\n").split("\n");
  return `${open}\n${lines.map((each) => `  ${each}`).join("\n")}\n${close}`;
}

/**
 * JSON for whoever decides about it: whole, with every character that is invisible or moves others written as an escape,
 * and with the lines of a text below each other.
 */
export function exactJson(value: Json, width: number): string {
  return escapeHidden(jsonText(value, width)).replaceAll(/^.*$/gm, (line) => {
    const margin = /^ */.exec(line)?.[0] ?? "";
    // Escapes come in pairs: a backslash and an n are a line break only if the backslash is not itself escaped.
    return line.replaceAll(/\\./g, (pair) => (pair === "\\n" ? `\\n\n${margin}    ` : pair));
  });
}

/** The same JSON, with every character that is invisible or moves others written as an escape. */
export function escapeHidden(json: string): string {
  return json.replaceAll(HIDDEN, (found) => {
    const units = Array.from({ length: found.length }, (_, i) => found.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

const HIDDEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** One line, with the spaces a person would put. */
function inline(value: Json): string {
  // Pretty JSON has line breaks only between its tokens: those inside strings are escaped.
  return JSON.stringify(value, null, 1)
    .replaceAll(/([{[])\n\s*/g, "$1")
    .replaceAll(/\n\s*([}\]])/g, "$1")
    .replaceAll(/\n\s*/g, " ");
}
