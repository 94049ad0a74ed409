import type { ToolContext } from "trackside";

export type ElicitRequest = Parameters<ToolContext["elicit"]>[0];
export type ElicitAnswer = Awaited<ReturnType<ToolContext["elicit"]>>;

/** One thing a call did, in the order in which it did it. */
export type Happening =
  | { readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly asked: ElicitRequest };

export interface Watched {
  readonly context: ToolContext;
  readonly happened: readonly Happening[];
  cancel(): void;
}

export interface WatchOptions {
  /** What the person behind the run answers. Left out: nobody is there. */
  readonly answer?: (request: ElicitRequest) => ElicitAnswer | Promise<ElicitAnswer>;
  readonly onProgress?: (progress: number) => void;
}

let calls = 0;

/** The context of one call, as an engine would make it, and what the tool did with it. */
export function watched(options: WatchOptions = {}): Watched {
  const aborter = new AbortController();
  const happened: Happening[] = [];
  const callId = `run.root.0.${calls++}`;
  return {
    happened,
    cancel: () => aborter.abort(new Error("cancelled")),
    context: {
      scope: { tenant: "t" },
      turnRef: "turn",
      runId: "run",
      callId,
      idempotencyKey: callId,
      attempt: 1,
      signal: aborter.signal,
      last: () => undefined,
      progress(update) {
        happened.push(update);
        options.onProgress?.(update.progress);
      },
      async elicit(request) {
        happened.push({ asked: request });
        return (await options.answer?.(request)) ?? { action: "cancel" };
      },
    },
  };
}
