import { appendRendered, type Rendered } from "../../context/render.ts";
import type { Message, ToolMessage } from "../../schema/message.ts";
import type { SentPiece } from "../../turn/world.ts";
import { sameBytes } from "../prompt-cache/same-bytes.ts";
import type { RunContext } from "../run-context.ts";
import { sentOnlyId } from "../sent-only.ts";

/**
 * Writes down what was sent in place of the messages that were asked for, so that it can be rebuilt (R4). What is as it was
 * is named by its place, the rest becomes part of the run's record: as little as there is of it.
 */
export function keepChanges(
  run: RunContext,
  of: string,
  asked: readonly Message[],
  sent: readonly Message[],
): readonly SentPiece[] {
  const places = new Map(asked.map(({ id }, i) => [id, i]));
  const pieces: SentPiece[] = [];
  for (const [n, message] of sent.entries()) {
    const at = places.get(message.id);
    if (at === undefined || !sameBytes(asked[at], message)) {
      pieces.push(keep(run, of, message, n));
      continue;
    }
    const last = pieces.at(-1);
    if (typeof last === "object" && last[1] === at) pieces[pieces.length - 1] = [last[0], at + 1];
    else pieces.push([at, at + 1]);
  }
  return pieces;
}

/** A message for a request that has nothing to be compared with. */
export function keepSent(run: RunContext, of: string, sent: readonly Message[]): readonly string[] {
  return sent.map((message, n) => keep(run, of, message, n));
}

/** Named without the run it is in: these names go where a loop keeps its journal. */
function keep(run: RunContext, of: string, message: Message, n: number): string {
  return run.recordSent(asSent(message), sentOnlyId(of, n)).slice(run.id.length + 1);
}

export function keptAs(run: RunContext, name: string): Message | undefined {
  return run.sentOnly(`${run.id}.${name}`);
}

/** The messages that were sent, as far as they are there; those that are gone are counted. */
export function readPieces(
  run: RunContext,
  asked: readonly Message[],
  pieces: readonly SentPiece[],
): { readonly messages: readonly Message[]; readonly gone: number } {
  const messages: Message[] = [];
  let gone = 0;
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      messages.push(...asked.slice(...piece));
      continue;
    }
    const message = keptAs(run, piece);
    if (message === undefined || isForgotten(message)) gone += 1;
    else messages.push(message);
  }
  return { messages, gone };
}

/** Whether the content of a message ended with its run (H4). A result has no mark for that; one that was empty has. */
export function isForgotten(message: Message): boolean {
  if (message.role !== "tool") return message.forgotten !== undefined;
  return isEmpty(message.output) && message.sources === undefined;
}

function isEmpty(output: ToolMessage["output"]): boolean {
  return output.type === "text" && output.value === "";
}

/** Only what a provider is given: it is forgotten with the run, and nothing of it is to stay behind in another field. */
function asSent(message: Message): Message {
  const { id } = message;
  switch (message.role) {
    case "user":
      return { id, role: "user", parts: message.parts };
    case "assistant": {
      const { parts, advisory } = message;
      return { id, role: "assistant", parts, ...(advisory === undefined ? {} : { advisory }) };
    }
    case "tool": {
      const { call_id, wire_id, tool, metadata } = message;
      const bare = { ...metadata, injected_args: {}, original_args: null };
      const output = wholeOutput(message);
      const mark = isEmpty(output) ? { sources: [] } : {};
      return { id, role: "tool", call_id, wire_id, tool, output, metadata: bare, ...mark };
    }
  }
}

/** The outcome of a call with everything that the model is told beside it. */
function wholeOutput(message: ToolMessage): ToolMessage["output"] {
  const rendered: Rendered[] = [];
  appendRendered(rendered, message, undefined);
  const [one] = rendered;
  const output = one?.role === "tool" ? one.content[0]?.output : undefined;
  if (output?.type === "error-text")
    return { type: "error", failure: { code: "tool_failed", message: output.value } };
  return output ?? message.output;
}
