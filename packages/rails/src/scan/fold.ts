/** Characters that are not seen and change nothing about a word. */
const IGNORED = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u;
const WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
const SPACE = /\s/u;

export interface Folded {
  /** What is compared: no case, no compatibility forms, accents apart from their letters; empty for what is not seen. */
  readonly units: string;
  readonly space: boolean;
  /** A letter or digit of a script that has spaces between words. */
  readonly word: boolean;
}

const MAX_CACHED = 20_000;

/** Folds code points one by one, so that how a text was cut makes no difference. */
export class Folder {
  readonly #ascii: readonly Folded[];
  readonly #others = new Map<number, Folded>();
  readonly #caseSensitive: boolean;

  constructor(caseSensitive = false) {
    this.#caseSensitive = caseSensitive;
    this.#ascii = Array.from({ length: 128 }, (_, code) => this.#make(code));
  }

  of(point: number): Folded {
    const known = point < 128 ? this.#ascii[point] : this.#others.get(point);
    if (known !== undefined) return known;
    if (this.#others.size >= MAX_CACHED) this.#others.clear();
    const made = this.#make(point);
    this.#others.set(point, made);
    return made;
  }

  /** A whole text, with white space as single spaces. */
  text(text: string): string {
    let folded = "";
    for (const char of text) {
      const { units, space } = this.of(char.codePointAt(0) ?? 0);
      if (!space || !folded.endsWith(" ")) folded += units;
    }
    return folded;
  }

  #make(point: number): Folded {
    const char = String.fromCodePoint(point);
    const space = SPACE.test(char);
    if (space) return { units: " ", space, word: false };
    if (IGNORED.test(char)) return { units: "", space, word: false };
    const plain = char.normalize("NFKD");
    // By way of upper case, so that ß and SS, and both forms of sigma, are the same.
    const units = this.#caseSensitive ? plain : plain.toUpperCase().toLowerCase().normalize("NFKD");
    return { units, space, word: WORD.test(char) && !UNSPACED.test(char) };
  }
}
