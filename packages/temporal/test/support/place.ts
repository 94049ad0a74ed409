import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Connection, WorkflowClient } from "@temporalio/client";
import { type ApprovalRecord, postgres, redisBus, Trackside } from "@trackside/host";
import type { DurableEvent, RunResult } from "trackside";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { temporal } from "../../src/client/index.ts";
import { type Mark, makeAgents, makeWorkflows, marksIn, opens, toolkitOf } from "./agents.ts";
import { bundleFile } from "./bundle-file.ts";
import { KEYS } from "./keys.ts";
import { Program } from "./processes.ts";
import { type StartedWorker, startWorker, type WorkerInit } from "./worker.ts";

const POLL_MS = 50;
/** Whoever waits in vain says what for, before the test is ended. */
const PATIENCE_MS = 240_000;

const OVER = new Set(["completed", "error", "cancelled"]);

export interface Servers {
  readonly address: string;
  readonly database: string;
  readonly redis?: string;
}

/** A database and a task queue with workers, in processes of their own where a test kills them, else in this one. */
export class Place {
  readonly trackside: Trackside;
  readonly workflows: WorkflowClient;
  readonly #init: WorkerInit;
  readonly #connection: Connection;
  readonly #workers = new Set<Program>();
  readonly #inside = new Map<number, StartedWorker>();
  #insideCount = 0;
  readonly #desks: Trackside[] = [];

  private constructor(init: WorkerInit, connection: Connection) {
    this.#init = init;
    this.#connection = connection;
    this.workflows = new WorkflowClient({ connection });
    const { redis, taskQueue } = init;
    const agents = makeAgents(init);
    this.trackside = new Trackside({
      store: postgres(init.database),
      keyring: KEYS,
      agents,
      workflows: makeWorkflows(agents),
      ...toolkitOf(agents),
      engine: temporal({ connection, taskQueue }),
      ...(redis === undefined ? {} : { bus: redisBus(redis) }),
    });
  }

  static async open({ address, ...servers }: Servers): Promise<Place> {
    const marks = join(temporaryFolder("place"), "marks");
    const connection = await Connection.connect({ address });
    const taskQueue = `place-${randomUUID()}`;
    const bundle = await bundleFile();
    const place = new Place({ address, taskQueue, marks, bundle, ...servers }, connection);
    await place.trackside.open();
    return place;
  }

