import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { JsonObject } from "../../schema/json.ts";
import type { AssistantMessage, AssistantPart, ToolCallPart } from "../../schema/message.ts";
import type { Call } from "../../schema/tool.ts";
import { splitInjected } from "../../tools/injected.ts";
import { parseArguments } from "../../tools/parse-arguments.ts";
import type { ModelInput } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import { after, type Maybe } from "../maybe.ts";
import type { RunContext } from "../run-context.ts";
import type { Assembly, TextBlock, ToolSlot } from "./assembly.ts";
import { checkArguments } from "./check-arguments.ts";

/** Call ids are ours: `<run>.<path>.<step>.<index>`, fixed when the message is recorded (T7). */
export function callIdOf(runId: string, lane: Lane, step: number, index: number): string {
  const end = `.${lane}.${step}.${index}`;
  return `${runId}${end}`;
}

export type Lane = "main" | "planner";

/** Whose message it is. */
export function laneOf({ planner }: ModelInput): Lane {
  return planner === undefined ? "main" : "planner";
}

/** The model's message once its stream is complete. */
export function wholeMessage(
  run: RunContext,
  input: ModelInput,
  id: string,
  assembly: Assembly,
): AssistantMessage {
  const truncated = assembly.finish?.unified === "length";
  const parts = assembly.blocks.map((block): AssistantPart => {
    if (block.type === "call") return callPart(run, input, block.slot, truncated);
    return block.type === "file" ? block.part : textPart(block, assembly.changed(block.type));
  });
  const { annotations } = assembly;
  return annotations.length > 0
    ? { id, role: "assistant", parts, annotations }
    : { id, role: "assistant", parts };
}

const NO_CALLS: readonly Call[] = Object.freeze([]);

/** The calls a message asks for, as the loop sees them. */
export function callsOf(run: RunContext, message: AssistantMessage, effect: Effect): Maybe<readonly Call[]> {
  let calls: Maybe<Call>[] | undefined;
  let waits = false;
  for (const part of message.parts) {
    if (part.type !== "tool_call") continue;
    const call = callOf(run, effect, part, Number(part.call_id.slice(part.call_id.lastIndexOf(".") + 1)));
    waits ||= call instanceof Promise;
    if (calls === undefined) calls = [call];
    else calls.push(call);
  }
  if (calls === undefined) return NO_CALLS;
  return waits ? Promise.all(calls) : (calls as Call[]); // none of them is a promise
}

/** What had been shown of a message that was cut off. Signed reasoning without its end is of no use to a provider. */
export function partialMessage(id: string, assembly: Assembly): AssistantMessage {
  const parts: AssistantPart[] = [];
  for (const block of assembly.blocks) {
    if (block.type === "text" || block.type === "reasoning")
      parts.push({ type: block.type, text: block.text });
  }
  return { id, role: "assistant", parts, partial: true };
}

function callPart(run: RunContext, asked: ModelInput, slot: ToolSlot, truncated: boolean): ToolCallPart {
  const { step } = asked;
  const { input = "" } = slot; // none only where the token limit cut it off
  const part: ToolCallPart = {
    type: "tool_call",
    call_id: callIdOf(run.id, laneOf(asked), step, slot.index),
    wire_id: wireId(run, step, slot),
    tool: slot.tool,
    arguments: null,
  };
  if (slot.provider !== undefined) part.provider = slot.provider as JsonObject; // JSON since it was taken in
  if (truncated && /^\s*(\{\s*\})?\s*$/.test(input)) {
    part.raw = input;
    part.problem = "the answer was cut at the token limit before the arguments";
    return part;
  }
  // Tools without arguments often get an empty text for them.
  const parsed = parseArguments(input.trim() === "" ? "{}" : input);
  if (!parsed.ok) {
    part.raw = input;
    part.problem = parsed.problem;
    return part;
  }
  const apart = splitInjected(parsed.value, run.agent.definition.injected_tool_args);
  part.arguments = apart.arguments;
  if (apart.injected !== undefined) part.injected = apart.injected;
  return part;
}

/** The provider's own id where it is usable, made unique otherwise. */
function wireId(run: RunContext, step: number, slot: ToolSlot): string {
  const used = run.log.wireIds;
  let id = slot.providerId;
  if (id === "" || used.has(id)) id = `call_${run.id.slice(-8)}_${step}_${slot.index}`;
  used.add(id);
  return id;
}

export function callOf(run: RunContext, effect: Effect, part: ToolCallPart, index: number): Maybe<Call> {
  const tool = run.agent.toolByName.get(part.tool);
  const call: Call = { id: part.call_id, index, tool: part.tool };
  if (tool === undefined || part.arguments === null) return call;
  if (tool.exclusive) return { ...call, exclusive: true };
  if (!tool.sharesResource) return call;
  return after(checkArguments(run, tool, part.arguments, effect), (checked) => {
    const resource = checked.ok ? tool.resourceOf(checked.value) : undefined;
    return resource === undefined ? call : { ...call, resource };
  });
}

/** Reasoning that a transformer changed no longer fits its signature, so it is marked and goes without it (H8). */
function textPart({ type, text, provider }: TextBlock, changed: boolean): AssistantPart {
  if (!changed) return { type, text, ...providerField(provider) };
  return type === "reasoning" ? { type, text, changed } : { type, text };
}

function providerField(provider: SharedV4ProviderMetadata | undefined): { provider?: JsonObject } {
  return provider === undefined ? {} : { provider: provider as JsonObject }; // JSON since it was taken in
}
