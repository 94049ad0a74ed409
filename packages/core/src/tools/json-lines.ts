const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Breaks written JSON into lines, so that it can be paged and searched: after a comma, once the line is long enough, and the
 * sooner the further out the comma is. It stays the same JSON and hardly gets longer.
 */
export function jsonLines(text: string): string {
  const lines: string[] = [];
  let from = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i);
    // [ { and ] } differ from one another in one bit only.
    else if ((unit | 0x20) === 0x7b) depth += 1;
    else if ((unit | 0x20) === 0x7d) depth -= 1;
    else if (unit === COMMA && i + 1 - from > Math.min(depth, 3) * 40) {
      lines.push(text.slice(from, i + 1));
      from = i + 1;
    }
  }
  lines.push(text.slice(from));
  return lines.join("\n");
}

/** Where the string that begins here ends. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
