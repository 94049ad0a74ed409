import type { Json, JsonObject } from "../../schema/json.ts";
import type { ToolCallPart, ToolOutput } from "../../schema/message.ts";
import type { HookPoint } from "../../schema/points.ts";
import type { Tool } from "../../tools/define-tool.ts";
import { toOutput } from "../../tools/to-output.ts";
import type { ToolInput, ToolOut } from "../../turn/world.ts";
import { digestOf } from "../digest.ts";
import type { Effect } from "../effect.ts";
import { dispatchPoint, type Place, type PointResult } from "../point.ts";
import type { RunContext } from "../run-context.ts";
import { checkArguments } from "./check-arguments.ts";
import { type Executed, execute } from "./execute.ts";
import { Spoken } from "./spoken.ts";
import { callError, ToolRecord } from "./tool-record.ts";

/** Runs one call: check, PRE_TOOL_CALL, approval, execute, POST_TOOL_CALL or TOOL_ERROR, record. It always leaves a result. */
export async function callTool(run: RunContext, input: ToolInput, effect: Effect): Promise<ToolOut> {
  const part = findCall(run, input);
  const record = new ToolRecord(run, part, input);
  if (effect.cancelled !== undefined) return record.stopped(effect.cancelled);
  const tool = run.agent.toolByName.get(part.tool);
  if (tool === undefined) return record.never("tool_unknown", unknownTool(run, part.tool));
  if (part.arguments === null)
    return record.never("tool_arguments_invalid", notRun(tool, part.problem ?? ""));
  const checked = await checkArguments(run, tool, part.arguments, effect);
  if (effect.cancelled !== undefined) return record.stopped(effect.cancelled);
  if (!checked.ok) return record.never("tool_arguments_invalid", notRun(tool, checked.problem));
  return new ToolCall(run, input, effect, tool, part.arguments, record).make(checked.value);
}

class ToolCall {
  readonly #run: RunContext;
  readonly #input: ToolInput;
  readonly #effect: Effect;
  readonly #tool: Tool;
  readonly #written: JsonObject;
  readonly #record: ToolRecord;
  readonly #place: Place;
  readonly #spoken = new Spoken();

  constructor(
    run: RunContext,
    input: ToolInput,
    effect: Effect,
    tool: Tool,
    written: JsonObject,
    record: ToolRecord,
  ) {
    this.#run = run;
    this.#input = input;
    this.#effect = effect;
    this.#tool = tool;
    this.#written = written;
    this.#record = record;
    this.#place = { effect, attempt: input.attempt, rails: input.rails };
  }

