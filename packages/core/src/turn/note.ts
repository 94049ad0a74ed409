import type { DurableEvent } from "../schema/durable-events.ts";

type Stamp = "run_id" | "turn_ref" | "seq" | "at" | "path";
type Unstamped<T extends DurableEvent["type"]> = Omit<Extract<DurableEvent, { type: T }>, Stamp>;

/**
 * What the loop says about itself. A note names messages by id; whoever commits it stamps it and fills in the bodies, so
 * that the loop never holds a transcript. Three notes are no events: `logged` puts recorded messages into the
 * conversation's log, in this order; `aside` keeps them in the run's record and out of the log; `dropped` says that a
 * message sent meanwhile was not let in.
 */
export type Note = Told & {
  /** Whose it is, if not the executor's: the planner's (P6). */
  path?: readonly string[];
};

type Told =
  | { type: "logged"; message_ids: readonly string[] }
  | { type: "aside"; message_ids: readonly string[] }
  | { type: "dropped"; message_id: string; receipt: string }
  | { type: "text"; message_id: string }
  | { type: "reasoning"; message_id: string }
  | { type: "tool_call"; message_id: string; call_id: string }
  | { type: "tool_result"; message_id: string }
  | Unstamped<"status">
  | Unstamped<"step">
  | Unstamped<"usage">
  | Unstamped<"message_retracted">
  | { type: "message_injected"; message_id: string; durable: boolean; audit?: boolean; receipt?: string }
  | Unstamped<"rail">
  | Unstamped<"context">
  | Unstamped<"approval">
  | Unstamped<"artifact">
  | Unstamped<"plan">
  | Unstamped<"subagent">
  | Unstamped<"handoff">
  | (Omit<Unstamped<"node">, "output"> & {
      /** The message its output is in. */
      message_id?: string;
    })
  | Unstamped<"error">;

/** A note that readers see as an event. */
export type EventNote = Exclude<Note, { type: "logged" | "aside" | "dropped" }>;

export function isEvent(note: Note): note is EventNote {
  return note.type !== "logged" && note.type !== "aside" && note.type !== "dropped";
}
