import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Approval } from "trackside";
import { describe, onTestFinished, vi } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../../../../scripts/testing/temporary-folder.ts";
import { readApproval } from "../../../../src/approvals/records.ts";
import { postgres, type RunsTable, rows, type Store, sqlite } from "../../../../src/store/index.ts";
import { Programs } from "../../support/programs.ts";
import type { EffectLine } from "./agents.ts";
import type { Command, Got, NewRun, ProgramInit } from "./protocol.ts";

const POLL_MS = 25;
/** Whoever waits in vain says what for, before the test is ended. */
const PATIENCE_MS = 120_000;
vi.setConfig({ testTimeout: 600_000 });

/** `npm run prove` plays every race in full and on both databases; `npm test` a small sample of it. */
export const isProof = process.env["TRACKSIDE_PROVE"] === "1";

/** The same races on both databases: `fresh` makes an empty one for each test. */
export async function onEveryStore(
  title: string,
  body: (fresh: () => Promise<Place>) => void,
): Promise<void> {
  describe(`${title} on SQLite`, () => body(sqlitePlace));
  await onPostgres(title, body);
}

/** For races that the code above the store decides: the same code on either database, so `npm test` plays it on SQLite. */
export async function onAnyStore(title: string, body: (fresh: () => Promise<Place>) => void): Promise<void> {
  describe(`${title} on SQLite`, () => body(sqlitePlace));
  if (isProof) await onPostgres(title, body);
}

async function onPostgres(title: string, body: (fresh: () => Promise<Place>) => void): Promise<void> {
  await serviceSuite(`${title} on PostgreSQL`, sharedPostgres, (server) =>
    body(async () => placeOn("postgres", await server.createDatabase(), tempDir())),
  );
}

export async function sqlitePlace(): Promise<Place> {
  const dir = tempDir();
  return placeOn("sqlite", join(dir, "trackside.db"), dir);
}

export async function placeOn(kind: "sqlite" | "postgres", target: string, dir: string): Promise<Place> {
  const store = kind === "sqlite" ? sqlite(target, { sync: "normal" }) : postgres(target);
  onTestFinished(() => store.close());
  await store.open();
  return new Place(kind, target, join(dir, "effects"), store);
}

export function tempDir(): string {
  return temporaryFolder("races");
}

/** One database, the processes on it, and what they did. */
export class Place {
  readonly kind: "sqlite" | "postgres";
  readonly target: string;
  readonly store: Store;
  readonly #effects: string;

  constructor(kind: "sqlite" | "postgres", target: string, effects: string, store: Store) {
    this.kind = kind;
    this.target = target;
    this.#effects = effects;
    this.store = store;
  }

  async process(given: Partial<ProgramInit> = {}): Promise<Worker> {
    const { kind, target } = this;
    const init: ProgramInit = {
      kind,
      target,
      effects: this.#effects,
      role: "engine",
      claims: true,
      timeoutSeconds: 3600,
      changed: false,
      ...given,
    };
    return startWorker(init);
  }

