import { claimRuns } from "../../../src/journal/claim.ts";
import { postgres, rows, sqlite } from "../../../src/store/index.ts";
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

/** Gives every open run of a store to another owner, as a process does that believes the first one dead. */
export async function overtake(place: string): Promise<void> {
  const store = place.startsWith("postgres:") ? postgres(place) : sqlite(place, { sync: "normal" });
  await store.open();
  await store.write(function* (db) {
    const names = (yield* rows(db.selectFrom("runs").select("agent").distinct())).map(({ agent }) => agent);
    const isActive = () => false;
    const lapsed = () => true;
    const at = Date.now();
    yield* claimRuns(db, {
      me: "another",
      agents: names,
      workflows: names,
      limit: 100,
      isActive,
      lapsed,
      at,
    });
  });
  await store.close();
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
