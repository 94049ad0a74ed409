import type { Store, StoreSeams, Work } from "../../../src/store/index.ts";

/** Environment variable that says where a process kills itself. Written `12:before`. */
export const CRASH_AT = "TRACKSIDE_CRASH_AT";

/**
 * The n-th durable write of a life, and what becomes of it. `before`: it does not land. `after`: it lands and is never
 * acknowledged. `late`: it is on its way when the owner is declared dead and its runs are claimed, and arrives after that.
 */
const POINT = /^([1-9]\d*):(before|after|late)$/;

/** How a life ends: a process kills itself, a simulated one freezes. */
export interface Death {
  /** Ends the life. A process never returns from here. */
  die(): void;
  /** Waits until the runs of this life were claimed by another owner. */
  overtaken(): Promise<void>;
}

/** Thrown into a simulated life that has crashed. Nothing that it still tries to write lands. */
export class Crashed extends Error {
  override readonly name = "Crashed";
}

/** Counts the durable writes of one life, and ends it at the one that `crashAt` names. */
export class CrashPoint implements StoreSeams {
  readonly #n: number;
  readonly #when: string;
  readonly #death: Death;
  readonly #listeners = new Set<() => void>();
  #writes = 0;
  #calls = 0;
  /** `held`: everything has stopped, and one last write is on its way. `arriving`: that write alone may land. */
  #state: "alive" | "held" | "arriving" | "dead" = "alive";

  constructor(crashAt: string | undefined, death: Death) {
    const [, n, when] = POINT.exec(crashAt ?? "") ?? [];
    if (crashAt && n === undefined)
      throw new Error(
        `${CRASH_AT} is ${JSON.stringify(crashAt)}; write a number and when, such as 12:before or 12:after`,
      );
    this.#n = Number(n ?? 0);
    this.#when = when ?? "";
    this.#death = death;
  }

  /** Calls that write: those that come together share a durable write. */
  get calls(): number {
    return this.#calls;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Throws in a life that is over: its effects on the world do not happen. */
  check(): void {
    if (this.#state !== "alive") throw new Crashed();
  }

  beforeCommit(): void {
    if (this.#state === "arriving") return;
    this.check();
    this.#writes += 1;
    if (this.#writes === this.#n && this.#when === "before") this.#die();
  }

  afterCommit(): void {
    if (this.#writes === this.#n && this.#when === "after") this.#die();
    for (const listener of [...this.#listeners]) listener();
  }

  #die(): never {
    this.#state = "dead";
    this.#death.die();
    throw new Crashed();
  }

  /** Resolves after the next commit of this life; now and then without one, as other connections write too. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => listener(), LOOK_MS);
      const listener = () => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
  }

  /** The store as this life sees it: once the life is over, the store never answers again. */
  guard(store: Store): Store {
    const answered = async <T>(ask: () => Promise<T>): Promise<T> => {
      if (this.#state !== "alive") return NEVER;
      try {
        const answer = await ask();
        return this.#state === "alive" ? answer : NEVER;
      } catch (error) {
        if (this.#state !== "alive") return NEVER;
        throw error;
      }
    };
    const written = <T>(write: () => Promise<T>): Promise<T> => {
      this.#calls += 1;
      const isLate = this.#state === "alive" && this.#calls === this.#n && this.#when === "late";
      return isLate ? this.#late(write) : answered(write);
    };
    return {
      name: store.name,
      ...(store.reach === undefined ? {} : { reach: store.reach }),
      open: () => answered(() => store.open()),
      close: () => answered(() => store.close()),
      read: (work) => answered(() => store.read(work)),
      write: <T>(work: Work<T>) => written(() => store.write(work)),
      append: (entry, with_) => written(() => store.append(entry, with_)),
      onChange: (listener) => store.onChange(listener),
    };
  }

  /** Everything else of this life has stopped. Its last write arrives when another owner has its runs. */
  async #late(write: () => Promise<unknown>): Promise<never> {
    this.#state = "held";
    await this.#death.overtaken();
    this.#state = "arriving";
    await write().catch(() => {}); // refused, as it should be
    this.#state = "dead";
    this.#death.die();
    return NEVER;
  }
}

const LOOK_MS = 100;
const NEVER = new Promise<never>(() => {});
