/** The nearest place at or before `at` where a text may be cut without tearing a character apart. */
export function cutAt(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}

/** Whether a text takes more than so many bytes as UTF-8. Looks no further than it has to. */
export function isLonger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && utf8Length(text) > bytes;
}

/** How many bytes a text takes as UTF-8. A lone surrogate is written as a replacement character: three. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) i += 1; // four bytes for two units: two more than their number
  }
  return bytes;
}
