import type { UserMessage } from "../schema/message.ts";
import { attachedTo, refuseUnknown } from "./attachments.ts";
import type { Clock } from "./clock.ts";
import type { Receipt, StartedRun } from "./engine.ts";
import { newId } from "./ids.ts";
import type { Maybe } from "./maybe.ts";
import type { RunContext } from "./run-context.ts";
import { readMessage, type UserInput } from "./run-request.ts";

/** A message for a run under way, which may have artifacts of its conversation attached. */
export function sentMessage({ artifacts }: RunContext, input: UserInput): Maybe<UserMessage> {
  const parts = readMessage(input);
  const message: UserMessage = { id: newId("msg"), role: "user", parts };
  const ids = attachedTo(parts);
  if (ids.length === 0) return message;
  return Promise.all(ids.map((id) => artifacts.find(id))).then((found) => {
    const known = new Set(found.map((ref) => ref?.id));
    refuseUnknown(parts, (id) => known.has(id), "message");
    return message;
  });
}

interface Waiting {
  readonly run: RunContext;
  readonly message: UserMessage;
  /** It is for one model call, or for none. */
  readonly once: boolean;
  readonly settle: (receipt: Receipt) => void;
}

/** Messages sent to a run, and what becomes of each. */
export class LateMessages {
  readonly #clock: Clock;
  readonly #next: (message: UserInput) => StartedRun;
  readonly #waiting = new Map<string, Waiting>();
  #following: StartedRun | undefined;
  #over = false;

  constructor(clock: Clock, next: (message: UserInput) => StartedRun) {
    this.#clock = clock;
    this.#next = next;
  }

  sent(run: RunContext, message: UserMessage, once: boolean): Promise<Receipt> {
    return new Promise((settle) => {
      this.#waiting.set(message.id, { run, message, once, settle });
      if (this.#over) return this.runEnded([message.id]);
      run.steer(message, { receipt: message.id, once }, (state) => {
        this.#waiting.delete(message.id);
        settle({ id: message.id, state, runId: run.id, at: this.#clock.now() });
      });
    });
  }

  /** The run ended before these were admitted: the first opens the next turn, the others are sent to that. */
  runEnded(ids: readonly string[]): void {
    this.#over = true;
    for (const id of ids) {
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) continue;
      this.#waiting.delete(id);
      const { run, message, once, settle } = waiting;
      if (once) {
        settle({ id, state: "dropped", runId: run.id, at: this.#clock.now() });
        continue;
      }
      if (this.#following === undefined) {
        this.#following = this.#next(message.parts);
        this.#following.result.catch(() => {}); // its reader hears of it
      } else void this.#following.steer(message.parts);
      settle({ id, state: "next_turn", runId: this.#following.runId, at: this.#clock.now() });
    }
  }
}
