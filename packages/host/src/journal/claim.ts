import { hot } from "../hot.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import { FENCED } from "./lease.ts";
import { isGone, type ProcessIdentity } from "./process-identity.ts";
import { runBody } from "./row-codecs.ts";
import { OPEN_STATES } from "./run-records.ts";

export interface ClaimInit {
  readonly me: string;
  readonly agents: readonly string[];
  /** Workflows in code: an agent may have the same name. */
  readonly workflows?: readonly string[];
  /** Whether runs of stored agents are taken, too: which, and which of those that this process cannot run. */
  readonly stored?: StoredClaims | undefined;
  readonly limit: number;
  /** Runs of this process that are under way: they need no claim. */
  readonly isActive: (runId: string) => boolean;
  readonly lapsed: (process: ProcessIdentity & { expires_at: number }) => boolean;
  readonly at: number;
}

export interface StoredClaims {
  /** Whether what a run is pinned to can be made here; undefined where that was not found out yet. */
  canRun(digest: string): boolean | undefined;
  /** Finds it out. */
  judge(digest: string, body: string): boolean;
  /** Whether it is taken all the same, to say what it lacks: nobody who has that came for it. */
  isLeft(runId: string, others: number): boolean;
}

export interface Claimed {
  readonly runId: string;
  /** Its process left it in good order, or it was never begun: nothing died in the middle of it. */
  readonly wasLeft: boolean;
}

const take = hot<
  { id: string; fence: number; was: string; me: string; next: number; at: number; status: string },
  { body: string }
>((db, value) =>
  db
    .updateTable("runs")
    .set({ owner: value("me"), fence: value("next"), updated_at: value("at"), status: value("status") })
    .where("id", "=", value("id"))
    .where("fence", "=", value("fence"))
    .where("status", "=", value("was")) // it may have ended since it was looked at
    .returning("body"),
);

/** Takes over runs that nobody runs: released, queued, or of a process that is gone. Each gets a new fence (X4). */
export function* claimRuns(
  db: Builder,
  init: ClaimInit,
): Operation<{ readonly claimed: readonly Claimed[]; readonly isMore: boolean }> {
  const processes = yield* rows(db.selectFrom("processes").selectAll().where("id", "!=", init.me));
  const code = [
    { kind: "agent", names: init.agents },
    { kind: "workflow", names: init.workflows ?? [] },
  ].filter(({ names }) => names.length > 0);
  if (code.length === 0 && init.stored === undefined) return { claimed: [], isMore: false };
  const living = new Set<string>();
  const perhapsFrozen = new Set<string>();
  for (const one of processes) {
    if (!init.lapsed(one) || !(yield* fenceOff(db, one))) living.add(one.id);
    else if (!isGone(one)) perhapsFrozen.add(one.id);
  }
  const open = yield* rows(
    db
      .selectFrom("runs")
      .innerJoin("branches", "branches.id", "runs.branch_id")
      .select([
        "runs.id",
        "runs.owner",
        "runs.fence",
        "runs.status",
        "runs.agent_id",
        "runs.definition_digest",
      ])
      .where("runs.status", "in", [...OPEN_STATES])
      .where((where) =>
        where.or([
          ...code.map(({ kind, names }) =>
            where.and([
              where("runs.agent_id", "is", null),
              where("runs.kind", "=", kind),
              where("runs.agent", "in", [...names]),
            ]),
          ),
          ...(init.stored === undefined ? [] : [where("runs.agent_id", "is not", null)]),
        ]),
      )
      .where("runs.engine", "is", null)
      // A child is taken up by its parent.
      .where("runs.parent_run_id", "is", null)
      // One run at a time on a branch; the others wait in line.
      .whereRef("branches.active_run_id", "=", "runs.id")
      .where((where) =>
        where.or([where("runs.owner", "is", null), where("runs.owner", "not in", [init.me, ...living])]),
      )
      .orderBy("runs.created_at")
      .limit(init.limit),
  );
  const mine = yield* rows(
    db
      .selectFrom("runs")
      .select(["id", "owner", "fence", "status"])
      .where("status", "in", [...OPEN_STATES])
      .where("parent_run_id", "is", null)
      .where("owner", "=", init.me),
  );
  // Others are there to take theirs: a share at a time, so that not one process gets everything.
  const able = yield* takeable(db, open, init.stored, living.size);
  const share = able.slice(0, Math.ceil(able.length / (living.size + 1)));
  const claimed: Claimed[] = [];
  for (const run of [...share, ...mine.filter(({ id }) => !init.isActive(id))]) {
    const { id, fence, status: was } = run;
    const status = was === "queued" ? "running" : was;
    const taken = yield* take(db, { id, fence, was, me: init.me, next: fence + 1, at: init.at, status });
    const [row] = taken.rows;
    if (row === undefined) continue;
    claimed.push({ runId: run.id, wasLeft: run.owner === null });
    if (run.owner !== null && perhapsFrozen.has(run.owner)) yield* rememberOwner(db, run.id, row, run.owner);
  }
  const isMore = able.length > share.length || (open.length === init.limit && claimed.length > 0);
  return { claimed, isMore };
}

