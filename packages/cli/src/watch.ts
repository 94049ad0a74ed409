import { setImmediate as nextTurn } from "node:timers/promises";
import type { AgentEvent, Approval, Conversation, DurableEventOf, RunStream, Tool } from "trackside";
import type { Approver, MakeApprover } from "./approvals/approver.ts";
import { EXIT } from "./command.ts";
import type { Io, SignalName } from "./io.ts";

/** How a run ended, for those who go on from there. */
export interface Ending {
  readonly exitCode: number;
  /** The conversation to continue; absent when the run was refused. */
  readonly conversation: Conversation | undefined;
}

export interface Watching {
  readonly io: Pick<Io, "signals" | "exit">;
  readonly show: (event: AgentEvent) => void;
  /** Called once when a signal has asked the run to stop. */
  readonly stopping: () => void;
  /** Who decides what waits for a decision. */
  readonly approver: MakeApprover;
  /** The record of an approval, where the run is at work in another process. */
  readonly find?: ((id: string) => Promise<Approval | undefined>) | undefined;
}

type Watched = RunStream<string, readonly Tool[]>;
type Signal = Exclude<SignalName, "SIGHUP">;
const EXIT_OF = { SIGINT: EXIT.cancelled, SIGTERM: EXIT.terminated } as const;

/**
 * Shows a run to its end. The first Ctrl-C cancels it, and its last event is still waited for; the second ends the process
 * at once.
 */
export async function watch(run: Watched, watching: Watching): Promise<Ending> {
  let received: Signal | undefined;
  const { signals, exit } = watching.io;
  const stop = (signal: Signal) => {
    if (signal === "SIGINT" && approver.away) return;
    if (received) exit(EXIT_OF[signal]);
    received = signal;
    run.cancel(signal === "SIGINT" ? "Ctrl-C" : signal);
    watching.stopping();
  };
  const approver = watching.approver({
    decide: (id, decision) => run.decide(id, decision),
    interrupt: () => stop("SIGINT"),
  });
  const onInterrupt = () => stop("SIGINT");
  const onTerminate = () => stop("SIGTERM");
  signals.on("SIGINT", onInterrupt);
  signals.on("SIGTERM", onTerminate);
  try {
    let exitCode: number = EXIT.failed;
    for await (const event of run) {
      if (event.type === "status") exitCode = exitCodeOf(event, received);
      watching.show(event);
      if (event.type === "approval") await tell(approver, run, event, watching.find);
    }
    await approver.end();
    return { exitCode, conversation: await conversationOf(run) };
  } finally {
    signals.off("SIGINT", onInterrupt);
    signals.off("SIGTERM", onTerminate);
  }
}

async function tell(
  approver: Approver,
  run: Watched,
  event: DurableEventOf<"approval">,
  find: Watching["find"],
): Promise<void> {
  if (event.state !== "pending") return approver.settled(event);
  const approval = (await recordOf(run, event.approval_id)) ?? (await find?.(event.approval_id));
  if (approval?.state === "pending") approver.asked(approval);
}

const MOST_TURNS = 100;

/** The whole record, with its arguments. An event may come a moment before it; one that never comes is decided already. */
async function recordOf(run: Watched, id: string): Promise<Approval | undefined> {
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const found = run.pending.find((approval) => approval.id === id);
    if (found !== undefined) return found;
    await nextTurn();
  }
  return undefined;
}

function exitCodeOf(event: Extract<AgentEvent, { type: "status" }>, received: Signal | undefined): number {
  if (event.status === "completed") return EXIT.completed;
  if (event.status === "cancelled") return received ? EXIT_OF[received] : EXIT.gone;
  const refused = event.seq === 1; // nothing was begun: the definition or the input is at fault
  return refused ? EXIT.usage : EXIT.failed;
}

/** A run that failed or was cancelled carries on in the same conversation. */
async function conversationOf(run: Watched): Promise<Conversation | undefined> {
  try {
    return (await run.result).conversation;
  } catch (error) {
    const result = error instanceof Error && "result" in error ? error.result : undefined;
    return typeof result === "object" && result !== null && "conversation" in result
      ? (result.conversation as Conversation) // what the engine puts on its errors
      : undefined;
  }
}
