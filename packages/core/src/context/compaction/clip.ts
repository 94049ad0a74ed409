import { leftOut } from "./texts.ts";

/** A text with its middle left out: how it begins and how it ends says most. */
export function clip(text: string, length: number): string {
  const most = Math.floor(length);
  if (text.length <= most) return text;
  const head = Math.ceil((most * 2) / 3);
  const tail = text.length - (most - head);
  return `${start(text, head)}${leftOut(tail - head)}${isPairAt(text, tail) ? text.slice(tail + 1) : text.slice(tail)}`;
}

/** As much of the beginning of a text as fits. Undefined when not even nothing does. */
export function longestThatFits(text: string, fits: (part: string) => boolean): string | undefined {
  let length = text.length;
  for (;;) {
    const part = start(text, length);
    if (fits(part)) return part;
    if (length === 0) return undefined;
    length = Math.floor(length * 0.8);
  }
}

function start(text: string, length: number): string {
  return text.slice(0, isPairAt(text, length) ? length - 1 : length);
}

/** Whether cutting here would leave half a character on each side. */
function isPairAt(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
