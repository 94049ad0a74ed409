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
  return `${open}\n${entries.join(",\n").replaceAll(/^/gm, "  ")}\n${close}`;
}

/** One line, with the spaces a person would put. */
function inline(value: Json): string {
  // Pretty JSON has line breaks only between its tokens: those inside strings are escaped.
  return JSON.stringify(value, null, 1)
    .replaceAll(/([{[])\n\s*/g, "$1")
    .replaceAll(/\n\s*([}\]])/g, "$1")
    .replaceAll(/\n\s*/g, " ");
}
