import type { StoreSeams } from "../../../src/store/index.ts";

/** Where a process kills itself: before or after its n-th durable write. Written `12:before`. */
export const CRASH_AT = "TRACKSIDE_CRASH_AT";

/** A store's seams that count its durable writes, and end the process at the one that `crashAt` names. */
export class CrashPoint implements StoreSeams {
  readonly #n: number;
  readonly #when: string;
  #writes = 0;

  constructor(crashAt: string | undefined) {
    const [, n, when] = /^([1-9]\d*):(before|after)$/.exec(crashAt ?? "") ?? [];
    if (crashAt && n === undefined)
      throw new Error(
        `${CRASH_AT} is ${JSON.stringify(crashAt)}; write a number and when, such as 12:before or 12:after`,
      );
    this.#n = Number(n ?? 0);
    this.#when = when ?? "";
  }

  get writes(): number {
    return this.#writes;
  }

  beforeCommit(): void {
    this.#writes += 1;
    if (this.#writes === this.#n && this.#when === "before") die();
  }

  afterCommit(): void {
    if (this.#writes === this.#n && this.#when === "after") die();
  }
}

/** No exit handlers, no flushing, nothing tidied up: as if the power of this process alone were cut. */
function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;); // not one instruction of the program follows
}
