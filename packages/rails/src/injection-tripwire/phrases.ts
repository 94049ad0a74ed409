import { Folder } from "../scan/fold.ts";
import { PhraseSet } from "../scan/phrase-probe.ts";
import { phraseOf } from "../scan/phrases.ts";

export type Signal =
  | "ignore-instructions"
  | "new-role"
  | "prompt-request"
  | "role-marker"
  | "concealment"
  | "exfiltration"
  | "addressed-to-ai"
  | "phrase";

const PHRASES: Readonly<Partial<Record<Signal, readonly string[]>>> = {
  "ignore-instructions": [
    "忽略之前的",
    "忽略以上",
    "忽略所有",
    "无视之前",
    "無視して",
    "以前の指示",
    "이전 지시",
    "지시를 무시",
    "تجاهل التعليمات",
    "תתעלם מ",
    "पिछले निर्देश",
  ],
  "new-role": [
    "new instructions:",
    "updated instructions:",
    "your new task is",
    "your new role",
    "your real task",
    "from now on you",
    "you are now",
    "you must now",
    "pretend to be",
    "pretend you are",
    "do anything now",
    "developer mode",
    "jailbreak",
    "dan mode",
    "god mode",
    "no longer bound by",
    "without any restrictions",
    "你现在是",
    "ab jetzt bist du",
    "a partir de ahora eres",
  ],
  "role-marker": [
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|assistant|>",
    "<|user|>",
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|eot_id|>",
    "<start_of_turn>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<system>",
    "</system>",
    "<system_prompt>",
    "### instruction",
    "### system",
    "[system message]",
    "[system]",
    "begin system prompt",
    "end of system prompt",
  ],
  concealment: [
    "do not tell the user",
    "don't tell the user",
    "don’t tell the user",
    "without telling the user",
    "without informing the user",
    "without the user knowing",
    "do not mention this",
    "don't mention this",
    "do not inform the user",
    "hide this from the user",
    "do not let the user",
    "this message is only visible to",
  ],
  "addressed-to-ai": [
    "note to ai",
    "note to the ai",
    "attention ai",
    "dear ai",
    "message for the ai",
    "instructions for the ai",
    "instructions for ai",
    "if you are an ai",
    "if you're an ai",
    "if you are a language model",
    "if you are an llm",
    "if you are an assistant",
    "when an ai reads this",
    "ai agents must",
    "ai assistants must",
  ],
};

const folder = new Folder();

/** The phrases of some signals, and others that count as well. */
export function phraseSet(signals: ReadonlySet<Signal>, others: readonly string[]): PhraseSet {
  const known = Object.entries(PHRASES).filter(([signal]) => signals.has(signal as Signal)); // keys of PHRASES are signals
  const all = [...known, ["phrase", others] as const];
  return new PhraseSet(
    all.flatMap(([kind, phrases]) =>
      phrases.map((phrase) => phraseOf(phrase, folder, { kind, wholeWord: true })),
    ),
    folder,
  );
}