  get effects(): readonly EffectLine[] {
    if (!existsSync(this.#effects)) return [];
    const lines = readFileSync(this.#effects, "utf8").split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line)); // after the last end of a line one may be half written
  }

  /** How often each tool call happened, by its number. */
  ran(tool = "charge"): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const line of this.effects)
      if (line.what === "tool" && line.tool === tool) counts.set(line.n, (counts.get(line.n) ?? 0) + 1);
    return counts;
  }

  async runs(): Promise<readonly RunsTable[]> {
    return this.store.read((db) => rows(db.selectFrom("runs").selectAll().orderBy("created_at")));
  }

  async approvals(state?: string): Promise<readonly Approval[]> {
    const all = await this.store.read((db) => rows(db.selectFrom("approvals").select("body").orderBy("id")));
    return all.map(readApproval).filter((one) => state === undefined || one.state === state);
  }

  async pending(count: number): Promise<readonly Approval[]> {
    return until(
      `${count} pending approvals`,
      async () => {
        const found = await this.approvals("pending");
        return found.length >= count ? found : undefined;
      },
      () => this.#standing(),
    );
  }

  /** All of them, once every run is over. */
  async ended(count: number): Promise<readonly RunsTable[]> {
    return until(
      `the end of ${count} runs`,
      async () => {
        const found = await this.runs();
        return found.length >= count && found.every(({ ended_at }) => ended_at !== null) ? found : undefined;
      },
      () => this.#standing(),
    );
  }

  /** As `ended`; what nobody can know is answered by the effects there are: it ran, or it has to. Answers how many were asked. */
  async settle(worker: Worker, count: number): Promise<number> {
    const asked = new Set<string>();
    const look = async () => {
      for (const { id, kind, arguments: args } of await this.approvals("pending")) {
        if (kind !== "unknown_outcome") continue;
        const ran = this.ran().has(Number(args?.["n"]));
        const decision = ran ? { choice: "ran", response: "yes", by: "ann" } : { choice: "run", by: "ann" };
        await worker.ask({ do: "decide", decisions: [{ id, decision }] }); // refused while its old process may act
        asked.add(id);
      }
      const all = await this.runs();
      return all.length >= count && all.every(({ ended_at }) => ended_at !== null) ? asked.size : undefined;
    };
    return until(`the end of ${count} runs`, look, () => this.#standing());
  }

  /** Every event of a run, in order. */
  async notes(runId: string): Promise<readonly Note[]> {
    const found = await this.store.read((db) =>
      rows(db.selectFrom("commits").select("body").where("run_id", "=", runId).orderBy("ord")),
    );
    return found.flatMap(({ body }) => JSON.parse(body).notes);
  }

  /** Calls of a run that have no result, and whether anything comes after its end. */
  async loose(runId: string): Promise<readonly string[]> {
    const found = await this.store.read((db) =>
      rows(db.selectFrom("commits").select("body").where("run_id", "=", runId).orderBy("ord")),
    );
    const open = new Set<string>();
    const callOf = new Map<string, string>();
    const problems: string[] = [];
    let over = false;
    for (const { body } of found) {
      const { notes, messages = [] }: Commit = JSON.parse(body);
      for (const { id, call_id } of messages) if (call_id !== undefined) callOf.set(id, call_id);
      for (const { type, status = "", call_id = "", message_id = "" } of notes) {
        if (over && type !== "logged") problems.push(`${type} after the end`);
        if (type === "tool_call") open.add(call_id);
        if (type === "tool_result") open.delete(callOf.get(message_id) ?? "");
        over ||= type === "status" && ["completed", "error", "cancelled"].includes(status);
      }
    }
    return [...problems, ...[...open].map((id) => `${id} has no result`)];
  }

  async #standing(): Promise<string> {
    const all = await this.runs();
    const open = all.filter(({ ended_at }) => ended_at === null);
    const decided = new Map((await this.approvals()).map(({ run_id, state }) => [run_id, state]));
    const states = open.map(({ status, owner, id }) => `${id} ${status} ${owner} ${decided.get(id) ?? ""}`);
    return `${open.length} of ${all.length} runs are open: \n${states.slice(0, 5).join("\n")}`;
  }
}

interface Note {
  readonly type: string;
  readonly status?: string;
  readonly call_id?: string;
  readonly message_id?: string;
}

interface Commit {
  readonly notes: readonly Note[];
  readonly messages?: readonly { readonly id: string; readonly call_id?: string }[];
}

/** Waits until there is an answer. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  standing: () => string | Promise<string> = () => "",
): Promise<T> {
  const give = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > give) throw new Error(`waited in vain for ${what}: ${await standing()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Waits until a process has stopped itself. */
export async function frozen({ pid }: Worker): Promise<void> {
  await until(`${pid} to freeze`, async () => {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return stat.charAt(stat.lastIndexOf(")") + 2) === "T" ? true : undefined;
  });
}

/** A process of its own, on the other end of a pipe. */
export interface Worker {
  readonly pid: number;
  readonly notices: readonly string[];
  ask(command: Command): Promise<readonly Got[]>;
  start(runs: readonly NewRun[]): Promise<readonly string[]>;
  signal(name: NodeJS.Signals): void;
  /** Its end, by a SIGKILL. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

let programs: Promise<Programs> | undefined;

async function startWorker(init: ProgramInit): Promise<Worker> {
  programs ??= Programs.build();
  const child = (await programs).start("race-program", [JSON.stringify(init)]);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdin.on("error", () => {}); // it was killed
  const ended = once(child, "exit");
  const notices: string[] = [];
  const asked = new Map<number, { resolve(got: readonly Got[]): void; reject(error: Error): void }>();
  let ready: () => void = () => {};
  const up = new Promise<void>((resolve, reject) => {
    ready = resolve;
    void ended.then(() => {
      reject(new Error(`the process ended: ${errors}`));
      for (const { reject: fail } of asked.values()) fail(new Error(`the process ended: ${errors}`));
      asked.clear();
    });
  });
  up.catch(() => {}); // whoever waits for it hears of it
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line);
    if (said.ready !== undefined) ready();
    else if (said.notice !== undefined) notices.push(said.notice);
    else {
      const waiting = asked.get(said.id);
      asked.delete(said.id);
      if (said.error === undefined) waiting?.resolve(said.ok);
      else waiting?.reject(new Error(said.error));
    }
  });
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  await up;
  let last = 0;
  const ask: Worker["ask"] = (command) => {
    last += 1;
    const id = last;
    const answered = new Promise<readonly Got[]>((resolve, reject) => asked.set(id, { resolve, reject }));
    answered.catch(() => {}); // a process that is killed answers nobody
    child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return answered;
  };
  return {
    pid: child.pid ?? -1,
    notices,
    ask,
    async start(runs) {
      const got = await ask({ do: "start", runs });
      return got.map(({ runId, message }) => {
        if (runId === undefined) throw new Error(message);
        return runId;
      });
    },
    signal: (name) => child.kill(name),
    kill,
    async close() {
      await ask({ do: "close" });
      await ended;
    },
  };
}
