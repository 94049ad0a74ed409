const KEPT = /[\p{L}\p{N}]/u;
/** Scripts in which one character says as much as several letters. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const FILL = "\u0002\u0002";
const MAX_CACHED = 20_000;
const cache = new Map<number, string>();
const ascii: readonly string[] = Array.from({ length: 128 }, (_, code) => fold(code));

/** A character as leaks are compared: letters and digits without case, accents and form; nothing for all else. */
export function lettersOf(point: number): string {
  const known = point < 128 ? ascii[point] : cache.get(point);
  if (known !== undefined) return known;
  if (cache.size >= MAX_CACHED) cache.clear();
  const made = fold(point);
  cache.set(point, made);
  return made;
}

/** A whole text as leaks are compared. */
export function allLetters(text: string): string {
  let letters = "";
  for (const char of text) letters += lettersOf(char.codePointAt(0) ?? 0);
  return letters;
}

function fold(point: number): string {
  const char = String.fromCodePoint(point);
  const plain = char.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
  const kept = [...plain].filter((one) => KEPT.test(one)).join("");
  return DENSE.test(char) ? `${FILL}${kept}` : kept; // before it, so that no passage starts with the end of another character
}
