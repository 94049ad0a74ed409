import type { Approval } from "trackside";
import { hot } from "../hot.ts";
import { approvalBody, runBody } from "../journal/row-codecs.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";

/** An approval as the host shows it: also which run its run belongs to, where a sub-agent asked (L7). */
export interface ApprovalRecord extends Approval {
  readonly root_run_id: string;
  /** Who started the run, where its scope says so. */
  readonly requested_by: string | null;
}

/** A row of approvals beside its run's, as people are shown it. */
export function recordOf(row: {
  readonly body: string;
  readonly root_run_id: string | null;
  readonly run_body: string | null;
}): ApprovalRecord {
  const approval = readApproval(row);
  const user = row.run_body === null ? null : runBody.read(row.run_body, approval.run_id).scope["user"];
  return {
    ...approval,
    root_run_id: row.root_run_id ?? approval.run_id,
    requested_by: typeof user === "string" ? user : null,
  };
}

export function readApproval({ body }: { readonly body: string }): Approval {
  const { v: _version, ...approval } = approvalBody.read(body);
  return approval;
}

function written(approval: Approval): string {
  return approvalBody.write({ v: 1, ...approval });
}

export function* findApproval(
  db: Builder,
  id: string,
): Operation<{ approval: Approval; tenant: string } | undefined> {
  const [row] = yield* rows(db.selectFrom("approvals").select(["body", "tenant"]).where("id", "=", id));
  return row && { approval: readApproval(row), tenant: row.tenant };
}

/** Writes a new record down; answers the one that is there when it was written before. */
export function* insertApproval(db: Builder, tenant: string, approval: Approval): Operation<Approval> {
  const known = yield* findApproval(db, approval.id);
  if (known !== undefined) return known.approval;
  const { id, run_id, kind, state, tool, requested_at, deadline, decision } = approval;
  yield* rows(
    db.insertInto("approvals").values({
      id,
      tenant,
      run_id,
      kind,
      state,
      tool,
      requested_at,
      deadline,
      decided_at: decision?.at ?? null,
      body: written(approval),
    }),
  );
  return approval;
}

const close = hot<{ id: string; state: string; at: number; body: string }>((db, value) =>
  db
    .updateTable("approvals")
    .set({ state: value("state"), decided_at: value("at"), body: value("body") })
    .where("id", "=", value("id"))
    .where("state", "=", "pending"),
);

/** Compare and set: only what is pending can be closed (L4). True for the one who closed it. */
export function* closeApproval(db: Builder, closed: Approval): Operation<boolean> {
  const { id, state, decision } = closed;
  const { changed } = yield* close(db, { id, state, at: decision?.at ?? 0, body: written(closed) });
  return changed > 0;
}

export function* approvalsOfRun(db: Builder, runId: string): Operation<readonly Approval[]> {
  const found = yield* rows(
    db
      .selectFrom("approvals")
      .select("body")
      .where("run_id", "=", runId)
      .orderBy("requested_at")
      .orderBy("id"),
  );
  return found.map(readApproval);
}

export interface ApprovalFilter {
  readonly tenant: string;
  readonly state?: string | undefined;
  readonly runId?: string | undefined;
  /** Those of a run and its sub-agents. */
  readonly rootRunId?: string | undefined;
  /** Those that come after this one in the list. */
  readonly after?: string | undefined;
  readonly newestFirst?: boolean | undefined;
  readonly limit: number;
}

/** The oldest first, unless asked otherwise: what has waited longest is on top. */
export function* listApprovals(db: Builder, filter: ApprovalFilter): Operation<readonly ApprovalRecord[]> {
  const { runId, rootRunId, newestFirst = false } = filter;
  const direction = newestFirst ? "desc" : "asc";
  let query = db
    .selectFrom("approvals")
    .leftJoin("runs", "runs.id", "approvals.run_id")
    .select(["approvals.body", "runs.root_run_id", "runs.body as run_body"])
    .where("approvals.tenant", "=", filter.tenant)
    .orderBy("approvals.requested_at", direction)
    .orderBy("approvals.id", direction)
    .limit(filter.limit);
  if (filter.state !== undefined) query = query.where("approvals.state", "=", filter.state);
  if (runId !== undefined) query = query.where("approvals.run_id", "=", runId);
  if (rootRunId !== undefined) query = query.where("runs.root_run_id", "=", rootRunId);
  if (filter.after !== undefined) {
    const [last] = yield* rows(
      db.selectFrom("approvals").select(["id", "requested_at"]).where("id", "=", filter.after),
    );
    const beyond = newestFirst ? "<" : ">";
    if (last !== undefined)
      query = query.where((where) =>
        where.or([
          where("approvals.requested_at", beyond, last.requested_at),
          where.and([
            where("approvals.requested_at", "=", last.requested_at),
            where("approvals.id", beyond, last.id),
          ]),
        ]),
      );
  }
  return (yield* rows(query)).map(recordOf);
}

/** Tells whoever has the run to look at it. */
const insertWake = hot<{ run_id: string; what: string; at: number }>((db, value) =>
  db.insertInto("wakes").values({ run_id: value("run_id"), what: value("what"), at: value("at") }),
);

export function* wake(db: Builder, runId: string, what: string, at: number): Operation<void> {
  yield* insertWake(db, { run_id: runId, what, at });
}
