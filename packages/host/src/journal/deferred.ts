import type { DeferringRun } from "trackside/engine";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import { deferredBody } from "./row-codecs.ts";

interface Task {
  readonly name: string;
  run(input: unknown): void | Promise<void>;
}

export interface DeferredInit {
  readonly store: Store;
  readonly tasks: readonly Task[];
  readonly owner: () => string;
  readonly onError: (error: unknown, task: string, run: DeferringRun) => void;
  /** Called once for each name that rows wait for and no task here has. */
  readonly onUnregistered: (task: string) => void;
}

interface Taken extends DeferringRun {
  readonly task: string;
  readonly id: string;
  readonly run: Task["run"];
  readonly input: unknown;
}

/** Rows looked at in one read. */
const PAGE = 100;

/**
 * Work for after runs (H7). It waits in the store, so that another process does it when the one that deferred it dies. At
 * least once: a process that dies in the middle leaves the task to the next. Rows hold a task's name, so every task is
 * registered with the host: a closure would be gone after a restart.
 */
export class DeferredWork {
  readonly #init: DeferredInit;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #reported = new Set<string>();
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(init: DeferredInit) {
    this.#init = init;
    this.#tasks = new Map(init.tasks.map((task) => [task.name, task]));
  }

  /** Looks for work, unless that is under way. */
  kick(): void {
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
      const state = await this.#run(next);
      await this.#init.store.write((db) =>
        rows(db.updateTable("deferred").set({ state }).where("id", "=", next.id)),
      );
    }
  }

  /** The oldest row that a task here can do. Rows of other tasks are passed over, however many there are. */
  async #take(): Promise<Taken | undefined> {
    const owner = this.#init.owner();
    for (let after: Row | undefined; ; ) {
      const page = await this.#init.store.read((db) => waitingRows(db, after));
      for (const row of page) {
        const task = this.#taskOf(row);
        if (task === undefined || (row.state === "running" && row.living !== null)) continue;
        const taken = await this.#init.store.write((db) =>
          rows(
            db
              .updateTable("deferred")
              .set({ state: "running", owner, attempts: row.attempts + 1 })
              .where("id", "=", row.id)
              .where("attempts", "=", row.attempts)
              .returning("id"),
          ),
        );
        if (taken.length > 0) return task;
      }
      if (page.length < PAGE) return undefined;
      after = page.at(-1);
    }
  }

  #taskOf({ id, body, tenant, run_id }: Row): Taken | undefined {
    const { task: name, input } = deferredBody.read(body, id);
    const task = this.#tasks.get(name);
    if (task !== undefined)
      return { id, task: name, tenant, runId: run_id, run: (given) => task.run(given), input };
    if (!this.#reported.has(name)) this.#init.onUnregistered(name);
    this.#reported.add(name);
    return undefined;
  }

  async #run({ run, input, task, runId, tenant }: Taken): Promise<"done" | "failed"> {
    try {
      await run(input);
      return "done";
    } catch (error) {
      try {
        this.#init.onError(error, task, { runId, tenant });
      } catch {
        // A handler of failures that fails in turn changes nothing.
      }
      return "failed";
    }
  }
}

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly body: string;
  readonly attempts: number;
  readonly state: string;
  readonly created_at: number;
  /** The process that runs it, if it still lives. */
  readonly living: string | null;
}

function* waitingRows(db: Builder, after: Row | undefined): Operation<readonly Row[]> {
  let query = db
    .selectFrom("deferred")
    .leftJoin("processes", "processes.id", "deferred.owner")
    .select([
      "deferred.id",
      "deferred.tenant",
      "deferred.run_id",
      "deferred.body",
      "deferred.attempts",
      "deferred.state",
      "deferred.created_at",
      "processes.id as living",
    ])
    .where("deferred.state", "in", ["waiting", "running"])
    .orderBy("deferred.created_at")
    .orderBy("deferred.id")
    .limit(PAGE);
  if (after !== undefined)
    query = query.where((where) =>
      where.or([
        where("deferred.created_at", ">", after.created_at),
        where.and([where("deferred.created_at", "=", after.created_at), where("deferred.id", ">", after.id)]),
      ]),
    );
  return yield* rows(query);
}
