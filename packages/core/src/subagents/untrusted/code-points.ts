/**
 * The code point here, by hand: in compiled code `codePointAt` now and then reads past the end of a text that is a slice of
 * a longer one.
 */
export function pointAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff || at + 1 >= text.length) return code;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff ? (code - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000 : code;
}

/** How many units of a text a code point takes. */
export function widthOf(point: number): 1 | 2 {
  return point > 0xffff ? 2 : 1;
}

export function countPoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += widthOf(pointAt(text, at))) count++;
  return count;
}
