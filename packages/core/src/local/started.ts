import type { Approval } from "../schema/approval.ts";
import type { DecisionInput } from "./approvals.ts";
import type { Receipt, StartedRun } from "./engine.ts";
import { type LateMessages, sentMessage } from "./late-messages.ts";
import { after } from "./maybe.ts";
import type { RunContext } from "./run-context.ts";
import type { UserInput } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";

/**
 * A run as whoever started it holds it. A class, since its getter is: one that is written into an object is kept in the
 * object's hidden class, and the whole run with it until the next full collection.
 */
export class Started implements StartedRun {
  readonly runId: string;
  readonly turnRef: string;
  readonly result: Promise<RunResult<unknown>>;
  readonly cancel: (reason: string) => void;
  readonly #run: RunContext;
  readonly #late: LateMessages;

  constructor(
    run: RunContext,
    result: Promise<RunResult<unknown>>,
    late: LateMessages,
    cancel: (reason: string) => void,
  ) {
    this.runId = run.id;
    this.turnRef = run.turnRef;
    this.result = result;
    this.cancel = cancel;
    this.#run = run;
    this.#late = late;
  }

  get pending(): readonly Approval[] {
    return this.#run.approvals.pending;
  }

  readonly decide = (id: string, decision: DecisionInput): Promise<Approval> =>
    this.#run.approvals.decide(id, decision);

  readonly steer = (input: UserInput): Promise<Receipt> => this.#send(input, false);

  readonly inject = (input: UserInput): Promise<Receipt> => this.#send(input, true);

  async #send(input: UserInput, once: boolean): Promise<Receipt> {
    return after(sentMessage(this.#run, input), (message) => this.#late.sent(this.#run, message, once));
  }
}