  /** `value` is what the model wrote, as the tool's schema reads it. */
  async make(value: unknown): Promise<ToolOut> {
    const { decided } = this.#input;
    const held = this.#run.calls.get(this.#input.call.id);
    if (decided !== undefined) this.#record.decided(decided);
    if (decided === undefined || !held?.awaiting) return this.#begin(value);

    held.awaiting = false;
    if (decided.cancelled !== undefined) return this.#out(this.#record.stopped(decided.cancelled));
    if (decided.status !== "approved") return this.#out(this.#refused(decided.status, decided.reason));
    if (this.#tool.executor === "client")
      return this.#finish(held.arguments, { kind: "returned", value: held.response });
    if (held.edited === undefined) return this.#execute(held.arguments, await this.#value(held.arguments));
    return this.#edited(held.edited);
  }

  /** The model's own arguments: rails may change them, skip the call, or have a human asked. */
  async #begin(value: unknown): Promise<ToolOut> {
    let args = this.#written;
    let reasons: string[] = [];
    if (this.#run.listens("PRE_TOOL_CALL")) {
      const before = await this.#before(args);
      if ("out" in before) return before.out;
      args = before.args;
      reasons = before.reasons;
    }
    const { hitl_tools } = this.#run.agent.definition;
    if (hitl_tools.includes(this.#tool.name)) reasons.unshift(`${this.#tool.name} is in hitl_tools`);
    if (this.#tool.executor === "client") return this.#gate("client_tool", args, ["a client has to run it"]);
    if (reasons.length > 0 && !this.#alreadyApproved(args)) return this.#gate("tool_call", args, reasons);
    return this.#execute(args, args === this.#written ? value : await this.#value(args));
  }

  /** A human's arguments pass the rails again: skip and abort win, another question is not asked (L3). */
  async #edited(edited: JsonObject): Promise<ToolOut> {
    let args = edited;
    if (this.#run.listens("PRE_TOOL_CALL")) {
      const before = await this.#before(args);
      if ("out" in before) return before.out;
      args = before.args;
    }
    return this.#execute(args, await this.#value(args));
  }

  async #before(args: JsonObject): Promise<{ out: ToolOut } | { args: JsonObject; reasons: string[] }> {
    const check = async (_field: string, value: unknown) => {
      const found = await checkArguments(this.#run, this.#tool, value, this.#effect);
      return found.ok ? undefined : found.problem;
    };
    const { outcome, inputs, failure } = await this.#dispatch("PRE_TOOL_CALL", { arguments: args }, check);
    if (this.#effect.cancelled !== undefined)
      return { out: this.#out(this.#record.stopped(this.#effect.cancelled)) };
    if (failure)
      return {
        out: this.#out(this.#record.never("cancelled", `Not run: ${failure.message}`, { fatal: failure })),
      };
    if (outcome.action === "skip")
      return { out: this.#out(this.#skipped(outcome.rail ?? "", outcome.reason, outcome.replacement)) };
    if (outcome.action !== "continue") {
      return {
        out: this.#out(
          this.#record.never("cancelled", `Not run: ${outcome.rail}: ${outcome.reason || outcome.action}`),
        ),
      };
    }
    const reasons = outcome.asks.map(({ rail, reason }) => `${rail}: ${reason}`);
    return { args: inputs.read("arguments") as JsonObject, reasons }; // fits the tool's schema, checked above
  }

  async #execute(args: JsonObject, value: unknown): Promise<ToolOut> {
    if (args !== this.#written) this.#record.ranWith(args, this.#written);
    this.#record.start();
    return this.#finish(args, await execute(this.#run, this.#tool, value, this.#input, this.#effect));
  }

  async #finish(args: JsonObject, executed: Executed): Promise<ToolOut> {
    this.#record.end();
    if (executed.kind === "cancelled") {
      const message = "The run was stopped while this tool was running; whether it took effect is unknown.";
      return this.#out(
        this.#record.settle(callError("cancelled_unknown", message), { cancelled: executed.reason }),
      );
    }
    const output = await outputOf(this.#tool, executed);
    const point = output.type === "error" ? "TOOL_ERROR" : "POST_TOOL_CALL";
    if (!this.#run.listens(point)) return this.#out(this.#record.settle(output));
    return this.#after(point, args, output);
  }

  /** Exactly one of POST_TOOL_CALL (returned) and TOOL_ERROR (threw, timed out) fires after a tool ran (R2). */
  async #after(
    point: "POST_TOOL_CALL" | "TOOL_ERROR",
    args: JsonObject,
    output: ToolOutput,
  ): Promise<ToolOut> {
    const values =
      output.type === "error"
        ? { arguments: args, error: Object.freeze(output.failure) }
        : { arguments: args, result: output.value, metadata: Object.freeze(this.#record.metadata(output)) };
    const { outcome, inputs, failure } = await this.#dispatch(point, values, changedResult);
    if (failure) return this.#out(this.#record.settle(output, { fatal: failure }));
    if (outcome.action === "skip") {
      this.#record.skippedBy(outcome.rail ?? "");
      const stand =
        outcome.replacement === undefined
          ? withheld(point, outcome.rail ?? "", outcome.reason)
          : replaced(outcome.replacement);
      return this.#out(this.#record.settle(stand));
    }
    // What happens once is not made to happen again, whatever a rail says (R8).
    const exhausted = outcome.action === "retry" && this.#tool.effect === "once";
    const left = inputs.everChanged ? replaced(inputs.read("result") as Json) : output; // JSON, checked by `changedResult`
    return this.#out({ ...this.#record.settle(left), ...(exhausted ? { exhausted } : {}) });
  }

  async #dispatch(
    point: HookPoint,
    values: Record<string, unknown>,
    check?: Parameters<typeof dispatchPoint>[4],
  ): Promise<PointResult> {
    const found = await dispatchPoint(
      this.#run,
      point,
      { toolName: this.#tool.name, ...values },
      this.#place,
      check,
    );
    this.#spoken.add(found.verdict, found.outcome.passed);
    return found;
  }

  #gate(kind: "tool_call" | "client_tool", args: JsonObject, reasons: string[]): ToolOut {
    const { id } = this.#input.call;
    this.#run.calls.set(id, { arguments: args, awaiting: true, edited: undefined, response: undefined });
    const seconds = this.#run.agent.definition.hitl_timeout_seconds;
    return this.#out({
      gate: {
        approval_id: `${id}.approval.${this.#input.attempt}`,
        kind,
        call_id: id,
        tool: this.#tool.name,
        reasons,
        digest: digestOf(args),
        timeout_ms: seconds === null ? null : seconds * 1000,
      },
    });
  }

  /** A retry of an approved call needs no second approval for the very same arguments (L3). */
  #alreadyApproved(args: JsonObject): boolean {
    const { decided } = this.#input;
    return decided?.status === "approved" && decided.digest === digestOf(args);
  }

  #refused(status: "rejected" | "timed_out", reason: string): ToolOut {
    const why = reason === "" ? "" : `: ${reason}`;
    return status === "rejected"
      ? this.#record.never("rejected", `Not run: the call was rejected${why}`)
      : this.#record.never("approval_timed_out", "Not run: nobody approved the call in time.");
  }

  #skipped(rail: string, reason: string, replacement: Json | undefined): ToolOut {
    this.#record.skippedBy(rail);
    if (replacement !== undefined) return this.#record.settle(replaced(replacement));
    return this.#record.never(
      "rejected",
      `Not run: ${rail} does not allow it${reason === "" ? "." : `: ${reason}`}`,
    );
  }

  async #value(args: JsonObject): Promise<unknown> {
    const checked = await checkArguments(this.#run, this.#tool, args, this.#effect);
    if (!checked.ok) throw new Error(`arguments that were checked no longer fit: ${checked.problem}`);
    return checked.value;
  }

  #out(out: ToolOut): ToolOut {
    return { ...out, ...this.#spoken.out };
  }
}

