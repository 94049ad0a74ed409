import fc from "fast-check";
import type { DurableEvent, LiveEvent } from "trackside/schema";
import { formatCursor, parseCursor } from "../../src/bus/index.ts";
import { durable, input, RUN, reasoning, text } from "./items.ts";

type RunEvent = DurableEvent | LiveEvent;

/** What a model says in one attempt, in pieces. All attempts of a step but the last are retracted. */
interface Said {
  readonly id: string;
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly input: readonly string[];
}

export interface Plan {
  readonly steps: readonly { readonly attempts: readonly Said[] }[];
}

const parts = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }), { maxLength: 5 });
const said = fc.record({ reasoning: parts, text: parts, input: parts });
const step = fc.array(said, { minLength: 1, maxLength: 3 });

export const plan: fc.Arbitrary<Plan> = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => ({
  steps: steps.map((attempts, i) => ({
    attempts: attempts.map((one, n) => ({ ...one, id: `${RUN}.main.${i + 1}.m${n + 1}` })),
  })),
}));

/** The events of such a run, as they happen. */
export function play({ steps }: Plan): RunEvent[] {
  const events: RunEvent[] = [];
  let seq = 0;
  const commit = (fields: Parameters<typeof durable>[1]) => {
    seq += 1;
    events.push(durable(seq, fields));
  };
  commit({ type: "status", status: "starting" });
  for (const [i, { attempts }] of steps.entries()) {
    const callId = `${RUN}.main.${i + 1}.0`;
    commit({ type: "step", step: i + 1, state: "started" });
    for (const [n, one] of attempts.entries()) {
      const of = { after_seq: seq, message_id: one.id, attempt: n + 1 };
      show(events, one.reasoning, (offset, piece) => reasoning(offset, piece, of));
      show(events, one.text, (offset, piece) => text(offset, piece, of));
      show(events, one.input, (offset, piece) => input(offset, piece, { ...of, call_id: callId }));
      // Post-hooks and rails look at the whole message between its usage and its text.
      commit({ type: "usage" });
      if (n < attempts.length - 1) commit({ type: "message_retracted", message_id: one.id, attempt: n + 1 });
      else commitMessage(one, callId, commit);
    }
    commit({ type: "step", step: i + 1, state: "completed" });
  }
  commit({ type: "status", status: "completed", stop_reason: "answered" });
  return events;
}

function show(
  events: RunEvent[],
  pieces: readonly string[],
  make: (offset: number, piece: string) => LiveEvent,
): void {
  let offset = 0;
  for (const piece of pieces) {
    events.push(make(offset, piece));
    offset += piece.length;
  }
}

function commitMessage(
  one: Said,
  callId: string,
  commit: (fields: Parameters<typeof durable>[1]) => void,
): void {
  const message_id = one.id;
  if (one.reasoning.length > 0) commit({ type: "reasoning", message_id, text: one.reasoning.join("") });
  if (one.text.length > 0) commit({ type: "text", message_id, text: one.text.join("") });
  if (one.input.length === 0) return;
  commit({ type: "tool_call", message_id, call_id: callId, tool: "t", arguments: {} });
  commit({ type: "tool_result", call_id: callId, tool: "t", success: true });
}

export const isLive = (event: RunEvent): event is LiveEvent => !("seq" in event);

interface Shown {
  text: string;
  reasoning: string;
  input: string;
}

/** The simplest client there could be: it appends deltas, and believes durable events. */
export class Client {
  readonly seqs: number[] = [];
  /** Texts that were shown whole before they were committed or retracted. */
  readonly completed: Record<string, string> = {};
  readonly #live = new Map<string, Shown>();
  readonly #durable = new Map<string, { text: string; reasoning: string }>();
  readonly #said: ReadonlyMap<string, Said>;

  constructor({ steps }: Plan) {
    this.#said = new Map(steps.flatMap(({ attempts }) => attempts.map((one) => [one.id, one] as const)));
  }

  take(event: RunEvent): void {
    if ("seq" in event) this.#commit(event);
    else if (event.type !== "mcp_progress") this.#append(event);
  }

  /** It went away before it had shown the last characters of the open message: its cursor says so. */
  forgetSome(cursor: string, back: number): string {
    const { seq, message } = parseCursor(cursor);
    const shown = message === undefined ? undefined : this.#live.get(message.id);
    if (message === undefined || shown === undefined) return cursor;
    const text = Math.max(1, message.text - back);
    if (message.text <= 1) return cursor;
    shown.text = shown.text.slice(0, text);
    return formatCursor({ seq, message: { ...message, text } });
  }

  transcript(): Record<string, { text: string; reasoning: string }> {
    const messages = [...this.#said.keys()].flatMap((id) => {
      const kept = this.#durable.get(id);
      return kept === undefined ? [] : [[id, kept] as const];
    });
    return Object.fromEntries(messages);
  }

  #append(event: Exclude<LiveEvent, { type: "mcp_progress" }>): void {
    const { message_id: id } = event;
    const shown = this.#live.get(id) ?? { text: "", reasoning: "", input: "" };
    this.#live.set(id, shown);
    const kind = ({ text_delta: "text", reasoning_delta: "reasoning", tool_input_delta: "input" } as const)[
      event.type
    ];
    if (event.offset !== shown[kind].length)
      throw new Error(`${kind} of ${id}: offset ${event.offset} after ${shown[kind].length}`);
    shown[kind] += event.text;
    const whole = this.#said.get(id)?.[kind].join("") ?? "";
    if (!whole.startsWith(shown[kind]))
      throw new Error(`${kind} of ${id}: ${shown[kind]} does not begin ${whole}`);
    if (kind === "text" && shown.text === whole) this.completed[id] = whole;
    if (this.#durable.get(id)?.text && kind === "text") throw new Error(`a delta after the text of ${id}`);
  }

  #commit(event: DurableEvent): void {
    this.seqs.push(event.seq);
    if (event.type === "text" || event.type === "reasoning") {
      const kept = this.#durable.get(event.message_id) ?? { text: "", reasoning: "" };
      this.#durable.set(event.message_id, { ...kept, [event.type]: event.text });
    }
    if (event.type === "message_retracted") this.#live.delete(event.message_id);
  }
}
