import type { Approval } from "trackside";
import type { Approvals } from "../approvals/approvals.ts";
import { RunDesk } from "../approvals/desk.ts";

/** Nobody has decided yet, and whoever asked does not wait here. */
export class StillPending extends Error {
  override readonly name = "StillPending";
  readonly deadline: number | null;

  constructor({ id, deadline }: Approval) {
    super(`the approval ${id} is not decided yet`);
    this.deadline = deadline;
  }
}

/** A desk that looks once instead of waiting: the loop is elsewhere and asks again when there is something to hear (L4). */
export class PassingDesk extends RunDesk {
  readonly #approvals: Approvals;
  readonly #cancelling = new Map<string, Promise<Approval | undefined>>();

  constructor(approvals: Approvals, ...rest: RestOf<ConstructorParameters<typeof RunDesk>>) {
    super(approvals, ...rest);
    this.#approvals = approvals;
  }

  override async closed(id: string): Promise<Approval> {
    await null; // a cancel that came before is said right after this was asked
    const now = (await this.#cancelling.get(id)) ?? (await this.#approvals.expire(id));
    if (now === undefined) throw new Error(`the approval ${id} was never opened`);
    if (now.state === "pending") throw new StillPending(now);
    this.decided(now);
    return now;
  }

  override cancel(id: string, reason: string): void {
    this.#cancelling.set(id, this.#approvals.cancel(id, reason));
  }
}

type RestOf<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;
