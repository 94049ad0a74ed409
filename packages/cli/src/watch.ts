import type { AgentEvent, Conversation, RunStream, Tool } from "trackside";
import { EXIT } from "./command.ts";

/** How a run ended, for those who go on from there. */
export interface Ending {
  readonly exitCode: number;
  /** The conversation to continue; absent when the run was refused. */
  readonly conversation: Conversation | undefined;
}

export interface Watching {
  readonly show: (event: AgentEvent) => void;
  /** Called once when a signal has asked the run to stop. */
  readonly stopping: () => void;
}

type Signal = "SIGINT" | "SIGTERM";
const EXIT_OF = { SIGINT: EXIT.cancelled, SIGTERM: EXIT.terminated } as const;

/**
 * Shows a run to its end. The first Ctrl-C cancels it, and its last event is still waited for; the second ends the process
 * at once.
 */
export async function watch(run: RunStream<string, readonly Tool[]>, watching: Watching): Promise<Ending> {
  let received: Signal | undefined;
  const onSignal = (signal: Signal) => {
    if (received) process.exit(EXIT_OF[signal]);
    received = signal;
    run.cancel(signal === "SIGINT" ? "Ctrl-C" : signal);
    watching.stopping();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  try {
    let exitCode: number = EXIT.failed;
    for await (const event of run) {
      if (event.type === "status") exitCode = exitCodeOf(event, received);
      watching.show(event);
    }
    return { exitCode, conversation: await conversationOf(run) };
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

function exitCodeOf(event: Extract<AgentEvent, { type: "status" }>, received: Signal | undefined): number {
  if (event.status === "completed") return EXIT.completed;
  if (event.status === "cancelled") return received ? EXIT_OF[received] : EXIT.gone;
  const refused = event.seq === 1; // nothing was begun: the definition or the input is at fault
  return refused ? EXIT.usage : EXIT.failed;
}

/** A run that failed or was cancelled carries on in the same conversation. */
async function conversationOf(run: RunStream<string, readonly Tool[]>): Promise<Conversation | undefined> {
  try {
    return (await run.result).conversation;
  } catch (error) {
    const result = error instanceof Error && "result" in error ? error.result : undefined;
    return typeof result === "object" && result !== null && "conversation" in result
      ? (result.conversation as Conversation) // what the engine puts on its errors
      : undefined;
  }
}
