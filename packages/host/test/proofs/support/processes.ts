import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
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

const LOOK_MS = 20;

/** A process that plays jobs, one after the other, until one of them kills it. */
class Process {
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
    let overtaken: Overtaken | undefined;
    const timer = setTimeout(() => {
      late = true;
      this.#process.kill("SIGKILL");
    }, lifeMs);
    try {
      for (;;) {
        const { done, value } = await this.#lines.next();
        if (done) break;
        const said = JSON.parse(value);
        if (said.held === undefined) return { done: said };
        await this.#stopped();
        overtaken = await overtake(job.place);
        this.#process.kill("SIGCONT");
      }
    } finally {
      clearTimeout(timer);
    }
    const signal = await this.ended;
    if (late) return tookTooLong(lifeMs);
    if (signal === "SIGKILL" && job.crashAt !== undefined)
      return overtaken ? judgeLate(overtaken) : { killed: true };
    return { wrong: `the process ended by itself: ${this.#errors}` };
  }

  /** Waits until the process has stopped itself. */
  async #stopped(): Promise<void> {
    for (;;) {
      const stat = await readFile(`/proc/${this.#process.pid}/stat`, "utf8");
      if (stat.charAt(stat.lastIndexOf(")") + 2) === "T") return;
      await sleep(LOOK_MS);
    }
  }

  stop(): Promise<unknown> {
    this.#process.kill("SIGKILL");
    return this.ended;
  }
}

/** Lives in real processes, which die by `kill -9`. A process that was not killed plays the next life of another job. */
export class ProcessLives implements Lives {
  readonly #programs = Programs.build();
  readonly #free: Process[] = [];
  readonly #slots: Slots;

  constructor(atOnce: number) {
    this.#slots = new Slots(atOnce);
    this.#programs.catch(() => {}); // every `play` rejects with it
  }

  play(job: Job, _nth: number, lifeMs = LIFE_MS): Promise<Life> {
    return this.#slots.run(async () => {
      const process = this.#free.pop() ?? new Process(await this.#programs);
      const life = await process.play(job, lifeMs);
      if ("done" in life) this.#free.push(process);
      else await process.stop();
      return life;
    });
  }

  async stop(): Promise<void> {
    for (const process of this.#free.splice(0)) await process.stop();
    (await this.#programs).remove();
  }
}
