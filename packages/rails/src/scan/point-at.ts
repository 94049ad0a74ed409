/**
 * The code point here. By hand: compiled code of V8 reads past the end of a string that is a slice of a longer one, so that
 * `codePointAt` now and then makes a pair of half a character and what the slice left out.
 */
export function pointAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff || at + 1 >= text.length) return code;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff ? (code - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000 : code;
}
