import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  startChild,
  workflowInfo,
} from "@temporalio/workflow";
import {
  type Asked,
  type ChildInput,
  type ChildOut,
  Divergence,
  driveJournal,
  NO_USAGE,
  type OpenedTurn,
  type RowsOrder,
} from "trackside/loop";
import {
  type Activities,
  ERASED,
  HEARD,
  type Heard,
  PARKED,
  STOPPED,
  type TurnArgs,
  type TurnEnd,
  type Unable,
  WORKFLOW_TASK,
} from "../common/wire.ts";
import { MovesOn, type Performing, WorkflowHost } from "./workflow-host.ts";

export { tracksideSchedule } from "./schedule.ts";

/**
 * The loop decides what is tried again and how often; Temporal does so only when a worker is gone or its store is away,
 * for as long as it takes. So the two never multiply.
 */
const UNTIL_DONE: ActivityOptions = {
  startToCloseTimeout: "365 days", // each effect has limits of its own
  heartbeatTimeout: "3 s",
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: {
    initialInterval: "200 ms",
    backoffCoefficient: 2,
    maximumInterval: "10 s",
    nonRetryableErrorTypes: [PARKED],
  },
};

/** How long whoever holds a tool under way has to come back before another worker is asked. */
const HOLDER_MS = "5 s";
/** Histories are kept well below what the server allows: 51,200 events, 50 MB. */
const LONG_HISTORY = 4_000;
const LARGE_HISTORY = 8 * 1024 * 1024;

const heard = defineSignal<[Heard]>(HEARD);
const stopped = defineQuery<string | null, [string]>(STOPPED);

/** One turn: the loop, over a world of activities, signals, timers and child workflows. */
export async function trackside(args: TurnArgs): Promise<TurnEnd> {
  const heardSoFar: Heard[] = [];
  let host: WorkflowHost | undefined;
  const hear = (what: Heard) => {
    if (host === undefined) heardSoFar.push(what);
    else if (what.cancelled !== undefined) host.cancelRun(what.cancelled);
    host?.call();
  };
  setHandler(heard, hear);
  setHandler(stopped, (key) => host?.stopped(key) ?? null);
  // A cancel in Temporal's own words is one like any other: every call gets its result, and the run a terminal status.
  CancellationScope.current().cancelRequested.catch(() => hear({ cancelled: "cancelled in Temporal" }));
  return CancellationScope.nonCancellable(() =>
    orParked(args, async () => {
      const opened = args.carried ?? (await open(args));
      if (opened === null) return { status: "over" };
      if ("usage" in opened) return { status: opened.status, child: opened };
      const turn = new WorkflowHost(args.run_id, opened, performing());
      host = turn;
      heardSoFar.forEach(hear);
      const ended = await drive(turn, opened, args);
      const child = await ably(() => activities.write(turn.unwritten));
      const status = ended.outcome?.status ?? "error";
      return child === null ? { status } : { status, child };
    }),
  );
}

/** A run that cannot go on by itself waits for somebody; whoever waits for a sub-agent waits with it. */
async function orParked({ run_id, child }: TurnArgs, work: () => Promise<TurnEnd>): Promise<TurnEnd> {
  try {
    return await work();
  } catch (error) {
    if (isErased(error)) return { status: "erased" };
    const why = parkedBy(error);
    if (why === undefined) throw error;
    await activities.park(run_id, why);
    if (child === undefined) return { status: "parked" };
    const message = `Its sub-agent ${run_id} is parked. ${why.message}`;
    throw ApplicationFailure.nonRetryable(message, PARKED, why.code);
  }
}

const activities = proxyActivities<Activities>(UNTIL_DONE);
/** Done by the worker that has the workflow: one event in the history, and no task. */
const here = proxyLocalActivities<Pick<Activities, "write">>({ startToCloseTimeout: "1 min" });

function open({ run_id, child }: TurnArgs): Promise<OpenedTurn | ChildOut | null> {
  return child === undefined ? ably(() => activities.open(run_id)) : ably(() => activities.openChild(child));
}

async function drive(host: WorkflowHost, opened: OpenedTurn, args: TurnArgs) {
  try {
    return await driveJournal(opened.agent, opened.turn, host);
  } catch (error) {
    if (!(error instanceof MovesOn)) throw error;
    const carried = host.carried(error.row);
    await ably(() => activities.write(host.unwritten));
    // A word that came while they were written is not said again.
    return continueAsNew<typeof trackside>({ ...args, carried: { ...carried, ...host.heard } });
  }
}

