import { type Approval, type Clock, type DecisionInput, TracksideError } from "trackside";
import { type CheckDecision, decisionOf, readDecision, sameOrConflict } from "trackside/engine";
import { mayStillRun } from "../journal/claim.ts";
import type { Builder, Operation, Store, Work } from "../store/store.ts";
import {
  type ApprovalFilter,
  type ApprovalRecord,
  closeApproval,
  findApproval,
  insertApproval,
  listApprovals,
  wake,
} from "./records.ts";

/** What else happens when a record is opened or closed, in the same transaction: audit, webhooks, remembered decisions. */
export interface ApprovalListener {
  /** May decide at once, as a remembered decision does (L8). */
  opened?(db: Builder, tenant: string, approval: Approval): Operation<Approval | undefined>;
  closed?(db: Builder, tenant: string, approval: Approval, given: DecideInput | undefined): Operation<void>;
}

/** What a decider says, from anywhere. */
export interface DecideInput extends DecisionInput {
  /** The same id again answers the same record, however often it is sent (X10). */
  readonly requestId?: string;
  /** Decide calls like this one the same way from now on. */
  readonly remember?: {
    /** Unix ms; null or nothing lasts until it is revoked. */
    readonly until?: number | null;
    /** The very same arguments (the default), or every call of the tool. */
    readonly match?: "exact-arguments" | "tool";
    /** Keys of the run's scope that a later run has to share, such as `user`. */
    readonly scopeKeys?: readonly string[];
  };
}

/** Says what is wrong with a decision about a call of a tool that is known here. */
export type CheckTool = (approval: Approval, decision: DecisionInput) => Promise<string | undefined>;

export interface ApprovalsInit {
  readonly store: Store;
  readonly clock: Clock;
  readonly listener: ApprovalListener;
  readonly checkTool: CheckTool;
  /** Somebody decided: tell the run if it is under way here. */
  readonly onClosed: (approval: Approval) => void;
}

/**
 * Every approval there is, whoever asked for it and wherever it is decided. The row is the only truth: humans, deadlines
 * and cancels close it by one compare-and-set, and it works while no engine is up (L4).
 */
export class Approvals {
  readonly #init: ApprovalsInit;

  constructor(init: ApprovalsInit) {
    this.#init = init;
  }

  async list(filter: ApprovalFilter): Promise<readonly ApprovalRecord[]> {
    return this.#init.store.read((db) => listApprovals(db, filter));
  }

  async get(tenant: string, id: string): Promise<Approval | undefined> {
    const found = await this.#init.store.read((db) => findApproval(db, id));
    return found?.tenant === tenant ? found.approval : undefined;
  }

  /** As `get`, for the run itself. */
  async current(id: string): Promise<Approval | undefined> {
    return (await this.#init.store.read((db) => findApproval(db, id)))?.approval;
  }

  async open(tenant: string, approval: Approval): Promise<Approval> {
    const { listener } = this.#init;
    return this.#init.store.write(function* (db) {
      const known = yield* findApproval(db, approval.id);
      if (known !== undefined) return known.approval;
      yield* insertApproval(db, tenant, approval);
      const decided = listener.opened && (yield* listener.opened(db, tenant, approval));
      if (decided === undefined) return approval;
      yield* closeApproval(db, decided);
      yield* listener.closed?.(db, tenant, decided, undefined) ?? NOTHING();
      return decided;
    });
  }

  async decide(tenant: string, id: string, given: DecideInput, check?: CheckDecision): Promise<Approval> {
    const { requestId, remember, ...decision } = given;
    const found = await this.#find(tenant, id);
    const { input, state } = readDecision(found, decision);
    if (remember !== undefined && input.editedArguments !== undefined)
      throw new TracksideError(
        "decision_invalid",
        "remember: what was edited cannot be remembered: calls like this one would run unedited. Decide without one of the two.",
      );
    const approval = this.#isLate(found) ? ((await this.expire(id)) ?? found) : found;
    if (approval.state !== "pending") return answered(approval, requestId, state, input);
    if (state === "approved") {
      const problem = check ? await check(input) : await this.#init.checkTool(approval, input);
      if (problem !== undefined) throw new TracksideError("decision_invalid", problem);
    }
    const { clock, listener } = this.#init;
    const closed = await this.#init.store.write(function* (db): Operation<Approval | undefined> {
      const at = clock.now(); // looked at here, as a write may have to wait
      if (approval.deadline !== null && approval.deadline <= at) return undefined;
      if (input.choice === "run" && (yield* mayStillRun(db, approval.run_id)))
        throw new TracksideError("decision_invalid", STILL_RUNNING);
      const made = {
        ...decisionOf(input, at),
        ...(requestId === undefined ? {} : { request_id: requestId }),
      };
      const decided: Approval = { ...approval, state, decision: made };
      if (!(yield* closeApproval(db, decided))) return undefined;
      yield* wake(db, approval.run_id, "decided", at);
      yield* listener.closed?.(db, tenant, decided, given) ?? NOTHING();
      return decided;
    });
    if (closed) {
      this.#init.onClosed(closed);
      return closed;
    }
    return answered((await this.expire(id)) ?? found, requestId, state, input);
  }

  #isLate({ state, deadline }: Approval): boolean {
    return state === "pending" && deadline !== null && deadline <= this.#init.clock.now();
  }

  /** The run was stopped: nobody has to decide any more. Answers how the record stands. */
  async cancel(id: string, reason: string): Promise<Approval | undefined> {
    const by = { choice: "cancel", by: "cancel", reason, at: this.#init.clock.now() };
    return this.#close(id, (approval) => ({ ...approval, state: "cancelled", decision: by }));
  }

  /** Closes a record whose deadline has passed. Answers how it stands. */
  async expire(id: string): Promise<Approval | undefined> {
    const current = await this.current(id);
    if (current === undefined || !this.#isLate(current)) return current;
    const by = { choice: "timeout", by: "deadline", at: this.#init.clock.now() };
    return this.#close(id, (approval) => ({ ...approval, state: "timed_out", decision: by }));
  }

  async #close(id: string, closing: (approval: Approval) => Approval): Promise<Approval | undefined> {
    const { listener, clock } = this.#init;
    const work: Work<Approval | undefined> = function* (db) {
      const found = yield* findApproval(db, id);
      if (found === undefined || found.approval.state !== "pending") return found?.approval;
      const closed = closing(found.approval);
      if (!(yield* closeApproval(db, closed))) return (yield* findApproval(db, id))?.approval;
      yield* wake(db, closed.run_id, "decided", clock.now());
      yield* listener.closed?.(db, found.tenant, closed, undefined) ?? NOTHING();
      return closed;
    };
    const closed = await this.#init.store.write(work);
    if (closed) this.#init.onClosed(closed);
    return closed;
  }

  async #find(tenant: string, id: string): Promise<Approval> {
    const found = await this.get(tenant, id);
    if (found === undefined) throw new TracksideError("approval_unknown", `There is no approval ${id}`);
    return found;
  }
}

const STILL_RUNNING =
  'choice: "run" has to wait until the process that started it is known to be gone; it may still be running it. Try again later, or end that process.';

function* NOTHING(): Operation<void> {}

/** A closed record for somebody who decides it now: the record itself, or who won (L4, X10). */
function answered(
  winner: Approval,
  requestId: string | undefined,
  state: Approval["state"],
  input: DecisionInput,
): Approval {
  const isSame = requestId !== undefined && winner.decision?.request_id === requestId;
  return isSame ? winner : sameOrConflict(winner, state, input);
}
