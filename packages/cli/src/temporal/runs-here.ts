import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { RunChange, Trackside } from "@trackside/host";

/** What is remembered of runs that went on elsewhere. */
const KEPT = 10_000;

/**
 * Notices which runs a worker works on: their effects are activities, and their ids those of the workflows. Any worker may
 * perform the next effect of a run, so "here" means that this one performed some.
 */
export class RunsHere {
  readonly #trackside: Trackside;
  readonly #tell: (change: RunChange) => void;
  readonly #known = new Map<string, Promise<Pick<RunChange, "tenant" | "agent"> | undefined>>();
  /** Effects under way, by run. */
  readonly #under = new Map<string, number>();
  #leaving: readonly string[] = [];
  #telling: Promise<void> = Promise.resolve();

  constructor(trackside: Trackside, tell: (change: RunChange) => void) {
    this.#trackside = trackside;
    this.#tell = tell;
  }

  /** From now on it is others that go on: what is under way is left to them, unless it ends first. */
  leave(): void {
    this.#leaving = [...this.#under.keys()];
  }

  /** How many runs were under way when it was told to leave, and have not ended here since. */
  get left(): number {
    return this.#leaving.filter((runId) => this.#known.has(runId)).length;
  }

  /** Resolves when everything noticed so far has been told. */
  get told(): Promise<void> {
    return this.#telling;
  }

  readonly interceptor: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const { activityType } = info;
        const runId = info.workflowExecution?.workflowId;
        if (runId === undefined) return next(input);
        this.#under.set(runId, (this.#under.get(runId) ?? 0) + 1);
        try {
          const opens = activityType === "open" || activityType === "openChild";
          if (!opens) this.#meet(runId, "taken_up");
          const answer = await next(input);
          if (opens) this.#meet(runId, isBegun(answer) ? "taken_up" : "started");
          if (activityType === "write") await this.#ended(runId);
          if (activityType === "park") this.#over(runId, "parked");
          return answer;
        } finally {
          const left = (this.#under.get(runId) ?? 1) - 1;
          if (left === 0) this.#under.delete(runId);
          else this.#under.set(runId, left);
        }
      },
    },
  });

  #meet(runId: string, change: "started" | "taken_up"): void {
    if (this.#known.has(runId)) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= KEPT) this.#known.delete(oldest);
    const about = this.#about(runId);
    this.#known.set(runId, about);
    this.#say(runId, change, about);
  }

  /** Rows are written now and then; the last of them end the run. */
  async #ended(runId: string): Promise<void> {
    const about = await this.#about(runId);
    if (about?.isOver) this.#over(runId, "ended");
  }

  #over(runId: string, change: "ended" | "parked"): void {
    const about = this.#known.get(runId) ?? this.#about(runId);
    this.#known.delete(runId);
    this.#say(runId, change, about);
  }

  #say(
    runId: string,
    change: RunChange["change"],
    about: Promise<Pick<RunChange, "tenant" | "agent"> | undefined>,
  ): void {
    const told = about.then(
      (found) => found && this.#tell({ runId, change, tenant: found.tenant, agent: found.agent }),
      () => {}, // the store is away, and tells of it itself
    );
    this.#telling = Promise.all([this.#telling, told]).then(() => {});
  }

  #about(runId: string) {
    return this.#trackside.engine.store.read(function* (db) {
      const query = db
        .selectFrom("runs")
        .select(["tenant", "agent", "ended_at"])
        .where("id", "=", runId)
        .compile();
      const rows = (yield query).rows as readonly {
        tenant: string;
        agent: string;
        ended_at: number | null;
      }[]; // what was selected
      const [row] = rows;
      return row && { tenant: row.tenant, agent: row.agent, isOver: row.ended_at !== null };
    });
  }
}

/** Whether a turn that was opened has rows already: another life of its workflow began it. */
function isBegun(opened: unknown): boolean {
  return typeof opened === "object" && opened !== null && "ord" in opened && Number(opened.ord) > 0;
}
