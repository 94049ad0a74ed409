import type { LanguageModel } from "trackside";

export type ModelV4 = Extract<LanguageModel, { specificationVersion: "v4" }>;
export type ModelPrompt = Parameters<ModelV4["doStream"]>[0]["prompt"];

/** A call of this turn and what came of it. */
export interface Called {
  readonly tool: string;
  readonly input: unknown;
  /** Undefined when the call failed. */
  readonly value: unknown;
  /** What the model reads when it did. */
  readonly problem?: string;
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
      called.push({
        tool: part.toolName,
        input: inputs.get(part.toolCallId),
        value: returnedIn(part.output),
        ...(part.output.type === "error-text" ? { problem: part.output.value } : {}),
      });
    }
  }
  return called;
}

/** Every tool of the demo returns JSON. Where somebody changed the arguments, a sentence in brackets follows it. */
function returnedIn(output: { readonly type: string; readonly value?: unknown }): unknown {
  if (output.type === "json") return output.value;
  if (output.type !== "text") return undefined;
  try {
    return JSON.parse(String(output.value).replace(/\n\n\[.*\]$/s, ""));
  } catch {
    return undefined;
  }
}

function textOf(message: ModelPrompt[number] | undefined): string {
  if (message === undefined || message.role === "system") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
