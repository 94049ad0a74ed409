import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Done, Job } from "./job.ts";
import { Programs } from "./programs.ts";

/** What came of one process's part in a job: it saw the end, it killed itself, or something is wrong. */
export type Life = { readonly done: Done } | { readonly killed: true } | { readonly wrong: string };

/** Longer than any process takes here, on a machine that is busy with other things. */
const LIFE_MS = 120_000;

/** A process that plays jobs, one after the other, until one of them kills it. Then there is another. */
class Worker {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly ended: Promise<NodeJS.Signals | null>;
  #errors = "";

  constructor(programs: Programs) {
    this.#process = programs.start("worker");
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#process.stdin.on("error", () => {}); // it may die while it is being told
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    this.ended = once(this.#process, "exit").then(([, signal]) => signal);
  }

  async play(job: Job, lifeMs: number): Promise<Life> {
    this.#process.stdin.write(`${JSON.stringify(job)}\n`);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#process.kill("SIGKILL");
    }, lifeMs);
    const { done, value } = await this.#lines.next();
    clearTimeout(timer);
    if (!done) return { done: JSON.parse(value) };
    const signal = await this.ended;
    if (late) return { wrong: `it was not over after ${lifeMs} ms: a run was lost, or waits for somebody` };
    if (signal === "SIGKILL" && job.crashAt !== undefined) return { killed: true };
    return { wrong: `the process ended by itself: ${this.#errors}` };
  }

  stop(): Promise<unknown> {
    this.#process.kill("SIGKILL");
    return this.ended;
  }
}

/** Some processes, for many jobs at a time. */
export class Workers {
  readonly #programs = Programs.build();
  readonly #free: Worker[] = [];
  readonly #waiting: ((slot: undefined) => void)[] = [];
  #slots: number;

  constructor(slots: number) {
    this.#slots = slots;
    this.#programs.catch(() => {}); // whoever plays something hears of it
  }

  /** Plays one process's part of a job. One that was not killed is used again for the next. */
  async play(job: Job, lifeMs = LIFE_MS): Promise<Life> {
    if (this.#slots > 0) this.#slots -= 1;
    else await new Promise<undefined>((resolve) => this.#waiting.push(resolve));
    try {
      const worker = this.#free.pop() ?? new Worker(await this.#programs);
      const life = await worker.play(job, lifeMs);
      if ("done" in life) this.#free.push(worker);
      else await worker.stop();
      return life;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#slots += 1;
      else next(undefined);
    }
  }

  async stop(): Promise<void> {
    for (const worker of this.#free.splice(0)) await worker.stop();
    (await this.#programs).remove();
  }
}
