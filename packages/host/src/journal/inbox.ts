import { type Clock, type Receipt, TracksideError, type UserMessage, type UserPart } from "trackside";
import { attachedTo, newId, type RunContext, refuseUnknown } from "trackside/engine";
import type { BoundaryOut } from "trackside/loop";
import { wake } from "../approvals/records.ts";
import { artifactsOfBranch } from "../artifacts/attached.ts";
import { holdsRun } from "../store/fence.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import { inboxBody } from "./row-codecs.ts";

interface InboxBody {
  readonly v: 1;
  readonly message: UserMessage;
  /** A note for the next model call, and no more. */
  readonly once?: true | undefined;
}

/** What is known of a message that was sent to a run. */
export interface Sent {
  readonly id: string;
  readonly isNew: boolean;
  /** Waits until it is known what became of it, unless that is not wanted. */
  receipt(store: Store, clock: Clock, wait: boolean): Promise<Receipt>;
}

interface Sending {
  readonly tenant: string;
  readonly runId: string;
  readonly parts: readonly UserPart[];
  readonly requestId: string | undefined;
  readonly once: boolean;
  readonly at: number;
}

/** Queues a message for a run under way. For one that is over the message becomes the next turn (X6). */
export function* sendToRun(db: Builder, sending: Sending): Operation<Sent> {
  const { tenant, runId, parts, requestId, once, at } = sending;
  if (requestId !== undefined) {
    const [known] = yield* rows(
      db
        .selectFrom("requests")
        .select("record_id")
        .where("tenant", "=", tenant)
        .where("operation", "=", "steer")
        .where("request_id", "=", requestId),
    );
    if (known !== undefined) return sent(known.record_id, false);
  }
  yield* holdsRun(db, runId);
  const [run] = yield* rows(
    db
      .selectFrom("runs")
      .select(["branch_id", "ended_at"])
      .where("id", "=", runId)
      .where("tenant", "=", tenant),
  );
  if (run === undefined) throw new TracksideError("not_found", `There is no run ${runId}.`);
  if (run.ended_at !== null)
    throw new TracksideError(
      "config_invalid",
      `The run ${runId} is over. Send the message to its conversation ${run.branch_id}.`,
    );
  const attached = attachedTo(parts);
  if (attached.length > 0) {
    const known = yield* artifactsOfBranch(db, tenant, run.branch_id, attached);
    refuseUnknown(parts, (artifact) => known.has(artifact), "message");
  }
  const id = newId("msg");
  const body: InboxBody = { v: 1, message: { id, role: "user", parts }, ...(once ? { once } : {}) };
  yield* rows(
    db.insertInto("inbox").values({
      id,
      tenant,
      branch_id: run.branch_id,
      run_id: runId,
      state: "queued",
      created_at: at,
      body: JSON.stringify(body),
    }),
  );
  if (requestId !== undefined) {
    const request = {
      tenant,
      request_id: requestId,
      operation: "steer",
      record_id: id,
      digest: "",
      created_at: at,
    };
    yield* rows(db.insertInto("requests").values(request));
  }
  yield* wake(db, runId, "inbox", at);
  return sent(id, true);
}

/** Messages of a run that nobody has admitted, oldest first. */
export function* queuedFor(db: Builder, runId: string): Operation<readonly InboxBody[]> {
  const found = yield* rows(
    db
      .selectFrom("inbox")
      .select("body")
      .where("run_id", "=", runId)
      .where("state", "=", "queued")
      .orderBy("created_at")
      .orderBy("id"),
  );
  return found.map(({ body }) => inboxBody.read(body));
}

/** What a step boundary hears: the messages that wait. They stay queued until the loop has said what became of them. */
export async function boundaryOf(store: Store, run: RunContext): Promise<BoundaryOut> {
  const queued = await store.read((db) => queuedFor(db, run.id));
  for (const { message } of queued) run.record(message);
  return {
    inbox: queued.map(({ message: { id }, once }) => ({
      message_id: id,
      receipt: id,
      ...(once ? { once } : {}),
    })),
  };
}

export function* settleInbox(
  db: Builder,
  receipt: string,
  state: "admitted" | "dropped" | "next_turn",
  runId: string,
  at: number,
): Operation<void> {
  const [row] = yield* rows(db.selectFrom("inbox").select("body").where("id", "=", receipt));
  if (row === undefined) return;
  const body = inboxBody.write({ ...inboxBody.read(row.body, receipt), settled_at: at });
  yield* rows(db.updateTable("inbox").set({ state, run_id: runId, body }).where("id", "=", receipt));
}

const POLL_MS = 50;

function sent(id: string, isNew: boolean): Sent {
  return {
    id,
    isNew,
    async receipt(store, clock, wait) {
      for (;;) {
        const [row] = await store.read((db) =>
          rows(db.selectFrom("inbox").select(["state", "run_id", "created_at", "body"]).where("id", "=", id)),
        );
        if (row === undefined) throw new TracksideError("config_invalid", `The message ${id} was deleted.`);
        if (row.state !== "queued" || !wait) {
          const { settled_at: at = row.created_at } = inboxBody.read(row.body, id);
          return { id, state: row.state as Receipt["state"], runId: row.run_id, at }; // as `settleInbox` writes it
        }
        await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
      }
    },
  };
}