/** Those that this process can run, and those that nobody else takes. */
function* takeable<Run extends { id: string; agent_id: string | null; definition_digest: string }>(
  db: Builder,
  open: readonly Run[],
  stored: StoredClaims | undefined,
  others: number,
): Operation<readonly Run[]> {
  if (stored === undefined) return open;
  const ofStored = open.filter(({ agent_id }) => agent_id !== null);
  const digests = new Set(ofStored.map(({ definition_digest }) => definition_digest));
  const unknown = [...digests].filter((digest) => stored.canRun(digest) === undefined);
  const pinned =
    unknown.length === 0
      ? []
      : yield* rows(db.selectFrom("definitions").selectAll().where("digest", "in", unknown));
  const judged = new Map(pinned.map(({ digest, body }) => [digest, stored.judge(digest, body)]));
  return open.filter(({ id, agent_id, definition_digest: digest }) => {
    const can = agent_id === null || (judged.get(digest) ?? stored.canRun(digest) ?? false);
    return can || stored.isLeft(id, others);
  });
}

/**
 * Takes a process's runs from it. Gone is gone; one that may only be frozen sees it when it thaws, and takes its row away
 * itself. False when it has renewed its lease meanwhile: then it lives, and believes that it may act.
 */
function* fenceOff(db: Builder, process: ProcessIdentity & { expires_at: number }): Operation<boolean> {
  if (isGone(process)) {
    yield* rows(db.deleteFrom("processes").where("id", "=", process.id));
    return true;
  }
  if (process.expires_at === FENCED) return true;
  const fenced = yield* rows(
    db
      .updateTable("processes")
      .set({ expires_at: FENCED })
      .where("id", "=", process.id)
      .where("expires_at", "=", process.expires_at)
      .returning("id"),
  );
  return fenced.length > 0;
}

/** Whoever had the run and may yet thaw: all of them, as the one that takes over may freeze in turn. */
export function* rememberOwner(
  db: Builder,
  runId: string,
  row: { body: string },
  owner: string,
): Operation<void> {
  const body = runBody.read(row.body);
  const previous_owners = [...(body.previous_owners ?? []).filter((known) => known !== owner), owner];
  yield* rows(
    db
      .updateTable("runs")
      .set({ body: JSON.stringify({ ...body, previous_owners }) })
      .where("id", "=", runId),
  );
}

/**
 * Whether a process that had the run before may still be in the middle of something: it is neither dead nor has seen its
 * fence (X4).
 */
export function* mayStillRun(db: Builder, runId: string): Operation<boolean> {
  const [run] = yield* rows(db.selectFrom("runs").select("body").where("id", "=", runId));
  if (run === undefined) return false;
  const { previous_owners: owners = [] } = runBody.read(run.body);
  if (owners.length === 0) return false;
  const processes = yield* rows(
    db
      .selectFrom("processes")
      .selectAll()
      .where("id", "in", [...owners]),
  );
  return processes.some((process) => !isGone(process));
}