async function outputOf(tool: Tool, executed: Exclude<Executed, { kind: "cancelled" }>): Promise<ToolOutput> {
  if (executed.kind === "failed") return callError("tool_failed", executed.message);
  if (executed.kind === "timed_out") {
    return callError("tool_timed_out", `The tool ${tool.name} did not finish within ${tool.timeoutMs} ms.`);
  }
  const output = toOutput(executed.value);
  if (!output.ok)
    return callError("tool_result_invalid", `The tool ${tool.name} ran, but ${output.problem}.`);
  if (tool.output === null) return output.output;
  const checked = await tool.output.check(output.output.value);
  if (checked.ok) return output.output;
  const message = `The tool ${tool.name} ran, but its result does not fit its schema: ${checked.problem}.`;
  return callError("tool_result_invalid", message);
}

function changedResult(_field: string, value: unknown): string | undefined {
  const output = toOutput(value);
  return output.ok ? undefined : output.problem;
}

function replaced(value: Json): ToolOutput {
  return typeof value === "string" ? { type: "text", value } : { type: "json", value };
}

function withheld(point: HookPoint, rail: string, reason: string): ToolOutput {
  if (point === "TOOL_ERROR") return { type: "text", value: "" };
  return { type: "text", value: `[withheld by ${rail}${reason === "" ? "" : `: ${reason}`}]` };
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

function notRun(tool: Tool, problem: string): string {
  return `The tool ${tool.name} was not run: ${problem}.`;
}
