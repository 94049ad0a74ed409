import { jsonLines } from "./json-lines.ts";

/** A result as it is kept, with as much of its text as may be shown. */
export interface TextContent {
  readonly media_type: string;
  readonly content: Uint8Array;
  /** How many characters it has. */
  readonly chars: number;
  /** All of it, or its beginning and its end, each longer than anybody is shown. */
  readonly ends: string;
}

/** Longer than what is shown of a result, in any script. */
const END_BYTES = 16_384;

/** JSON is kept in lines, so that it can be paged and searched. */
export function contentOf(type: "text" | "json", text: string): TextContent {
  if (type === "text") {
    const content = new TextEncoder().encode(text);
    return { media_type: "text/plain", content, chars: text.length, ends: text };
  }
  const { content, chars } = jsonLines(text);
  return { media_type: "application/json", content, chars, ends: endsOf(content) };
}

function endsOf(content: Uint8Array): string {
  const decoder = new TextDecoder();
  if (content.length <= 2 * END_BYTES) return decoder.decode(content);
  const head = content.subarray(0, characterAt(content, END_BYTES));
  const tail = content.subarray(characterAt(content, content.length - END_BYTES));
  return decoder.decode(head) + decoder.decode(tail);
}

/** The nearest place at or before `at` where a character begins. */
function characterAt(content: Uint8Array, at: number): number {
  let start = at;
  while (((content[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
