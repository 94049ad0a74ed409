import { Agent, type Clock, localEngine, type RunResult, type Tool, type ToolMessage } from "trackside";
import { type ScriptedCall, type ScriptedRequest, scriptedModel } from "trackside/testing";
import { expect } from "vitest";
import { collect } from "./collect.ts";

/** One turn in which the model asks for these calls at once, and then answers `done`. */
export async function runCalls(
  tools: readonly Tool[],
  calls: readonly (ScriptedCall | string)[],
  options: { clock?: Clock; emitMcpProgress?: boolean; scope?: Record<string, unknown> } = {},
) {
  const asked = calls.map((call) => (typeof call === "string" ? { tool: call } : call));
  const model = scriptedModel([{ calls: asked }, "done"]);
  const { clock, scope, emitMcpProgress = true } = options;
  const agent = new Agent({ name: "clerk", model, tools, emitMcpProgress });
  const stream = agent.stream("Go", {
    engine: localEngine(clock ? { clock } : {}),
    ...(scope ? { scope } : {}),
  });
  const events = await collect(stream);
  const result = await stream.result;
  expect(result.output).toBe("done"); // whatever became of the calls, the run went on
  return {
    events,
    result,
    results: resultsOf(result),
    told: toldOf(model.requests[1]),
    requests: model.requests,
  };
}

/** The results in the log, in call order. */
export function resultsOf(result: Pick<RunResult<unknown>, "messages">): ToolMessage[] {
  return result.messages.filter((message) => message.role === "tool");
}

/** What the model was given as the outcome of its calls. */
function toldOf(request: ScriptedRequest | undefined) {
  const last = request?.prompt.at(-1);
  if (last?.role !== "tool") throw new Error("the last message of the request holds no results");
  return last.content.map((part) => (part.type === "tool-result" ? part.output : part));
}
