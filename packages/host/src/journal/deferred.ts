import { rows, type Store } from "../store/store.ts";
import { deferredBody } from "./row-codecs.ts";

interface Task {
  readonly name: string;
  run(input: unknown): void | Promise<void>;
}

export interface DeferredInit {
  readonly store: Store;
  readonly tasks: readonly Task[];
  readonly owner: () => string;
  readonly onError: (error: unknown, task: string) => void;
}

/**
 * Work for after runs (H7): it waits in the store, so that it is done though the process that deferred it is gone. At least
 * once: a process that dies in the middle leaves it to the next.
 */
export class DeferredWork {
  readonly #init: DeferredInit;
  readonly #tasks: Map<string, Task>;
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(init: DeferredInit) {
    this.#init = init;
    this.#tasks = new Map(init.tasks.map((task) => [task.name, task]));
  }

  /** Something may be there to do. Tasks that a run deferred here are known from then on. */
  kick(tasks: readonly Task[] = []): void {
    for (const task of tasks) if (!this.#tasks.has(task.name)) this.#tasks.set(task.name, task);
    if (this.#closed || this.#working !== undefined || this.#tasks.size === 0) return;
    this.#working = this.#work()
      .catch(() => {}) // the store is away: the next kick tries again
      .finally(() => {
        this.#working = undefined;
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#closed) {
      const next = await this.#take();
      if (next === undefined) return;
      const state = await this.#run(next.task, next.input);
      await this.#init.store.write((db) =>
        rows(db.updateTable("deferred").set({ state }).where("id", "=", next.id)),
      );
    }
  }

  async #take(): Promise<{ id: string; task: Task; input: unknown } | undefined> {
    const owner = this.#init.owner();
    const tasks = this.#tasks;
    return this.#init.store.write(function* (db) {
      const waiting = yield* rows(
        db
          .selectFrom("deferred")
          .leftJoin("processes", "processes.id", "deferred.owner")
          .select([
            "deferred.id",
            "deferred.body",
            "deferred.attempts",
            "deferred.state",
            "processes.id as living",
          ])
          .where("deferred.state", "in", ["waiting", "running"])
          .orderBy("deferred.created_at")
          .limit(100),
      );
      for (const { id, body, attempts, state, living } of waiting) {
        if (state === "running" && living !== null) continue;
        const { task: name, input } = deferredBody.read(body, id);
        const task = tasks.get(name);
        if (task === undefined) continue;
        const taken = yield* rows(
          db
            .updateTable("deferred")
            .set({ state: "running", owner, attempts: attempts + 1 })
            .where("id", "=", id)
            .where("attempts", "=", attempts)
            .returning("id"),
        );
        if (taken.length > 0) return { id, task, input };
      }
      return undefined;
    });
  }

  async #run(task: Task, input: unknown): Promise<"done" | "failed"> {
    try {
      await task.run(input);
      return "done";
    } catch (error) {
      try {
        this.#init.onError(error, task.name);
      } catch {
        // Who is told of failures has failed in turn; there is nobody left to tell.
      }
      return "failed";
    }
  }
}
