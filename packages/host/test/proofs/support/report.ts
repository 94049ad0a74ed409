import type { LogEntry } from "trackside";
import { isEvent, type Note } from "trackside/loop";
import { branchMessages } from "../../../src/conversations/branch-log.ts";
import type { DurableEngine } from "../../../src/journal/durable-engine.ts";
import { type LoadedRun, loadCommits, messagesOf } from "../../../src/journal/run-records.ts";
import { rows } from "../../../src/store/index.ts";

/** How a database stands when everything in it is over. Ids of runs and messages sent to them are numbered. */
export interface Report {
  readonly runs: readonly RunReport[];
  readonly transcript: readonly LogEntry[];
  readonly inbox: readonly string[];
  readonly approvals: readonly { readonly id: string; readonly kind: string; readonly state: string }[];
  readonly deferred: readonly string[];
  /** What workflows told of their nodes, in no order: which of two that run beside each other ends first is nobody's matter. */
  readonly nodes: readonly string[];
  /** Runs that hold a branch though they are over. */
  readonly held: readonly string[];
  readonly names: Readonly<Record<string, string>>;
}

export interface RunReport {
  readonly status: string;
  /** How often it was taken over. */
  readonly claims: number;
  readonly terminals: readonly string[];
  readonly statuses: readonly string[];
  /** What is wrong with the numbers of its rows and events. */
  readonly gaps: readonly string[];
}

const TERMINAL = ["completed", "error", "cancelled"];

/** Whether something is still to be done: a run begun or ended, or work for after it. */
export async function isBusy({ store }: DurableEngine): Promise<boolean> {
  return store.read(function* (db) {
    const runs = yield* rows(db.selectFrom("runs").select(["status", "ended_at"]));
    const open = runs.filter(({ status, ended_at }) => ended_at === null && status !== "parked");
    const work = yield* rows(
      db.selectFrom("deferred").select("id").where("state", "in", ["waiting", "running"]).limit(1),
    );
    return runs.length === 0 || open.length > 0 || work.length > 0;
  });
}

export async function report({ store, codec }: DurableEngine): Promise<Report> {
  return store.read(function* (db) {
    const runs = yield* rows(db.selectFrom("runs").selectAll().orderBy("created_at").orderBy("id"));
    const branches = yield* rows(db.selectFrom("branches").selectAll().orderBy("id"));
    const inbox = yield* rows(
      db.selectFrom("inbox").select(["id", "state"]).orderBy("created_at").orderBy("id"),
    );
    const names = Object.fromEntries([
      ...runs.map(({ id }, i) => [id, `run-${i + 1}`]),
      ...inbox.map(({ id }, i) => [id, `message-${i + 1}`]),
    ]);
    const transcript: LogEntry[] = [];
    for (const { id } of branches) transcript.push(...(yield* branchMessages(db, id, codec)));
    const reports: RunReport[] = [];
    const nodes: string[] = [];
    for (const { id, status, fence } of runs) {
      const commits = yield* loadCommits(db, id);
      const notes = commits.flatMap(({ body }) => body.notes);
      nodes.push(...nodesIn(id, notes, yield* messagesOf(db, commits, codec)));
      const statuses = notes.flatMap((note) => (note.type === "status" ? [note.status] : []));
      const terminals = statuses.filter((one) => TERMINAL.includes(one));
      reports.push({ status, claims: fence - 1, terminals, statuses, gaps: gapsIn(commits) });
    }
    const approvals = yield* rows(db.selectFrom("approvals").select(["id", "kind", "state"]).orderBy("id"));
    const deferred = yield* rows(db.selectFrom("deferred").select("state"));
    return {
      runs: reports,
      transcript: renamed(transcript, names),
      inbox: inbox.map(({ state }) => state),
      approvals: renamed(approvals, names),
      deferred: deferred.map(({ state }) => state),
      nodes: renamed(nodes, names).sort(),
      held: branches.flatMap(({ active_run_id }) => active_run_id ?? []),
      names,
    };
  });
}

/** Each with what it came to, which is in the run's record and in no log. */
function nodesIn(
  run: string,
  notes: readonly Note[],
  messages: ReadonlyMap<string, { readonly message: LogEntry }>,
): string[] {
  return notes.flatMap((note) => {
    if (note.type !== "node") return [];
    const { node, state, attempt = 0, port = "", message_id = "", failure } = note;
    const message = messages.get(message_id)?.message;
    const output = message && ("output" in message ? message.output : "parts" in message && message.parts);
    return `${run} ${node} ${state} ${attempt} ${port} ${JSON.stringify(failure ?? output ?? null)}`;
  });
}

/** Rows count up by one, events by as many as a row has; the terminal status is the last event of all. */
function gapsIn(commits: LoadedRun["commits"]): string[] {
  const gaps: string[] = [];
  let seq = 0;
  let ended = false;
  for (const [i, { ord, seq: upTo, body }] of commits.entries()) {
    if (ord !== i) gaps.push(`row ${ord} where ${i} should be`);
    const events = body.notes.filter(isEvent);
    if (ended && events.length > 0) gaps.push(`events after the end, in row ${ord}`);
    for (const [at, note] of events.entries()) {
      if (note.type !== "status" || !TERMINAL.includes(note.status)) continue;
      ended = true;
      if (at !== events.length - 1) gaps.push(`events after the end, in row ${ord}`);
    }
    if (upTo !== seq + events.length)
      gaps.push(`row ${ord} has ${events.length} events and ends at ${upTo}, after ${seq}`);
    seq = upTo;
  }
  return gaps;
}

/** The same with run ids as numbers: ids differ from run to run, what was said does not. */
export function renamed<T>(value: T, names: Readonly<Record<string, string>>): T {
  let text = JSON.stringify(value);
  for (const [id, name] of Object.entries(names)) text = text.replaceAll(id, name);
  // What an artifact is called depends on who told the outcome: the call itself, or a person after a crash.
  return JSON.parse(text.replace(/art_[\w.]*\w/g, "artifact"));
}
