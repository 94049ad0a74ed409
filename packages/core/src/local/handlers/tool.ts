import type { Failure, FailureCode } from "../../schema/failure.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { ToolCallPart, ToolMessage, ToolOutput } from "../../schema/message.ts";
import type { ToolResultMetadata } from "../../schema/tool.ts";
import type { Tool } from "../../tools/define-tool.ts";
import { toOutput } from "../../tools/to-output.ts";
import type { ToolInput, ToolOut } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";
import { type Executed, execute } from "./execute.ts";

/** Runs one call: check, PRE_TOOL_CALL, execute, POST_TOOL_CALL or TOOL_ERROR, record. It always leaves a result. */
export async function callTool(run: RunContext, input: ToolInput, effect: Effect): Promise<ToolOut> {
  const part = findCall(run, input);
  const settle = (
    output: ToolOutput,
    times: Times,
    stop: Pick<ToolOut, "fatal" | "cancelled"> = {},
  ): ToolOut => {
    const message = resultOf(part, input, output, times);
    run.record(message);
    return { message_id: message.id, ...stop };
  };
  const never = (code: FailureCode, message: string, stop: Pick<ToolOut, "fatal" | "cancelled"> = {}) => {
    const now = run.parts.clock.now();
    return settle(error(code, message), { started: now, completed: now }, stop);
  };

  if (effect.cancelled !== undefined) return stopped(effect.cancelled, never);
  const tool = run.agent.toolByName.get(part.tool);
  if (tool === undefined) return never("tool_unknown", unknownTool(run, part.tool));
  if (part.arguments === null) return never("tool_arguments_invalid", malformed(tool, part.problem ?? ""));
  const checked = await tool.input.check(part.arguments);
  if (!checked.ok) return never("tool_arguments_invalid", malformed(tool, checked.problem));

  const inputs = { toolName: tool.name, arguments: part.arguments };
  if (run.listens("PRE_TOOL_CALL")) {
    const fatal = await run.dispatch("PRE_TOOL_CALL", Object.freeze(inputs), input.attempt, effect);
    if (fatal) return never("cancelled", `Not run: ${fatal.message}`, { fatal });
    if (effect.cancelled !== undefined) return stopped(effect.cancelled, never);
  }

  const started = run.parts.clock.now();
  const executed = await execute(run, tool, checked.value, input, effect);
  const times = { started, completed: run.parts.clock.now() };
  if (executed.kind === "cancelled") {
    const message = "The run was stopped while this tool was running; whether it took effect is unknown.";
    return settle(error("cancelled_unknown", message), times, { cancelled: executed.reason });
  }
  const output = await outputOf(tool, executed);
  const fatal = await afterwards(
    run,
    input,
    inputs,
    output,
    resultOf(part, input, output, times).metadata,
    effect,
  );
  return settle(output, times, fatal ? { fatal } : {});
}

interface Times {
  started: number;
  completed: number;
}

type Never = (code: FailureCode, message: string, stop?: Pick<ToolOut, "fatal" | "cancelled">) => ToolOut;

function stopped(reason: string, never: Never): ToolOut {
  return never("cancelled", "Not run: the run was stopped before this call started.", { cancelled: reason });
}

/** Exactly one of POST_TOOL_CALL (returned) and TOOL_ERROR (threw, timed out) fires after a tool ran (R2). */
async function afterwards(
  run: RunContext,
  input: ToolInput,
  call: { toolName: string; arguments: JsonObject },
  output: ToolOutput,
  metadata: ToolResultMetadata,
  effect: Effect,
): Promise<Failure | undefined> {
  if (output.type === "error") {
    if (!run.listens("TOOL_ERROR")) return undefined;
    return run.dispatch(
      "TOOL_ERROR",
      Object.freeze({ ...call, error: output.failure }),
      input.attempt,
      effect,
    );
  }
  if (!run.listens("POST_TOOL_CALL")) return undefined;
  const inputs = Object.freeze({ ...call, result: output.value, metadata });
  return run.dispatch("POST_TOOL_CALL", inputs, input.attempt, effect);
}

async function outputOf(tool: Tool, executed: Exclude<Executed, { kind: "cancelled" }>): Promise<ToolOutput> {
  if (executed.kind === "failed") return error("tool_failed", executed.message);
  if (executed.kind === "timed_out") {
    return error("tool_timed_out", `The tool ${tool.name} did not finish within ${tool.timeoutMs} ms.`);
  }
  const output = toOutput(executed.value);
  if (!output.ok) return error("tool_result_invalid", `The tool ${tool.name} ran, but ${output.problem}.`);
  if (tool.output === null) return output.output;
  const checked = await tool.output.check(output.output.value);
  if (checked.ok) return output.output;
  return error(
    "tool_result_invalid",
    `The tool ${tool.name} ran, but its result does not fit its schema: ${checked.problem}.`,
  );
}

function resultOf(part: ToolCallPart, input: ToolInput, output: ToolOutput, times: Times): ToolMessage {
  const metadata: ToolResultMetadata = {
    status: statusOf(output),
    started_at: times.started,
    completed_at: times.completed,
    execution_time_ms: times.completed - times.started,
    approval_status: "not_required",
    approval_id: null,
    injected_args: {},
    offloaded_artifact_id: null,
    approval_wait_ms: 0,
    attempts: input.attempt,
    skipped_by: null,
    original_args: null,
  };
  const { call_id, wire_id, tool } = part;
  return { id: `${call_id}.result`, role: "tool", call_id, wire_id, tool, output, metadata };
}

function statusOf(output: ToolOutput): ToolResultMetadata["status"] {
  if (output.type !== "error") return "success";
  return output.failure.code === "tool_timed_out" ? "timed_out" : "error";
}

function error(code: FailureCode, message: string): ToolOutput & { type: "error" } {
  return { type: "error", failure: { code, message } };
}

function findCall(run: RunContext, input: ToolInput): ToolCallPart {
  const message = run.message(input.message_id);
  const part =
    message?.role === "assistant"
      ? message.parts.find((one) => one.type === "tool_call" && one.call_id === input.call.id)
      : undefined;
  if (part?.type !== "tool_call") throw new Error(`call ${input.call.id} is in no message`);
  return part;
}

function unknownTool(run: RunContext, name: string): string {
  const known = run.agent.tools.map((tool) => tool.name);
  return `There is no tool "${name}". ${known.length > 0 ? `Known tools: ${known.join(", ")}.` : "There are no tools."}`;
}

function malformed(tool: Tool, problem: string): string {
  return `The tool ${tool.name} was not run: ${problem}.`;
}
