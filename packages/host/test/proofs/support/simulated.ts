import type { Worker } from "node:worker_threads";
import type { Job } from "./job.ts";
import {
  judgeLate,
  LIFE_MS,
  type Life,
  type Lives,
  type Overtaken,
  overtake,
  Slots,
  tookTooLong,
} from "./lives.ts";
import { Programs } from "./programs.ts";

export interface SimulatedInit {
  /** Lives that are played at once: most of a life is waiting. Default: 8. */
  readonly atOnce?: number;
  /** Frozen lives that a thread keeps, with their connections, before it is terminated. Default: 40. */
  readonly mostFrozen?: number;
}

interface Said {
  readonly id: number;
  readonly held?: true;
  readonly life?: Life;
}

/** A thread and the lives it plays. */
class Thread {
  readonly #worker: Worker;
  readonly #playing = new Map<number, { readonly job: Job; end(life: Life): void }>();
  readonly #overtaken = new Map<number, Overtaken>();
  readonly #ended: Promise<unknown>;
  #last = 0;
  #frozen = 0;

  constructor(programs: Programs) {
    this.#worker = programs.thread("simulated-worker");
    this.#ended = new Promise((resolve) => this.#worker.once("exit", resolve));
    this.#worker.on("message", (said: Said) => void this.#hear(said));
    this.#worker.on("error", (error) => {
      for (const { end } of this.#playing.values()) end({ wrong: `the thread ended: ${error.stack}` });
    });
  }

  get frozen(): number {
    return this.#frozen;
  }

  get isIdle(): boolean {
    return this.#playing.size === 0;
  }

  play(job: Job, lifeMs: number): Promise<Life> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      const end = (life: Life) => {
        clearTimeout(timer);
        this.#playing.delete(id);
        if (!("done" in life)) this.#frozen += 1;
        resolve(life);
      };
      const timer = setTimeout(() => end(tookTooLong(lifeMs)), lifeMs);
      this.#playing.set(id, { job, end });
      this.#worker.postMessage({ id, job });
    });
  }

  async #hear({ id, held, life }: Said): Promise<void> {
    const playing = this.#playing.get(id);
    if (playing === undefined) return;
    const overtaken = this.#overtaken.get(id);
    try {
      if (held) {
        this.#overtaken.set(id, await overtake(playing.job.place));
        this.#worker.postMessage({ id });
      } else if (life !== undefined) playing.end(overtaken ? await judgeLate(overtaken) : life);
    } catch (error) {
      playing.end({ wrong: `its runs could not be claimed: ${String(error)}` });
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
    await this.#ended;
  }
}

/**
 * Simulated lives: engines in threads, each under the identity of a process that does not exist. The n-th lives of all jobs
 * share a thread, so that nothing in memory leads from one life of a job to the next.
 */
export class SimulatedLives implements Lives {
  readonly #programs = Programs.build();
  readonly #slots: Slots;
  readonly #mostFrozen: number;
  readonly #threads = new Map<number, Thread>();
  readonly #full = new Set<Thread>();

  constructor({ atOnce = 8, mostFrozen = 40 }: SimulatedInit = {}) {
    this.#slots = new Slots(atOnce);
    this.#mostFrozen = mostFrozen;
    this.#programs.catch(() => {}); // every `play` rejects with it
  }

  play(job: Job, nth: number, lifeMs = LIFE_MS): Promise<Life> {
    return this.#slots.run(async () => {
      const programs = await this.#programs;
      const thread = this.#threads.get(nth) ?? new Thread(programs);
      this.#threads.set(nth, thread);
      const life = await thread.play(job, lifeMs);
      if (thread.frozen >= this.#mostFrozen) {
        if (this.#threads.get(nth) === thread) this.#threads.delete(nth);
        this.#full.add(thread);
        await this.#stopFull();
      }
      return life;
    });
  }

  /** A thread is terminated once all its lives are over: one that is stopped while it loads a driver ends the process. */
  async #stopFull(): Promise<void> {
    for (const thread of this.#full)
      if (thread.isIdle) {
        this.#full.delete(thread);
        await thread.stop();
      }
  }

  /** Terminates every thread, and with it all connections of frozen lives. Call it when no life is played. */
  async stopThreads(): Promise<void> {
    const threads = [...this.#threads.values(), ...this.#full];
    this.#threads.clear();
    this.#full.clear();
    await Promise.all(threads.map((thread) => thread.stop()));
  }

  async stop(): Promise<void> {
    await this.stopThreads();
    (await this.#programs).remove();
  }
}
