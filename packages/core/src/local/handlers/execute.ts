import type { Scope } from "../../schema/run.ts";
import type { Tool, ToolContext } from "../../tools/define-tool.ts";
import type { ToolInput } from "../../turn/world.ts";
import type { Timer } from "../clock.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

export type Executed =
  | { kind: "returned"; value: unknown }
  | { kind: "failed"; message: string }
  | { kind: "timed_out" }
  | { kind: "cancelled"; reason: string };

/** Runs a tool's function. A throw is a value; a timeout or a cancel is answered at once, whatever the function does. */
export function execute(
  run: RunContext,
  tool: Tool,
  args: unknown,
  input: ToolInput,
  effect: Effect,
): Executed | Promise<Executed> {
  const context = new CallContext(run, tool, input, effect);
  let returned: unknown;
  try {
    returned = tool.run(args, context);
  } catch (error) {
    return failed(error);
  }
  if (!isPromise(returned)) return { kind: "returned", value: returned };
  return settle(returned, run, tool, effect, context);
}

function settle(
  pending: PromiseLike<unknown>,
  run: RunContext,
  tool: Tool,
  effect: Effect,
  context: CallContext,
) {
  return new Promise<Executed>((resolve) => {
    let timer: Timer | undefined;
    const finish = (executed: Executed) => {
      context.over = true;
      timer?.stop();
      effect.offCancel(listener);
      resolve(executed);
    };
    let cancelledAt: number | undefined;
    const listener = {
      cancelled(reason: string) {
        cancelledAt = run.parts.clock.now();
        finish({ kind: "cancelled", reason });
      },
    };
    /** Nobody waits for a tool that was cancelled; what came of it within the grace is still worth knowing (X5). */
    const late = (outcome: "returned" | "failed") => {
      if (cancelledAt === undefined || run.parts.clock.now() - cancelledAt > GRACE_MS) return;
      run.late?.({ call_id: context.callId, tool: tool.name, outcome });
    };
    effect.onCancel(listener);
    if (tool.timeoutMs !== null) {
      timer = run.parts.clock.after(tool.timeoutMs, () => {
        finish({ kind: "timed_out" });
        effect.abort(`timed out after ${tool.timeoutMs} ms`);
      });
    }
    pending.then(
      (value) => {
        finish({ kind: "returned", value });
        late("returned");
      },
      (error: unknown) => {
        finish(failed(error));
        late("failed");
      },
    );
  });
}

/** How long the outcome of a cancelled tool is listened for. */
const GRACE_MS = 5000;

/** What a tool is given. The signal is made when first read. */
class CallContext implements ToolContext {
  readonly scope: Scope;
  readonly turnRef: string;
  readonly runId: string;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  over = false;
  readonly #run: RunContext;
  readonly #tool: Tool;
  readonly #effect: Effect;
  readonly #path: readonly string[];
  #reports = 0;

  constructor(run: RunContext, tool: Tool, input: ToolInput, effect: Effect) {
    this.#run = run;
    this.#tool = tool;
    this.#effect = effect;
    this.#path = input.planner ? [...run.path, "planner"] : run.path;
    this.scope = run.scope;
    this.turnRef = run.turnRef;
    this.runId = run.id;
    this.callId = input.call.id;
    this.idempotencyKey = input.call.id;
    this.attempt = input.attempt;
  }

  get signal(): AbortSignal {
    return this.#effect.signal;
  }

  elicit(): Promise<never> {
    return Promise.reject(new Error("nobody can be asked while a tool runs, in this version"));
  }

  /** A getter, so that `({ progress }) => …` works. */
  get progress(): ToolContext["progress"] {
    return (update) => {
      checkProgress(update);
      const run = this.#run;
      // Always before the call's result, never after it (M2).
      if (this.over || !run.observed || !run.agent.definition.emit_mcp_progress) return;
      run.live({
        type: "mcp_progress",
        run_id: run.id,
        turn_ref: run.turnRef,
        path: this.#path,
        after_seq: run.seq,
        attempt: this.attempt,
        call_id: this.callId,
        offset: this.#reports++,
        server: this.#tool.server?.name ?? null,
        progress: update.progress,
        total: update.total ?? null,
        message: update.message ?? null,
      });
    };
  }
}

/** What is not JSON would be an event that is none. */
function checkProgress({ progress, total, message }: Parameters<ToolContext["progress"]>[0]): void {
  const sound = (value: unknown) =>
    value === undefined || (typeof value === "number" && Number.isFinite(value));
  if (
    progress === undefined ||
    !sound(progress) ||
    !sound(total) ||
    (message !== undefined && typeof message !== "string")
  ) {
    throw new TypeError("progress({ progress, total?, message? }) takes finite numbers and a text");
  }
}

function failed(error: unknown): Executed {
  let message: string;
  try {
    message = error instanceof Error ? error.message || error.name : String(error);
  } catch {
    message = "it threw something that cannot be shown";
  }
  return { kind: "failed", message: message || "it failed without saying why" };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
