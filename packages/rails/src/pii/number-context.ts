import { is, LETTER } from "../scan/chars.ts";

/** How far back words are looked for; within the probe's reach. */
const REACH = 48;

function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - REACH), at);
}

const VERSION = /(?:\bv|\bver\.?|version|release|build|firmware|section|chapter|clause|§)[\s:=]{0,3}$/i;

/** `version 1.2.3.4`, `§ 1.2.3.4`. */
export function isVersion(text: string, at: number): boolean {
  return VERSION.test(text.slice(Math.max(0, at - 16), at));
}

const SOCIAL_SECURITY = /\b(?:ssns?|social[ _-]?security|itin|tin|tax(?:payer)?[ _-]?id)\b[^\d.!?]{0,24}$/i;

export function socialSecurityWord(text: string, at: number): boolean {
  return SOCIAL_SECURITY.test(before(text, at));
}

const PHONE_WORDS =
  "phone|telefon|t[ée]l[ée]phone|tel[ée]fono|mobile?|m[óo]vil|cell|celular|handy|fax|whatsapp|landline|hotline|helpline|pager|voicemail";
const WHOLE_WORDS =
  "tel|ph|call|calls|called|calling|dial|dialed|dialled|ring|rang|reach|contact|sms|text|texts|texted|message|messages|answering|registered|switchboard|extension|(?:my|his|her|their|our|your) number|(?:office|desk|direct|work|home|main) ?:";
const PHONE_WORD = new RegExp(`${PHONE_WORDS}|(?<![a-z])(?:${WHOLE_WORDS})(?![a-z])`, "gi");

/** Between the word and the number: not much, no end of a sentence, no other number but one that is listed beside it. */
const BETWEEN = /^[^\d.!?;]{0,26}$|^[^\d!?;]{0,26}[\d().+x -]{6,24}(?:[\s,/;&]|or|and){1,6}$/i;

/** Whether what stands before a number says that it is a phone's. */
export function phoneWordBefore(text: string, at: number): boolean {
  const slice = before(text, at);
  PHONE_WORD.lastIndex = 0;
  for (let word = PHONE_WORD.exec(slice); word !== null; word = PHONE_WORD.exec(slice)) {
    const rest = slice.slice(word.index + word[0].length);
    if (BETWEEN.test(rest.replace(/^\.:?/, ":"))) return true; // "Tel.:"
  }
  return false;
}

const LABELS: readonly string[] = [
  "office",
  "fax",
  "mobile",
  "mobil",
  "cell",
  "desk",
  "tel",
  "telefon",
  "telephone",
  "phone",
  "landline",
  "whatsapp",
];

/** Whether a label such as `office` follows, up to three signs on; undefined when more text is needed to say. */
export function phoneLabelAfter(text: string, at: number, done: boolean): boolean | undefined {
  let start = at;
  while (start < text.length && start - at < 3 && " \t-–(,/".includes(text[start] ?? "")) start++;
  let end = start;
  while (is(text, end, LETTER) && end - start < 16) end++;
  const word = text.slice(start, end).toLowerCase();
  if (end < text.length || done) return LABELS.includes(word);
  return LABELS.some((label) => label.startsWith(word)) ? undefined : false;
}
