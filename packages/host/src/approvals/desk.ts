import { type Approval, type Clock, type DecisionInput, TracksideError } from "trackside";
import type { ApprovalDesk, CheckDecision, Timer } from "trackside/engine";
import type { Approvals } from "./approvals.ts";

interface Waiting {
  readonly promise: Promise<Approval>;
  readonly settle: (approval: Approval) => void;
  timer: Timer | undefined;
}

/**
 * A run's own view of its approvals. The rows are the only truth (L4); this remembers what was read and who waits. It hears
 * of a decision because it was made here, because another process left a wake, or because the deadline has come.
 */
export class RunDesk implements ApprovalDesk {
  readonly #approvals: Approvals;
  readonly #clock: Clock;
  readonly #tenant: string;
  readonly #known = new Map<string, Approval>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #checks = new Map<string, CheckDecision>();
  #over = false;

  constructor(approvals: Approvals, clock: Clock, tenant: string, known: readonly Approval[]) {
    this.#approvals = approvals;
    this.#clock = clock;
    this.#tenant = tenant;
    for (const approval of known) this.#known.set(approval.id, approval);
  }

  get pending(): readonly Approval[] {
    return [...this.#known.values()].filter(({ state }) => state === "pending");
  }

  async open(approval: Approval, check: CheckDecision): Promise<Approval> {
    this.#checks.set(approval.id, check);
    const opened = await this.#approvals.open(this.#tenant, approval);
    this.#known.set(opened.id, opened);
    return opened;
  }

  get(id: string): Approval | undefined {
    return this.#known.get(id);
  }

  closed(id: string): Promise<Approval> {
    const known = this.#known.get(id);
    if (known === undefined) throw new Error(`the approval ${id} was never opened`);
    if (known.state !== "pending") return Promise.resolve(known);
    const waiting = this.#waiting.get(id) ?? this.#wait(known);
    void this.look(id); // it may have been decided while nobody looked
    return waiting.promise;
  }

  async decide(id: string, given: DecisionInput): Promise<Approval> {
    if (!this.#known.has(id))
      throw new TracksideError("approval_unknown", `There is no approval ${id} in this run`);
    return this.#heard(await this.#approvals.decide(this.#tenant, id, given, this.#checks.get(id)));
  }

  cancel(id: string, reason: string): void {
    this.#approvals
      .cancel(id, reason)
      .then((approval) => approval && this.#heard(approval))
      .catch(() => this.#retry(id, () => this.cancel(id, reason)));
  }

  /** Reads a record again: somebody may have decided it. */
  async look(id: string): Promise<void> {
    try {
      const approval = await this.#approvals.current(id);
      if (approval !== undefined) this.#heard(approval);
    } catch {
      // The store is away; whoever wakes us next looks again.
    }
  }

  /** The records that somebody waits for. */
  get waitingFor(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** A record as it was found decided. */
  decided(approval: Approval): void {
    this.#heard(approval);
  }

  /** Nobody waits any more. */
  close(): void {
    this.#over = true;
    for (const { timer } of this.#waiting.values()) timer?.stop();
    this.#waiting.clear();
  }

  #heard(approval: Approval): Approval {
    this.#known.set(approval.id, approval);
    if (approval.state === "pending") return approval;
    const waiting = this.#waiting.get(approval.id);
    this.#waiting.delete(approval.id);
    waiting?.timer?.stop();
    waiting?.settle(approval);
    return approval;
  }

  #wait(approval: Approval): Waiting {
    let settle: Waiting["settle"] = () => {};
    const promise = new Promise<Approval>((resolve) => {
      settle = resolve;
    });
    const waiting: Waiting = { promise, settle, timer: undefined };
    this.#waiting.set(approval.id, waiting);
    this.#watchDeadline(approval, waiting);
    return waiting;
  }

  /** Timers cannot be set for more than 24 days, and a clock may be changed: look again at least once an hour. */
  #watchDeadline(approval: Approval, waiting: Waiting): void {
    if (approval.deadline === null) return;
    const left = Math.max(0, approval.deadline - this.#clock.now());
    waiting.timer = this.#clock.after(Math.min(left, LONGEST_MS), () => {
      if (this.#over) return;
      this.#approvals
        .expire(approval.id)
        .then((now) => {
          if (now?.state === "pending") this.#watchDeadline(now, waiting);
          else if (now) this.#heard(now);
        })
        .catch(() => this.#retry(approval.id, () => this.#watchDeadline(approval, waiting)));
    });
  }

  #retry(id: string, again: () => void): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || this.#over) return;
    waiting.timer?.stop();
    waiting.timer = this.#clock.after(RETRY_MS, again);
  }
}

const LONGEST_MS = 3_600_000;
const RETRY_MS = 1000;
