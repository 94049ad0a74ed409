/** So much of what was given is shown. */
const PREVIEW = 80;

/** A short, safe rendering of anything a user may have passed in, however large or hostile. */
export function preview(value: unknown): string {
  if (value === undefined) return "nothing";
  let text: string;
  try {
    text = written(value, PREVIEW);
  } catch {
    text = `a ${typeof value} that cannot be read`;
  }
  return short(text);
}

/** JSON where it can be, and only as much of it as fits: a value may be huge, or contain itself. */
function written(value: unknown, room: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, PREVIEW + 1));
  if (typeof value === "function") return `function ${value.name || "(anonymous)"}`;
  if (typeof value !== "object" || value === null) return String(value);
  if (!Array.isArray(value) && !isPlain(value)) return `an object of ${value.constructor?.name || "no name"}`;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  let text = `${open}`;
  for (const key of Object.keys(value)) {
    if (text.length > room) return text;
    const label = Array.isArray(value) ? "" : `${written(key, room)}:`;
    const inner: unknown = Reflect.get(value, key);
    text += `${text.length > 1 ? "," : ""}${label}${written(inner, room - text.length - label.length)}`;
  }
  return `${text}${close}`;
}

/** Written as `{…}`, and not by a class of its own. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function short(text: string): string {
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
}