/** Effects as activities of the same name, sub-agents as child workflows. */
function performing(): Performing {
  return {
    perform(kind, order, at) {
      const { asked } = order;
      const options = { ...UNTIL_DONE, summary: asked.key };
      const anywhere = proxyActivities<Activities>(options);
      if (at === undefined) return ably(() => anywhere[kind](order));
      // A tool under way is asked where it is. When that worker is gone, so is the tool.
      const there = proxyActivities<Activities>({
        ...options,
        taskQueue: at,
        scheduleToStartTimeout: HOLDER_MS,
        retry: { ...UNTIL_DONE.retry, maximumAttempts: 1 },
      });
      const held = ably(() => there[kind](order));
      return held.catch((error: unknown) => {
        if (!(error instanceof ActivityFailure) || error.cause instanceof ApplicationFailure) throw error;
        return ably(() => anywhere[kind]({ ...order, lost: true }));
      });
    },
    child: runChild,
    write: (told) => ably(() => here.write(told)),
    get isLong() {
      const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
      return continueAsNewSuggested || historyLength > LONG_HISTORY || historySize > LARGE_HISTORY;
    },
  };
}

/**
 * A worker may have other code than a run needs, as in the middle of a deploy: then another one is asked, for a while.
 */
async function ably<T>(ask: () => Promise<T | Unable>): Promise<Exclude<T, Unable>> {
  for (let tries = 1; ; tries++) {
    const out = await ask();
    if (!isUnable(out)) return out as Exclude<T, Unable>; // the rest of its type
    if (tries === MOST_ASKED) throw ApplicationFailure.nonRetryable(out.unable, PARKED, "diverged");
    await sleep(Math.min(LONGEST_WAIT_MS, 100 * 2 ** tries));
  }
}

function isUnable(out: unknown): out is Unable {
  return typeof out === "object" && out !== null && "unable" in out;
}

/** About a quarter of a minute. */
const MOST_ASKED = 9;
const LONGEST_WAIT_MS = 3_000;

async function runChild(
  asked: Asked,
  parent: RowsOrder,
  cancelled: () => string | undefined,
): Promise<ChildOut> {
  const input = asked.input as ChildInput; // a child's
  const early = cancelled();
  if (early !== undefined) return stoppedChild({ run_id: input.run_id, usage: NO_USAGE }, early);
  const args: TurnArgs = { run_id: input.run_id, child: { parent, input } };
  const handle = await CancellationScope.nonCancellable(() =>
    startChild(trackside, {
      workflowId: input.run_id,
      args: [args],
      parentClosePolicy: ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowTaskTimeout: WORKFLOW_TASK,
    }),
  );
  let isOver = false;
  const ended = handle.result().finally(() => {
    isOver = true;
  });
  void stopWith(
    () => isOver,
    cancelled,
    (reason) => handle.signal(heard, { cancelled: reason }),
  );
  const { child: out } = await ended;
  if (out === undefined)
    throw ApplicationFailure.nonRetryable(`the sub-agent ${input.run_id} came to nothing`);
  const reason = cancelled();
  return reason === undefined ? out : stoppedChild(out, reason);
}

/** As it is for a sub-agent in any engine: what it had come to is no longer wanted. */
function stoppedChild({ run_id, usage }: Pick<ChildOut, "run_id" | "usage">, cancelled: string): ChildOut {
  const failure = { code: "cancelled" as const, message: `Stopped: ${cancelled}` };
  return { run_id, usage, status: "error", failure, cancelled };
}

async function stopWith(
  isOver: () => boolean,
  cancelled: () => string | undefined,
  stop: (reason: string) => Promise<void>,
): Promise<void> {
  await condition(() => isOver() || cancelled() !== undefined);
  const reason = cancelled();
  if (isOver() || reason === undefined) return;
  await stop(reason).catch(() => {}); // it has ended meanwhile
}

function isErased(error: unknown): boolean {
  return (
    error instanceof ActivityFailure &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === ERASED
  );
}

/** Why a run cannot go on by itself; undefined for what Temporal should see. */
function parkedBy(error: unknown): { message: string; code: "diverged" | "recovery_failed" } | undefined {
  if (error instanceof Divergence) return { message: error.message, code: "diverged" };
  const cause =
    error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure) || cause.type !== PARKED) return undefined;
  const [code] = cause.details ?? [];
  return { message: cause.message, code: code === "diverged" ? "diverged" : "recovery_failed" };
}
