import type { DurableEvent } from "../../schema/durable-events.ts";
import type { Message } from "../../schema/message.ts";
import {
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "../scripted-model.ts";

/** What a tree of agents says: each conversation by how it begins, a sub-agent's by its task. */
export type Cast = Readonly<Record<string, readonly ScriptedStep[]>>;

/**
 * One model for a whole tree, whose branches run beside each other: it answers by the conversation it is asked in, not by
 * the order requests come in.
 */
export function cast(parts: Cast): ScriptedModel {
  const said = new Map<string, number>();
  return scriptedModel(
    [
      (request) => {
        const who = opening(request);
        const at = said.get(who) ?? 0;
        said.set(who, at + 1);
        const step = parts[who]?.[at];
        if (step === undefined) throw new Error(`nothing is left to say to ${JSON.stringify(who)}`);
        return typeof step === "function" ? step(request) : step;
      },
    ],
    { loop: true },
  );
}

/** How a conversation begins: the user's words, or the task of a sub-agent. */
export function opening({ prompt }: Pick<ScriptedRequest, "prompt">): string {
  const first = prompt.find((message) => message.role === "user");
  const [part] = first?.role === "user" ? first.content : [];
  const text = part?.type === "text" ? part.text : "";
  return /^Task:\n([\s\S]*?)(?:\n\nAdditional context:\n[\s\S]*)?$/.exec(text)?.[1] ?? text;
}

/** The requests of one conversation. */
export function requestsOf(model: ScriptedModel, who: string): readonly ScriptedRequest[] {
  return model.requests.filter((request) => opening(request) === who);
}

/** The names of the tools a request offered. */
export function offered(request: ScriptedRequest | undefined): string[] {
  return request?.tools.map(({ name }) => name) ?? [];
}

/** The system prompt of a request. */
export function systemOf(request: ScriptedRequest | undefined): string {
  const first = request?.prompt[0];
  return first?.role === "system" ? first.content : "";
}

/** The results in a log, in call order: the value, or the code of the failure. */
export function outcomes(messages: readonly Message[]): unknown[] {
  return messages.flatMap((message) =>
    message.role === "tool"
      ? [message.output.type === "error" ? message.output.failure.code : message.output.value]
      : [],
  );
}

/** Durable events by the run they belong to, in the order they came. */
export function byRun(events: readonly object[]): Map<string, DurableEvent[]> {
  const runs = new Map<string, DurableEvent[]>();
  for (const event of events) {
    if (!("seq" in event)) continue;
    const one = event as DurableEvent; // live events have no seq
    runs.set(one.run_id, [...(runs.get(one.run_id) ?? []), one]);
  }
  return runs;
}
