import { Folder } from "../scan/fold.ts";

/** What a word may be part of. A word can be several things. */
export const DROP = 1; // ignore, forget
export const EARLIER = 2; // previous, all
export const ORDERS = 4; // instructions, rules
export const TELL = 8; // reveal, print
export const OWN = 16; // your, hidden
export const SEND = 32; // send, upload
export const SECRET = 64; // password, credentials
export const ROLE = 128; // system, assistant
export const PROMPT = 256; // prompt, instructions

const lists: readonly (readonly [number, string])[] = [
  [
    DROP,
    "ignore ignoring ignored disregard disregarding forget override overriding bypass discard neglect " +
      "ignoriere ignorieren vergiss missachte ignora ignorar ignorad olvida olvidar oublie oubliez ignorez dimentica " +
      "esqueca desconsidere negeer vergeet zignoruj zapomnij игнорируй игнорируйте забудь проигнорируй",
  ],
  [
    EARLIER,
    "previous prior above earlier preceding former original initial system existing all any your every " +
      "vorherigen vorherige bisherigen obigen alle deine anteriores anterior previas previos todas tus precedentes " +
      "precedente toutes tes vos precedenti tutte tue suas vorige eerdere poprzednie wszystkie предыдущие все прошлые",
  ],
  [
    ORDERS,
    "instruction instructions prompt prompts rule rules directive directives guideline guidelines command commands " +
      "constraint constraints context policy policies programming training orders messages message restrictions safeguards " +
      "anweisungen anweisung regeln befehle vorgaben instrucciones reglas ordenes consignes regles istruzioni regole " +
      "instrucoes regras instructies regels instrukcje zasady инструкции правила указания команды",
  ],
  [
    TELL,
    "reveal print repeat show output leak display dump disclose recite share expose zeige verrate muestra revela montre affiche",
  ],
  [OWN, "your system initial hidden original secret internal full entire deine tus tes vos"],
  [PROMPT, "prompt prompts instructions instruction anweisungen instrucciones consignes"],
  [SEND, "send post forward upload email transmit exfiltrate mail submit leak deliver copy"],
  [
    SECRET,
    "password passwords credential credentials secret secrets token tokens apikey apikeys passphrase ssn cookies",
  ],
  [ROLE, "system assistant"],
];

const folder = new Folder();
const kinds = new Map<string, number>();
for (const [kind, words] of lists) {
  for (const word of words.split(" ")) {
    const plain = withoutAccents(folder.text(word));
    kinds.set(plain, (kinds.get(plain) ?? 0) | kind);
  }
}

export function withoutAccents(folded: string): string {
  return folded.replaceAll(/\p{M}/gu, "");
}

/** What a folded word may be part of; 0 for most. */
export function kindsOf(word: string): number {
  return kinds.get(word) ?? 0;
}

export const LONGEST_WORD = Math.max(...[...kinds.keys()].map(({ length }) => length));
