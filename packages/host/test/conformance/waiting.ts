import type { Approval } from "trackside";
import type { ApprovalRecord, RunRecord, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";

/** Only what never happens takes this long. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 10;

/** Looks until there is something. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`this did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The oldest pending approval, of one kind when it is given. */
export async function pending(host: Trackside, kind?: Approval["kind"]): Promise<ApprovalRecord> {
  return until(`a pending ${kind ?? "approval"}`, async () => {
    const found = await host.approvals.list();
    return found.find((one) => kind === undefined || one.kind === kind);
  });
}

/** A message to a run is in the store: the next step boundary finds it. */
export async function queued(host: Trackside, runId: string): Promise<void> {
  await until("a queued message", async () => {
    const [row] = await host.engine.store.read((db) =>
      rows(db.selectFrom("inbox").select("id").where("run_id", "=", runId)),
    );
    return row;
  });
}

/** A run that has ended. */
export async function ended(host: Trackside, runId: string): Promise<RunRecord> {
  return until(`the end of ${runId}`, async () => {
    const run = await host.runs.get(runId);
    return run.ended_at === null ? undefined : run;
  });
}

/** The error of a promise that must be rejected. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("it should have been rejected with an error");
}

/** Lets a tool, model or server wait until the check opens it. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}
