import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Scope } from "../../schema/run.ts";
import { isThenable } from "../../schema/thenable.ts";
import type { ElicitAnswer, ElicitRequest, Tool, ToolContext } from "../../tools/define-tool.ts";
import type { ToolInput } from "../../turn/world.ts";
import type { Timer } from "../clock.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

export type Executed =
  | { kind: "returned"; value: unknown }
  | { kind: "failed"; message: string }
  | { kind: "timed_out" }
  | { kind: "cancelled"; reason: string };

/** What a tool does next: it ends, or it asks the person behind the run and waits. */
export type Progress = Executed | { kind: "elicits"; question: Question; flight: Flight };

/** Runs a tool's function. A throw is a value; a timeout or a cancel is answered at once, whatever the function does. */
export function execute(
  run: RunContext,
  tool: Tool,
  args: JsonObject,
  value: unknown,
  input: ToolInput,
  effect: Effect,
): Progress | Promise<Progress> {
  const context = new CallContext(run, tool, input, effect);
  let returned: unknown;
  try {
    returned = tool.run(value, context);
  } catch (error) {
    return failed(error);
  }
  if (!isThenable(returned)) return { kind: "returned", value: returned };
  return new Flight(returned, run, tool, args, context, effect).next(effect);
}

/** A question of a tool that is running. */
export interface Question {
  readonly request: ElicitRequest;
  readonly answer: (answer: ElicitAnswer) => void;
}

/** A tool's function under way. It may outlive the effect that began it: while somebody is asked, no effect waits for it. */
export class Flight {
  /** What it runs with. */
  readonly args: JsonObject;
  readonly startedAt: number;
  readonly #run: RunContext;
  readonly #tool: Tool;
  readonly #context: CallContext;
  /** The effect it was begun in, whose signal it has. */
  readonly #begun: Effect;
  #timer: Timer | undefined;
  #asking: Question | undefined;
  #over: Executed | undefined;
  #cancelledAt: number | undefined;
  #tell: (() => void) | undefined;

  constructor(
    pending: PromiseLike<unknown>,
    run: RunContext,
    tool: Tool,
    args: JsonObject,
    context: CallContext,
    begun: Effect,
  ) {
    this.args = args;
    this.startedAt = run.parts.clock.now();
    this.#run = run;
    this.#tool = tool;
    this.#context = context;
    this.#begun = begun;
    context.asked = () => this.#tell?.();
    pending.then(
      (value) => {
        this.#end({ kind: "returned", value });
        this.#late("returned");
      },
      (error: unknown) => {
        this.#end(failed(error));
        this.#late("failed");
      },
    );
  }

  /** Its end, or its next question. A cancel of the effect that waits ends it. */
  next(effect: Effect): Promise<Progress> {
    return new Promise((resolve) => {
      const listener = { cancelled: (reason: string) => this.stop(reason) };
      this.#tell = () => {
        const progress = this.#progress();
        if (progress === undefined) return;
        this.#tell = undefined;
        this.#timer?.stop();
        effect.offCancel(listener);
        resolve(progress);
      };
      effect.onCancel(listener);
      this.#watch();
      this.#tell?.();
    });
  }

  /** Somebody takes up its question. */
  asks(question: Question): void {
    this.#asking = question;
  }

  answer(answer: ElicitAnswer): void {
    this.#asking?.answer(answer);
    this.#asking = undefined;
  }

  /** Nobody waits for it any more. */
  stop(reason: string): void {
    this.#cancelledAt ??= this.#run.parts.clock.now();
    this.#end({ kind: "cancelled", reason });
    this.#begun.abort(reason);
  }

  #progress(): Progress | undefined {
    if (this.#over !== undefined) return this.#over;
    const question = this.#context.questions.shift();
    return question === undefined ? undefined : { kind: "elicits", question, flight: this };
  }

  /** What a person takes to answer does not count. */
  #watch(): void {
    const { timeoutMs } = this.#tool;
    if (timeoutMs === null || this.#over !== undefined) return;
    this.#timer = this.#run.parts.clock.after(timeoutMs, () => {
      this.#end({ kind: "timed_out" });
      this.#begun.abort(`timed out after ${timeoutMs} ms`);
    });
  }

  #end(executed: Executed): void {
    if (this.#over !== undefined) return;
    this.#over = executed;
    this.#context.over = true;
    for (const { answer } of this.#context.questions.splice(0)) answer({ action: "cancel" });
    this.answer({ action: "cancel" });
    this.#tell?.();
  }

  /** Nobody waits for a tool that was cancelled; what came of it within the grace is still worth knowing (X5). */
  #late(outcome: "returned" | "failed"): void {
    if (this.#cancelledAt === undefined || this.#run.parts.clock.now() - this.#cancelledAt > GRACE_MS) return;
    this.#run.late?.({ call_id: this.#context.callId, tool: this.#tool.name, outcome });
  }
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
  /** What it asks the person behind the run, until somebody takes it up. */
  readonly questions: Question[] = [];
  asked: (() => void) | undefined;
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

  /** A getter, so that `({ last }) => …` works. */
  get last(): ToolContext["last"] {
    return (tool) => {
      const { messages } = this.#run.log;
      const found = messages.findLast(
        (entry) => entry.role === "tool" && entry.tool === tool && entry.metadata.status === "success",
      );
      return found?.role === "tool" && found.output.type !== "error" ? found.output.value : undefined;
    };
  }

  /** A getter, so that `({ elicit }) => …` works. */
  get elicit(): ToolContext["elicit"] {
    return (request) => {
      if (this.over) return Promise.resolve({ action: "cancel" });
      checkQuestion(request);
      return new Promise((answer) => {
        this.questions.push({ request, answer });
        this.asked?.();
      });
    };
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

function checkQuestion({ message, schema }: ElicitRequest): void {
  if (typeof message !== "string" || !isJsonObject(schema))
    throw new TypeError("elicit({ message, schema }) takes a text and the JSON Schema of the answer");
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
