import { claimRuns } from "../../../src/journal/claim.ts";
import {
  type Builder,
  type Operation,
  postgres,
  rows,
  type Store,
  sqlite,
} from "../../../src/store/index.ts";
import type { Done, Job } from "./job.ts";

/** How one life's part in a job ended: it saw the end of the job, it crashed, or something is wrong. */
export type Life = { readonly done: Done } | { readonly killed: true } | { readonly wrong: string };

/** Plays lives: real processes, or simulated ones in threads. */
export interface Lives {
  /** Plays the n-th life of a job. `lifeMs` is the longest it may take. */
  play(job: Job, nth: number, lifeMs?: number): Promise<Life>;
  stop(): Promise<void>;
}

/** Longer than any life takes, on a machine that is busy with other work. */
export const LIFE_MS = 120_000;

export function tookTooLong(lifeMs: number): Life {
  return { wrong: `it was not over after ${lifeMs} ms: a run was lost, or waits for a decision` };
}

/** Runs that were claimed from a life whose last write is still on its way. */
export interface Overtaken {
  /** How many rows of those runs have landed since. There must be none (X4). */
  landed(): Promise<number>;
}

/** Claims every open run of a store, as a process does that believes the owner dead. */
export async function overtake(place: string): Promise<Overtaken> {
  const { claimed, before } = await inStore(place, (store) =>
    store.write(function* (db) {
      const names = (yield* rows(db.selectFrom("runs").select("agent").distinct())).map(({ agent }) => agent);
      const [isActive, lapsed] = [() => false, () => true];
      const init = { me: "another", agents: names, workflows: names, limit: 100, isActive, lapsed };
      const ids = (yield* claimRuns(db, { ...init, at: Date.now() })).claimed.map(({ runId }) => runId);
      return { claimed: ids, before: yield* rowsOf(db, ids) };
    }),
  );
  const now = () => inStore(place, (store) => store.read((db) => rowsOf(db, claimed)));
  return { landed: async () => (await now()) - before };
}

function* rowsOf(db: Builder, runs: readonly string[]): Operation<number> {
  return (yield* rows(
    db
      .selectFrom("commits")
      .select("ord")
      .where("run_id", "in", [...runs]),
  )).length;
}

async function inStore<T>(place: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = place.startsWith("postgres:") ? postgres(place) : sqlite(place, { sync: "normal" });
  await store.open();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** How a life ended that was overtaken: it crashed, unless a write of it landed all the same. */
export async function judgeLate({ landed }: Overtaken): Promise<Life> {
  const count = await landed();
  return count === 0
    ? { killed: true }
    : { wrong: `${count} rows landed after another owner had claimed the run` };
}

/** Lets a number of tasks go on at once; the others wait in line. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
