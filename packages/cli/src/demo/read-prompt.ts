import type { LanguageModel } from "trackside";

export type ModelV4 = Extract<LanguageModel, { specificationVersion: "v4" }>;
export type ModelPrompt = Parameters<ModelV4["doStream"]>[0]["prompt"];

/** A call of this turn and what came of it. */
export interface Called {
  readonly tool: string;
  readonly input: unknown;
  /** Undefined when the call failed. */
  readonly value: unknown;
}

/** What a model has before it: the user's words and what was done about them so far. */
export interface Situation {
  readonly question: string;
  readonly called: readonly Called[];
  /** What it said last, before this turn. */
  readonly lastAnswer: string;
  /** Everything said in the conversation before this turn, by either side. */
  readonly before: string;
}

export function readPrompt(prompt: ModelPrompt): Situation {
  const asked = prompt.findLastIndex((message) => message.role === "user");
  const before = prompt
    .slice(0, Math.max(asked, 0))
    .filter(({ role }) => role === "user" || role === "assistant");
  const answers = before.filter(({ role }) => role === "assistant");
  return {
    question: textOf(prompt[asked]),
    called: calledIn(prompt.slice(asked + 1)),
    lastAnswer: textOf(answers.at(-1)),
    before: before.map(textOf).join("\n"),
  };
}

function calledIn(messages: ModelPrompt): Called[] {
  const inputs = new Map<string, unknown>();
  const called: Called[] = [];
  for (const message of messages) {
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-call") inputs.set(part.toolCallId, part.input);
      if (part.type !== "tool-result") continue;
      const value = part.output.type === "json" ? part.output.value : undefined;
      called.push({ tool: part.toolName, input: inputs.get(part.toolCallId), value });
    }
  }
  return called;
}

function textOf(message: ModelPrompt[number] | undefined): string {
  if (message === undefined || message.role === "system") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
