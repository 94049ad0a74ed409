import { type AgentBinding, defineTool, type Tool } from "trackside";
import { afterEach } from "vitest";
import { type RunRecord, sqlite, Trackside } from "../../../src/index.ts";
import { type RunsTable, rows } from "../../../src/store/index.ts";
import { until } from "./until.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A host on a database that others may share. Closed after the test. */
export function hostOf(path: string, agents: readonly object[], notices: string[] = []): Trackside {
  const trackside = new Trackside({
    store: sqlite(path, { sync: "normal" }),
    agents: agents as readonly AgentBinding[],
    notice: (message) => void notices.push(message),
  });
  open.push(trackside);
  return trackside;
}

/** A tool that says what it did, as soon as it may. */
export function gated(name: string, more: object = {}): { tool: Tool; begun: string[]; go(): void } {
  const begun: string[] = [];
  const may = Promise.withResolvers<void>();
  const tool = defineTool({
    name,
    input: { type: "object" },
    async execute(args: object, { runId }) {
      begun.push(runId);
      await may.promise;
      return `${name} ${JSON.stringify(args)}`;
    },
    ...more,
  });
  return { tool, begun, go: may.resolve };
}

export async function becomes(
  trackside: Trackside,
  id: string,
  status: RunRecord["status"],
): Promise<RunRecord> {
  return until(async () => {
    const run = await trackside.runs.get(id);
    if (run.ended_at !== null && run.status !== status)
      throw new Error(`the run is ${run.status}, not ${status}`);
    return run.status === status ? run : undefined;
  });
}

/** The sub-agents of a run, in the order of their jobs. */
export async function childrenOf(trackside: Trackside, parent: string): Promise<readonly RunRecord[]> {
  const found = await trackside.runs.list({ parent });
  return [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
}

export async function rowOf(trackside: Trackside, id: string): Promise<RunsTable> {
  const [row] = await trackside.engine.store.read((db) =>
    rows(db.selectFrom("runs").selectAll().where("id", "=", id)),
  );
  if (row === undefined) throw new Error(`there is no run ${id}`);
  return row;
}

/** Does something to the database behind everybody's back. */
export async function meddle(path: string, work: Parameters<Trackside["engine"]["store"]["write"]>[0]) {
  const store = sqlite(path, { sync: "normal" });
  await store.open();
  try {
    return await store.write(work);
  } finally {
    await store.close();
  }
}

/** Events count up from 1 without a gap, and at most one status ends them, the last. */
export function isWhole(events: readonly { seq: number; type: string; status?: string }[]): boolean {
  const ends = ["completed", "error", "cancelled"];
  const isEnd = ({ type, status = "" }: { type: string; status?: string }) =>
    type === "status" && ends.includes(status);
  return events.every(({ seq }, i) => seq === i + 1) && events.findIndex(isEnd) === events.length - 1;
}
