import { TracksideError } from "../errors.ts";
import type { Approval, ApprovalState, Decision } from "../schema/approval.ts";
import { frozenCopy, type Json, type JsonObject, strictJsonObject } from "../schema/json.ts";
import { preview } from "../schema/preview.ts";
import type { Clock, Timer } from "./clock.ts";
import { digestOf } from "./digest.ts";
import type { Maybe } from "./maybe.ts";

/** What a decider says. */
export interface DecisionInput {
  /** `approve` or `reject`; for a client tool `submit` or `reject`. */
  readonly choice: string;
  /** Why; the model reads it when the call is rejected. */
  readonly reason?: string;
  /** Other arguments to run with. They are checked, and pass the rails again. */
  readonly editedArguments?: JsonObject;
  /** For a client tool: its result. */
  readonly response?: Json;
  readonly by?: string;
}

/** Asked for each decision of a run: `run(input, { approve })`. */
export type Approve = (approval: Approval) => DecisionInput | Promise<DecisionInput>;

/** Says what is wrong with an edit or a response; undefined lets it stand. */
export type CheckDecision = (decision: DecisionInput) => string | undefined | Promise<string | undefined>;

/** The approvals of one run: in memory, or in a store. */
export interface ApprovalDesk {
  readonly pending: readonly Approval[];
  /** Opens a record; it can be decided from now on. The same record again is the same record. */
  open(approval: Approval, check: CheckDecision): Maybe<Approval>;
  get(id: string): Approval | undefined;
  /** Resolves when a record is decided. */
  closed(id: string): Promise<Approval>;
  decide(id: string, given: DecisionInput): Promise<Approval>;
  /** Closes a record because its run was stopped. */
  cancel(id: string, reason: string): void;
}

interface Open {
  approval: Approval;
  readonly check: CheckDecision;
  readonly settle: (approval: Approval) => void;
  readonly closed: Promise<Approval>;
  timer: Timer | undefined;
}

const CHOICES: Readonly<Record<string, "approved" | "rejected">> = {
  approve: "approved",
  submit: "approved",
  reject: "rejected",
  // Of a call whose outcome is unknown (X3): it ran, and here is the result; it did not, run it; leave it.
  ran: "approved",
  run: "approved",
  give_up: "rejected",
  // Of a question that a running tool asks.
  accept: "approved",
  decline: "rejected",
};

/**
 * The approvals of a run in this process. A record changes state once, by whoever comes first: a human, the deadline or a
 * cancel. Deciding it the same way again answers the same record; deciding it otherwise is told who won (L4).
 */
export class Approvals implements ApprovalDesk {
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get pending(): readonly Approval[] {
    return [...this.#open.values()]
      .map(({ approval }) => approval)
      .filter(({ state }) => state === "pending");
  }

  open(approval: Approval, check: CheckDecision): Approval {
    const known = this.#open.get(approval.id);
    if (known !== undefined) return known.approval;
    let settle: Open["settle"] = () => {};
    const closed = new Promise<Approval>((resolve) => {
      settle = resolve;
    });
    const open: Open = { approval: Object.freeze(approval), check, settle, closed, timer: undefined };
    this.#open.set(approval.id, open);
    if (approval.deadline !== null) {
      const left = Math.max(0, approval.deadline - this.#clock.now());
      open.timer = this.#clock.after(left, () =>
        this.#close(open, "timed_out", { choice: "timeout", by: "deadline", at: this.#clock.now() }),
      );
    }
    return open.approval;
  }

  get(id: string): Approval | undefined {
    return this.#open.get(id)?.approval;
  }

  closed(id: string): Promise<Approval> {
    const open = this.#open.get(id);
    if (open === undefined) throw new Error(`the approval ${id} was never opened`);
    return open.closed;
  }

  async decide(id: string, given: DecisionInput): Promise<Approval> {
    const open = this.#open.get(id);
    if (open === undefined)
      throw new TracksideError("approval_unknown", `There is no approval ${id} in this run`);
    const { input, state } = readDecision(open.approval, given);
    if (open.approval.state === "pending" && state === "approved") {
      const problem = await open.check(input);
      if (problem !== undefined) throw new TracksideError("decision_invalid", problem);
    }
    if (open.approval.state !== "pending") return sameOrConflict(open.approval, state, input);
    return this.#close(open, state, decisionOf(input, this.#clock.now()));
  }

  cancel(id: string, reason: string): void {
    const open = this.#open.get(id);
    if (open?.approval.state === "pending") {
      this.#close(open, "cancelled", { choice: "cancel", reason, by: "cancel", at: this.#clock.now() });
    }
  }

  /** Compare and set: only what is pending can be closed. */
  #close(open: Open, state: ApprovalState, decision: Decision): Approval {
    if (open.approval.state !== "pending") return open.approval;
    open.timer?.stop();
    open.approval = Object.freeze({ ...open.approval, state, decision: Object.freeze(decision) });
    open.settle(open.approval);
    return open.approval;
  }
}

/** Reads what a decider said: one of the record's choices, in JSON, and the state it leads to. */
export function readDecision(
  { choices }: Approval,
  given: DecisionInput,
): { input: DecisionInput; state: "approved" | "rejected" } {
  const input = ownCopy(given);
  const state = Object.hasOwn(CHOICES, input.choice) ? CHOICES[input.choice] : undefined;
  if (state !== undefined && choices.includes(input.choice)) return { input, state };
  const allowed = choices.map((choice) => `"${choice}"`).join(" or ");
  const problem = `choice: ${allowed} expected, ${JSON.stringify(input.choice)} given`;
  throw new TracksideError("decision_invalid", problem);
}

/** A decision as it is kept. */
export function decisionOf(
  { choice, reason, response, editedArguments, by = "approver" }: DecisionInput,
  at: number,
): Decision {
  return {
    choice,
    by,
    at,
    ...(reason === undefined ? {} : { reason }),
    ...(response === undefined ? {} : { response }),
    ...(editedArguments === undefined ? {} : { edited_arguments: editedArguments }),
  };
}

/** What was decided is ours from here on: whoever decided cannot change it any more. */
function ownCopy(given: DecisionInput): DecisionInput {
  if (strictJsonObject.safeParse(defined(given)).success) return frozenCopy(given);
  const problem = `a decision is { choice, reason?, editedArguments?, response?, by? } in JSON; ${preview(given)} given`;
  throw new TracksideError("decision_invalid", problem);
}

/** A key without a value is as good as none. */
function defined(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** A closed record: the same decision again answers it, another one is told who won (L4). */
export function sameOrConflict(approval: Approval, state: ApprovalState, input: DecisionInput): Approval {
  const { decision } = approval;
  const same = (a: Json | undefined, b: Json | undefined) => digestOf(a ?? null) === digestOf(b ?? null);
  const sameEdit = same(decision?.edited_arguments, input.editedArguments);
  if (approval.state === state && sameEdit && same(decision?.response, input.response)) return approval;
  const when =
    approval.state === "timed_out"
      ? "its deadline has passed"
      : `it was ${approval.state} by ${decision?.by}`;
  throw new TracksideError("approval_conflict", `The approval ${approval.id} is closed: ${when}`);
}
