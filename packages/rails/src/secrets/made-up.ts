/** Words that nobody's secret holds by chance. */
const WORDS =
  /example|sample|placeholder|dummy|redacted|changeme|change[_-]me|replace|insert|your[_-]?(?:api|key|token|secret|pass)|my[_-]?(?:api|key|token|secret|pass)|fake|notreal|todo|secret[_-]?here|key[_-]?here|token[_-]?here/i;

/** `xxxxxx`, `000000`. */
const REPEATED = /(.)\1{5}/;
const LONGEST_ASCENT = 6;

/** Whether a text was typed to show where a secret goes, rather than drawn at random. */
export function isMadeUp(text: string): boolean {
  if (REPEATED.test(text) || WORDS.test(text)) return true;
  const different = new Set(text).size;
  const least = text.length >= 30 ? 9 : Math.min(6, Math.ceil(text.length / 2));
  return different < least || ascends(text) || repeats(text);
}

/** `abcdefg`, `1234567`. */
function ascends(text: string): boolean {
  let run = 0;
  for (let i = 1; i < text.length; i++) {
    run = text.charCodeAt(i) === text.charCodeAt(i - 1) + 1 ? run + 1 : 0;
    if (run >= LONGEST_ASCENT) return true;
  }
  return false;
}

/** `deadbeefdeadbeef`. */
function repeats(text: string): boolean {
  for (const size of [3, 4, 5, 6, 8, 10, 16]) {
    if (
      text.length >= size * 2 &&
      text ===
        text
          .slice(0, size)
          .repeat(Math.ceil(text.length / size))
          .slice(0, text.length)
    )
      return true;
  }
  return false;
}

/** `parallel-worker-pool`, `keyboardShortcuts`: what is drawn at random has digits, or capitals where no word has any. */
export function readsLikeWords(text: string): boolean {
  if (/\d/.test(text)) return false;
  return text.split(/[-_.]|(?<=[a-z])(?=[A-Z])/).every((part) => /^[A-Z]?[a-z]*$/.test(part));
}
