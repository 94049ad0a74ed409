const segmenter = new Intl.Segmenter();

/** Characters that take two columns: East Asian ones and emoji. */
export const WIDE =
  "\\p{Emoji_Presentation}\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff" +
  "\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{20000}-\\u{3fffd}";
const wide = new RegExp(`[${WIDE}]|\\ufe0f`, "u");
const invisible = /^[\p{M}\p{Cf}]+$/u;
const plain = /^[\x20-\x7e]*$/;

/** What a person takes for one character. */
export function graphemes(text: string): string[] {
  return plain.test(text) ? [...text] : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** How many columns a terminal needs for a text without line breaks. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += columns(segment);
  return width;
}

function columns(grapheme: string): number {
  if (invisible.test(grapheme)) return 0;
  return wide.test(grapheme) ? 2 : 1;
}
