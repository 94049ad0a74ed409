import type { AgentDefinition } from "trackside";
import { teamName } from "trackside/engine";
import type { ToolkitNames } from "../agents/toolkit.ts";
import { type PinnedTeam, readPinned, rebindProblem } from "../journal/agent-registry.ts";
import { pinDefinition } from "../journal/run-records.ts";
import { type Operation, rows, type Work } from "../store/store.ts";
import { lacks, type WorkerHas } from "./needs.ts";

/** A worker of a distributed engine says which agents it has for this long, and says it again in good time. */
export const ANNOUNCED_MS = 20_000;

export interface Announced {
  readonly engine: string;
  readonly id: string;
  /** What runs of its agents are pinned to, by name. */
  readonly agents: Readonly<Record<string, { readonly digest: string; readonly body: string }>>;
  /** What it makes stored agents with. */
  readonly toolkit?: ToolkitNames | undefined;
}

/** Writes down which agents a worker has: whoever submits a run is told at once when nobody could run it (X9). */
export function announce({ engine, id, agents, toolkit }: Announced, at: number): Work<void> {
  return function* (db) {
    for (const { digest, body } of Object.values(agents)) yield* pinDefinition(db, digest, body);
    const digests = Object.entries(agents).map(([name, { digest }]) => [name, digest] as const);
    const own = { agents: Object.fromEntries(digests), client_tools: true as const };
    const has: WorkerHas = toolkit ? { ...own, toolkit } : own;
    const row = { expires_at: at + ANNOUNCED_MS, body: JSON.stringify({ v: 1, ...has }) };
    yield* rows(db.deleteFrom("engine_workers").where("expires_at", "<", at));
    yield* rows(
      db
        .insertInto("engine_workers")
        .values({ engine, id, ...row })
        .onConflict((conflict) => conflict.columns(["engine", "id"]).doUpdateSet(row)),
    );
  };
}

export function withdraw({ engine, id }: Pick<Announced, "engine" | "id">): Work<void> {
  return function* (db) {
    yield* rows(db.deleteFrom("engine_workers").where("engine", "=", engine).where("id", "=", id));
  };
}

/** Why none of an engine's workers can run an agent as it is defined here. Undefined while there are none to ask. */
export function cannotRun(
  engine: string,
  definition: AgentDefinition,
  pinned: { readonly digest: string; readonly body: string },
  { at, isStored = false }: { readonly at: number; readonly isStored?: boolean },
): Work<string | undefined> {
  return function* (db): Operation<string | undefined> {
    const found = yield* rows(
      db
        .selectFrom("engine_workers")
        .select("body")
        .where("engine", "=", engine)
        .where("expires_at", ">=", at),
    );
    const all = found.map(({ body }) => JSON.parse(body) as WorkerHas); // as `announce` writes it
    const { name } = definition;
    const what = definition.workflow === undefined ? "an agent" : "a workflow";
    const key = teamName({ definition });
    if (all.length === 0) return undefined;
    const wanted = readPinned(pinned.body);
    const workers = wanted.clientTools === undefined ? all : all.filter((one) => one.client_tools);
    if (workers.length === 0)
      return `No worker of ${engine} takes tools that come with a request. Start one of this version, or leave clientTools out.`;
    if (isStored) return cannotMake(engine, name, wanted, workers);
    if (workers.some(({ agents }) => agents[key] === pinned.digest)) return undefined;
    const digests = [...new Set(workers.flatMap(({ agents }) => agents[key] ?? []))];
    if (digests.length === 0)
      return `No worker of ${engine} has ${what} "${name}". Start one with it, or run it on this machine's engine.`;
    const theirs = yield* rows(db.selectFrom("definitions").select("body").where("digest", "in", digests));
    const problems = theirs.map(({ body }) => rebindProblem(readPinned(body).definition, wanted.definition));
    return problems.includes(undefined)
      ? undefined
      : `The workers of ${engine} have another "${name}": ${problems[0]} Start workers with this version, or submit with theirs.`;
  };
}

/** Why none of the workers can make a stored agent: what no worker has, or what the best of them lacks. */
function cannotMake(
  engine: string,
  name: string,
  pinned: PinnedTeam,
  workers: readonly WorkerHas[],
): string | undefined {
  const all = workers.map((worker) => lacks(pinned, worker)).sort((a, b) => a.length - b.length);
  const [fewest = []] = all;
  if (fewest.length === 0) return undefined;
  const nobodys = fewest.filter((one) => all.every((lacking) => lacking.includes(one)));
  const missing = (nobodys.length > 0 ? nobodys : fewest).join(", ");
  const what = pinned.definition.workflow === undefined ? "agent" : "workflow";
  return `No worker of ${engine} can run the ${what} "${name}": ${nobodys.length > 0 ? "none has" : "each lacks something, one of them"} ${missing}. Start a worker with it, or run it on this machine's engine.`;
}
