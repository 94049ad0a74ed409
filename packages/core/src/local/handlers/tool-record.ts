import type { Failure, FailureCode } from "../../schema/failure.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { ToolCallPart, ToolMessage, ToolOutput } from "../../schema/message.ts";
import type { ToolResultMetadata } from "../../schema/tool.ts";
import type { AskOut, ToolInput, ToolOut } from "../../turn/world.ts";
import { withResultAdvisory } from "../advisory.ts";
import type { RunContext } from "../run-context.ts";

type Stop = Pick<ToolOut, "fatal" | "cancelled" | "artifacts">;
const NOTHING: Stop = Object.freeze({});

/** The record of one call while it is made: what ends up beside its result (T2). */
export class ToolRecord {
  readonly #run: RunContext;
  readonly #part: ToolCallPart;
  readonly #input: ToolInput;
  #started: number | undefined;
  #completed: number | undefined;
  #decided: AskOut | undefined;
  #skippedBy: string | null = null;
  #original: JsonObject | null = null;
  #told: string | undefined;
  #sources: readonly string[] | undefined;

  constructor(run: RunContext, part: ToolCallPart, input: ToolInput) {
    this.#run = run;
    this.#part = part;
    this.#input = input;
  }

  start(at = this.#run.parts.clock.now()): void {
    this.#started = at;
  }

  end(): void {
    this.#completed = this.#run.parts.clock.now();
  }

  /** An earlier life made it. */
  ran(startedAt: number, completedAt: number): void {
    this.#started = startedAt;
    this.#completed = completedAt;
  }

  get times(): { started_at: number; completed_at: number } {
    const now = this.#run.parts.clock.now();
    return { started_at: this.#started ?? now, completed_at: this.#completed ?? now };
  }

  decided(decided: AskOut): void {
    this.#decided = decided;
  }

  skippedBy(rail: string): void {
    this.#skippedBy = rail;
  }

  /** Its result passes on what other tools said. */
  passesOn(sources: readonly string[]): void {
    this.#sources = sources;
  }

  get sources(): readonly string[] | undefined {
    return this.#sources;
  }

  /** Other arguments run than the model wrote; the model is told. */
  ranWith(args: JsonObject, written: JsonObject): void {
    this.#original = written;
    this.#told = `It ran with other arguments than you wrote: ${JSON.stringify(args)}`;
  }

  /** A call that never started. */
  never(code: FailureCode, message: string, stop: Stop = {}): ToolOut {
    return this.settle(callError(code, message), stop);
  }

  stopped(reason: string): ToolOut {
    return this.never("cancelled", "Not run: the run was stopped before this call started.", {
      cancelled: reason,
    });
  }

  /** A call that was stopped in the middle. */
  interrupted(reason: string): ToolOut {
    const message = "The run was stopped while this tool was running; whether it took effect is unknown.";
    return this.settle(callError("cancelled_unknown", message), { cancelled: reason });
  }

  /** Records the result. */
  settle(output: ToolOutput, stop: Stop = NOTHING): ToolOut {
    const { call_id, wire_id, tool } = this.#part;
    const plain: ToolMessage = {
      id: `${call_id}.result`,
      role: "tool",
      call_id,
      wire_id,
      tool,
      output,
      metadata: this.metadata(output, stop.artifacts?.[0]?.artifact_id),
    };
    const message = this.#annotated(plain);
    const { message_id: messageId, planner } = this.#input;
    this.#run.record(withResultAdvisory(this.#run, message, { messageId, isPlanning: planner === true }));
    const out = stop === NOTHING ? { message_id: message.id } : { message_id: message.id, ...stop };
    // A model reads it; a workflow has to be told.
    if (output.type !== "error" || this.#run.first.pinned.graph === undefined) return out;
    return { ...out, failure: output.failure };
  }

  #annotated(plain: ToolMessage): ToolMessage {
    const [told, sources] = [this.#told, this.#sources];
    if (told === undefined && sources === undefined) return plain;
    return {
      ...plain,
      ...(told === undefined ? {} : { told }),
      ...(sources === undefined ? {} : { sources }),
    };
  }

  /** `artifact` is the one that the result went to, or the first of its files. */
  metadata(output: ToolOutput, artifact: string | null = null): ToolResultMetadata {
    const now = this.#completed ?? this.#run.parts.clock.now();
    const started = this.#started ?? now;
    return {
      status: statusOf(output),
      started_at: started,
      completed_at: now,
      execution_time_ms: now - started,
      approval_status: this.#decided?.status ?? "not_required",
      approval_id: this.#decided?.approval_id ?? null,
      injected_args: this.#part.injected ?? NO_ARGUMENTS,
      offloaded_artifact_id: artifact,
      approval_wait_ms: this.#decided?.wait_ms ?? 0,
      attempts: this.#input.attempt,
      skipped_by: this.#skippedBy,
      original_args: this.#original,
    };
  }
}

const NO_ARGUMENTS = Object.freeze({});

export function callError(
  code: FailureCode,
  message: string,
): ToolOutput & { type: "error"; failure: Failure } {
  return { type: "error", failure: { code, message } };
}

function statusOf(output: ToolOutput): ToolResultMetadata["status"] {
  if (output.type !== "error") return "success";
  switch (output.failure.code) {
    case "tool_timed_out":
    case "approval_timed_out":
      return "timed_out";
    case "rejected":
      return "rejected";
    default:
      return "error";
  }
}
