/** A line of a JSON tree. */
export interface JsonRow {
  /** Path from the root; also what folding remembers. */
  key: string;
  depth: number;
  name?: string;
  /** The name is a place in a list. */
  index?: boolean;
  text: string;
  kind: "string" | "number" | "word" | "mark";
  /** Only where there is something inside. */
  fold?: "open" | "folded";
}

/** The lines of a value, with what is folded left out. Levels below `open` begin unfolded; `toggled` turns that round. */
export function jsonRows(value: unknown, open: number, toggled: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  // Its own stack, since a deep value must not overflow the browser's.
  const todo: { value: unknown; key: string; depth: number; name?: string; index?: boolean }[] = [
    { value, key: "$", depth: 0 },
  ];
  for (let next = todo.pop(); next; next = todo.pop()) {
    const { value: current, ...place } = next;
    const leaf = leafOf(current);
    if (leaf) {
      rows.push({ ...place, ...leaf });
      continue;
    }
    const list = Array.isArray(current);
    // Neither a leaf nor a list: an object.
    const entries = list
      ? current.map((one, at) => [String(at), one] as const)
      : Object.entries(current as object);
    const brackets = list ? "[]" : "{}";
    if (entries.length === 0) {
      rows.push({ ...place, text: brackets, kind: "mark" });
      continue;
    }
    const isOpen = place.depth < open !== toggled.has(place.key);
    const size = list ? `${entries.length} ${entries.length === 1 ? "item" : "items"}` : fieldNames(entries);
    rows.push({
      ...place,
      text: isOpen ? (list ? `[${entries.length}]` : "") : list ? `[ ${size} ]` : `{ ${size} }`,
      kind: "mark",
      fold: isOpen ? "open" : "folded",
    });
    if (!isOpen) continue;
    for (const [name, inner] of entries.toReversed())
      todo.push({
        value: inner,
        key: `${place.key}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        depth: place.depth + 1,
        name,
        index: list,
      });
  }
  return rows;
}

function leafOf(value: unknown): Pick<JsonRow, "text" | "kind"> | undefined {
  if (typeof value === "string") return { text: writtenOut(value), kind: "string" };
  if (typeof value === "number") return { text: String(value), kind: "number" };
  if (typeof value === "object" && value !== null) return undefined;
  return { text: String(value), kind: "word" };
}

/**
 * A string as JSON has it, with line breaks as breaks. What cannot be seen but changes what is read (zero width, right to
 * left) is spelled out: a decision must rest on what is really there.
 */
export function writtenOut(value: string): string {
  return JSON.stringify(value)
    .replaceAll(/\\(.)/g, (escaped, letter) => (letter === "n" ? "\n" : escaped))
    .replaceAll(
      /[\p{Cf}\u0080-\u009f\u2028\u2029]/gu,
      (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`,
    );
}

function fieldNames(entries: readonly (readonly [string, unknown])[]): string {
  const names = entries.slice(0, 4).map(([name]) => name);
  const rest = entries.length - names.length;
  return names.join(", ") + (rest > 0 ? `, ${rest} more` : "");
}
