import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Rendered } from "../../src/context/render.ts";
import { sizeBefore, sizeOfFirst, sizerOf } from "../../src/local/prompt-cache/sizes.ts";
import type { ScriptedRequest } from "../../src/testing/scripted-model.ts";

/** A request as a model got it, and what its provider counted; 0 where it failed or did not say. */
export interface Got {
  readonly request: ScriptedRequest;
  readonly model: string;
  readonly reported: number;
}

interface Split {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly system: string | undefined;
  readonly messages: Rendered[];
}

/** Without breakpoints: they are no part of what is read. */
export function split({ prompt, tools }: ScriptedRequest): Split {
  const plain = prompt.map(({ providerOptions: _, ...message }) => message) as Rendered[]; // made of those
  const [first] = plain;
  const system = first?.role === "system" ? first.content : undefined;
  const messages = system === undefined ? plain : plain.slice(1);
  return { tools: tools as LanguageModelV4FunctionTool[], system, messages }; // no agent here has others
}

/** How many of the first are the same, byte for byte. */
function common(one: readonly unknown[], other: readonly unknown[]): number {
  const at = one.findIndex((value, i) => JSON.stringify(value) !== JSON.stringify(other[i]));
  return at < 0 ? one.length : at;
}

/** What a request shares with the one before, found by writing both out. */
export function bruteForce(last: Got, next: Got): { tokens: number; isWhole: boolean } {
  const a = split(last.request);
  const b = split(next.request);
  const sizer = sizerOf(last.model);
  const sum = (messages: readonly Rendered[]) =>
    messages.reduce((tokens, message) => tokens + sizeOfFirst([message], 1, sizer), 0);
  const format = (got: Got) => JSON.stringify(got.request.options.responseFormat);

  const tools = common(a.tools, b.tools);
  const messages = common(a.messages, b.messages);
  let tokens = 0;
  let isSameUpToMessages = false;
  if (last.model !== next.model || format(last) !== format(next)) tokens = 0;
  else if (tools < a.tools.length || a.tools.length !== b.tools.length)
    tokens = sizeBefore(a.tools.slice(0, tools), undefined, sizer);
  else if (a.system !== b.system) tokens = sizeBefore(a.tools, undefined, sizer);
  else {
    isSameUpToMessages = true;
    tokens = sizeBefore(a.tools, a.system, sizer) + sum(a.messages.slice(0, messages));
  }
  if (last.reported > 0) {
    const isMost = isSameUpToMessages && messages * 2 >= a.messages.length;
    const without = Math.max(0, last.reported - sum(a.messages.slice(messages)));
    tokens = isMost ? without : Math.min(tokens, last.reported);
  }
  if (next.reported > 0) tokens = Math.min(tokens, next.reported);
  return { tokens, isWhole: isSameUpToMessages && messages === a.messages.length };
}
