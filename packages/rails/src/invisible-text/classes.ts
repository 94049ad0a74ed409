/** What a code point that cannot be seen is for. */
export const SEEN = 0;
/** Never belongs in a text: tags, overrides of direction, fillers, operators nobody sees. */
export const HIDDEN = 1;
/** Zero-width joiner or non-joiner: emoji and some scripts need them. */
export const JOINER = 2;
/** Picks the look of the character before it. */
export const SELECTOR = 3;
/** Zero-width space: some scripts break lines there. */
export const BREAK = 4;
/** Marks of direction: texts from right to left need them. */
export const MARK = 5;
/** Fillers of Hangul syllables. */
export const FILLER = 6;
/** Half of a code point beyond the first 65,536. */
export const HIGH = 7;

const CLASSES = new Uint8Array(65536);
const set = (kind: number, ...ranges: readonly (readonly [number, number])[]) => {
  for (const [from, to] of ranges) CLASSES.fill(kind, from, to + 1);
};
set(
  HIDDEN,
  [0x00ad, 0x00ad], // soft hyphen
  [0x034f, 0x034f], // grapheme joiner
  [0x17b4, 0x17b5], // Khmer vowels that are not written
  [0x202a, 0x202e], // embeddings and overrides of direction
  [0x2060, 0x2064], // word joiner, invisible operators
  [0x2065, 0x206f], // isolates, and what was taken back
  [0x3164, 0x3164], // Hangul filler
  [0xfeff, 0xfeff], // byte order mark
  [0xffa0, 0xffa0], // half-width Hangul filler
  [0xfff0, 0xfffb], // annotations
);
set(JOINER, [0x200c, 0x200d]);
set(SELECTOR, [0x180b, 0x180f], [0xfe00, 0xfe0f]);
set(BREAK, [0x200b, 0x200b]);
set(MARK, [0x061c, 0x061c], [0x200e, 0x200f]);
set(FILLER, [0x115f, 0x1160]);
set(HIGH, [0xd800, 0xdbff]);

/** The class of a UTF-16 unit. */
export function classOf(code: number): number {
  return CLASSES[code] ?? SEEN;
}

/** The class of a code point beyond the first 65,536. */
export function wideClassOf(point: number): number {
  if (point >= 0xe0100 && point <= 0xe01ef) return SELECTOR;
  if (point >= 0xe0000 && point <= 0xe0fff) return HIDDEN; // tags, and what is reserved beside them
  if (point >= 0x1d173 && point <= 0x1d17a) return HIDDEN; // of musical notation
  if (point >= 0x1bca0 && point <= 0x1bca3) return HIDDEN; // of shorthand
  return SEEN;
}

/** Scripts whose letters join, or do not, by a joiner. */
export const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Balinese}\p{Script=Javanese}\u0640\u064b-\u0655]/u;
/** Scripts that are written without spaces. */
export const UNSPACED =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}]/u;
export const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
export const PICTURE = /\p{Extended_Pictographic}/u;
/** What comes between a picture and a joiner. */
export const AFTER_PICTURE = /\p{Emoji_Modifier}|\ufe0f/u;
/** What has an emoji look and a text look. */
export const TWO_LOOKS = /\p{Emoji}/u;
/** What has variants of its own: ideographs, mathematical signs, and letters of some scripts. */
export const VARIANTS =
  /[\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Sm}\u3000-\u303f\uff01-\uff0e\uff1a-\uff1f]/u;
export const IDEOGRAPH = /\p{Script=Han}/u;
export const MONGOLIAN = /\p{Script=Mongolian}/u;
export const JAMO = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;
