import { type Cursor, parseCursor, type Trackside } from "@trackside/host";
import type { Approval, DurableEvent, LiveEvent } from "trackside";
import { toolsOf } from "./agents.ts";
import { PauseTracker } from "./pause.ts";

/** One thing a reader of a run is shown. */
export type Moment =
  /** `isPast`: the client has it already; it is there for what follows from it. */
  | {
      readonly kind: "event";
      readonly event: DurableEvent | LiveEvent;
      readonly cursor: string;
      readonly isPast: boolean;
    }
  /** Nothing happens any more until somebody decides one of these. The last moment, where it comes. */
  | { readonly kind: "paused"; readonly waiting: readonly Approval[]; readonly cursor: string };

export interface Watching {
  readonly tenant: string;
  readonly runId: string;
  /** The cursor of the last moment the client has; without, it has nothing. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal;
  /** Something that was begun along with it, such as a message to the run: if that fails, so does this. */
  readonly beside?: Promise<unknown> | undefined;
}

/**
 * A run and its sub-agents from where the client is to the next point at which the protocols stop: the run's end, a pause
 * until a human or the client itself decides, or the parking of the run.
 */
export async function* watchRun(trackside: Trackside, watching: Watching): AsyncGenerator<Moment> {
  const { tenant, runId, beside } = watching;
  const stop = new AbortController();
  const signal = watching.signal ? AbortSignal.any([watching.signal, stop.signal]) : stop.signal;
  let failed: { readonly error: unknown } | undefined;
  beside?.catch((error: unknown) => {
    failed = { error };
    stop.abort();
  });
  const { agent } = await trackside.runs.get(runId, { tenant });
  const tools = toolsOf(trackside, agent);
  const tracker = new PauseTracker(runId, (name) => {
    const tool = tools.get(name);
    return tool !== undefined && (tool.exclusive || tool.sharesResource);
  });
  const paused = async (cursor: string): Promise<Moment | undefined> => {
    const ids = tracker.waitingFor;
    if (ids.length === 0) return undefined;
    const pending = await trackside.approvals.list({ tenant, rootRunId: runId, limit: 1000 });
    const waiting = pending.filter(({ id }) => ids.includes(id));
    // One that was decided a moment ago will be an event in the next.
    return waiting.length < ids.length ? undefined : { kind: "paused", waiting, cursor };
  };

  let after = watching.after ?? "0";
  if (after !== "0") {
    const events = await trackside.runs.events(runId, { tenant, children: true });
    const last = events.findLast((event) => event.run_id === runId)?.seq ?? 0;
    const position = parseCursor(after);
    if (position.seq > last) after = String(last); // made up; nothing is shown twice or left out after it
    for (const event of events) {
      if (!isBefore(event, runId, { ...position, seq: Math.min(position.seq, last) })) continue;
      tracker.read(event);
      yield { kind: "event", event, cursor: after, isPast: true };
    }
    const still = await paused(after);
    if (still !== undefined) return yield still;
  }

  const follow = trackside.runs.follow(runId, { tenant, after, signal });
  for await (const { event, cursor } of follow) {
    tracker.read(event);
    yield { kind: "event", event, cursor, isPast: false };
    if (event.type === "status" && event.status === "parked" && event.run_id === runId) {
      const { status } = await trackside.runs.get(runId, { tenant });
      if (status === "parked") return; // it may have gone on long ago
    }
    if (!("seq" in event)) continue;
    const now = await paused(cursor);
    if (now !== undefined) return yield now;
  }
  if (failed !== undefined) throw failed.error;
}

function isBefore(event: DurableEvent, runId: string, { seq, children }: Cursor): boolean {
  if (event.run_id === runId) return event.seq <= seq;
  return event.seq <= (children[event.run_id]?.seq ?? 0);
}

/** How far a run has come: where somebody goes on who needs nothing of what was. */
export async function positionOf(trackside: Trackside, tenant: string, runId: string): Promise<string> {
  const events = await trackside.runs.events(runId, { tenant });
  return String(events.at(-1)?.seq ?? 0);
}
