import { Folder } from "./fold.ts";
import { type Phrase, PhraseProbe, PhraseSet } from "./phrase-probe.ts";
import type { TextRule } from "./rewriter.ts";

export interface PhraseOptions {
  readonly kind: string;
  readonly wholeWord: boolean;
  readonly caseSensitive: boolean;
}

/** A rule that looks for phrases. */
export function phraseRule(
  words: readonly string[],
  options: PhraseOptions,
  replace: TextRule["replace"],
): TextRule {
  const folder = new Folder(options.caseSensitive);
  const phrases = words.map((word) => phraseOf(word, folder, options)).filter(({ folded }) => folded !== "");
  const set = new PhraseSet(phrases, folder);
  return { probes: () => [new PhraseProbe(set)], replace };
}

/** A phrase as it is looked for. */
export function phraseOf(
  word: string,
  folder: Folder,
  { kind, wholeWord }: Pick<PhraseOptions, "kind" | "wholeWord">,
): Phrase {
  const chars = [...word.trim()];
  const isWord = (char: string | undefined) => wholeWord && folder.of(char?.codePointAt(0) ?? 0).word;
  return {
    folded: folder.text(word.trim()),
    kind,
    wordBefore: isWord(chars[0]),
    wordAfter: isWord(chars.at(-1)),
  };
}