  async close(): Promise<void> {
    await this.killAll();
    await Promise.all([...this.#inside.keys()].map((pid) => this.stop(pid)));
    for (const desk of this.#desks) await desk.close();
    await this.trackside.close();
    await this.#connection.close();
  }

  /** Starts a worker in this process, with a host of its own. Returns the number that its marks have as `pid`. */
  async inside(other: Pick<WorkerInit, "without"> = {}): Promise<number> {
    this.#insideCount += 1;
    const pid = -this.#insideCount;
    this.#inside.set(pid, await startWorker({ ...this.#init, ...other, pid }));
    return pid;
  }

  /** Stops a worker in this process. */
  async stop(pid: number): Promise<void> {
    const worker = this.#inside.get(pid);
    this.#inside.delete(pid);
    worker?.shutdown();
    await worker?.ended;
  }

  /** Starts a worker in a process of its own; `ready` says when it is up. */
  worker(): Program {
    const worker = new Program(this.#init);
    this.#workers.add(worker);
    void worker.ended.then(() => this.#workers.delete(worker));
    return worker;
  }

  /** Has so many workers up, each in a process of its own. */
  async workers(count: number): Promise<void> {
    while (this.#workers.size < count) this.worker();
    await Promise.all([...this.#workers].map(({ ready }) => ready));
  }

  /** Waits until so many workers have said which agents they have. */
  async announced(count: number): Promise<void> {
    await this.until(`${count} workers to say what they have`, async () => {
      const found = await this.trackside.engine.store.read(function* (db) {
        return (yield db.selectFrom("engine_workers").select("id").compile()).rows.length;
      });
      return found >= count ? found : undefined;
    });
  }

  /** Kills the worker that made a mark. */
  async kill({ pid }: Pick<Mark, "pid">): Promise<void> {
    const worker = [...this.#workers].find((one) => one.pid === pid);
    if (worker === undefined) throw new Error(`no worker has the pid ${pid}`);
    await worker.kill();
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.kill()));
  }

  /** A host that has the store and nothing else. */
  async desk(): Promise<Trackside> {
    const { database } = this.#init;
    const desk = new Trackside({ store: postgres(database), keyring: KEYS, agents: [], claims: false });
    this.#desks.push(desk);
    await desk.open();
    return desk;
  }

  /** Lets tools go on that wait at the gate of `n`. */
  opens(n: string): void {
    opens(this.#init.marks, n);
  }

  get marksFile(): string {
    return this.#init.marks;
  }

  get marks(): readonly Mark[] {
    return marksIn(this.#init.marks);
  }

  marksOf(n: string, what?: Mark["what"], of?: string): readonly Mark[] {
    return this.marks.filter(
      (one) =>
        one.n === n && (what === undefined || one.what === what) && (of === undefined || one.of === of),
    );
  }

  /** Waits until something was marked so many times. Answers the last of them. */
  async marked(n: string, what: Mark["what"], of: string, times = 1): Promise<Mark> {
    return this.until(`${what} ${of} of ${n}, ${times} times`, () => this.marksOf(n, what, of)[times - 1]);
  }

  async pending(runId: string): Promise<ApprovalRecord> {
    return this.until("an approval", async () => {
      const [found] = await this.trackside.approvals.list({ rootRunId: runId });
      return found;
    });
  }

  async start(agent: string, input: string): Promise<string> {
    return (await this.trackside.start(agent, input)).runId;
  }

  /** The durable events of a run and its sub-agents, without what differs from run to run. */
  async trace(runId: string, n: string): Promise<readonly object[]> {
    return traceOf(await this.trackside.runs.events(runId, { children: true }), n);
  }

  /** Runs a script to its end. */
  async run(agent: string, input: string): Promise<{ readonly runId: string; readonly text: string }> {
    const runId = await this.start(agent, input);
    return { runId, text: await this.text(runId) };
  }

  /** The text of a run, once it is over. */
  async text(runId: string): Promise<string> {
    return (await this.ended(runId)).text;
  }

  /** The result of a run, or why there is none; and what stands in its way, when that takes too long. */
  async ended(runId: string, patienceMs = PATIENCE_MS): Promise<RunResult<unknown>> {
    const look = async () => {
      const { status } = await this.trackside.runs.get(runId);
      return status === "parked" || OVER.has(status) ? status : undefined;
    };
    await this.until(`the end of ${runId}`, look, patienceMs);
    return this.trackside.runs.result(runId);
  }

  async until<T>(
    what: string,
    look: () => T | undefined | Promise<T | undefined>,
    patienceMs = PATIENCE_MS,
  ): Promise<T> {
    const give = Date.now() + patienceMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > give) throw new Error(`waited in vain for ${what}: ${await this.#standing()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #standing(): Promise<string> {
    const runs = await this.trackside.runs.list();
    const open = await Promise.all(
      runs
        .filter(({ status }) => !OVER.has(status))
        .map(async (run) => {
          const found = await this.workflows.getHandle(run.id).describe().catch(String);
          return { ...run, workflow: typeof found === "string" ? found : found.status.name };
        }),
    );
    const said = [...this.#workers].flatMap(({ said: lines, errors }) => [
      ...lines.map((l) => JSON.stringify(l)),
      errors,
    ]);
    return [...open.map((run) => JSON.stringify(run)), ...said].join("\n").slice(-4000);
  }
}

/**
 * Events without times, ids of runs and messages, and the `n` of their script. What a model call that was lost with its process had said is taken out, and so is
 * which attempt an answer came from.
 */
export function traceOf(events: readonly DurableEvent[], n: string): readonly object[] {
  const retracted = new Set(
    events.flatMap((event) => (event.type === "message_retracted" ? [event.message_id] : [])),
  );
  const names = new Map<string, string>();
  for (const { run_id } of events) if (!names.has(run_id)) names.set(run_id, `run-${names.size + 1}`);
  return events
    .filter((event) => !("message_id" in event && retracted.has(event.message_id as string)))
    .map((event) => {
      const { at: _at, seq: _seq, turn_ref: _turn, ...rest } = event;
      let text = JSON.stringify(rest, (key, value) => (TIMES.has(key) ? undefined : value));
      for (const [id, name] of names) text = text.replaceAll(id, name);
      return JSON.parse(
        text
          .replaceAll(n, "n")
          .replace(/\.m\d+"/g, '.m"')
          .replace(/"msg_\w+"/g, '"message"'),
      );
    });
}

/** What a worker knows of the requests it made itself is not what another knows. */
const TIMES = new Set([
  "prefix",
  "started_at",
  "completed_at",
  "execution_time_ms",
  "approval_wait_ms",
  "decided_at",
  "created_at",
  "deadline",
  "duration_ms",
]);
