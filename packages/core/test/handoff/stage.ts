import { Agent } from "trackside";
import { type Script, type ScriptedModel, scriptedModel } from "trackside/testing";
import { type Event, eventsOf } from "../guards/stage.ts";

/** A step in which the model hands over. */
export const to = (agent: string, more: object = {}) => ({
  calls: [{ tool: `handoff_to_${agent}`, args: { reason: `${agent} knows`, ...more } }],
});

/** An agent with a model of its own, which says these things. */
export function member(
  name: string,
  script: Script,
  config: object = {},
  registry: object = {},
): { agent: Agent; model: ScriptedModel } {
  const model = scriptedModel(script, { modelId: name });
  return { agent: new Agent({ name, model, instructions: `You are ${name}.`, ...config }, registry), model };
}

/** `from > to` for every handoff, in order. */
export function ways(events: readonly Event[]): string[] {
  return eventsOf(events, "handoff").map(({ from, to: target }) => `${from} > ${target}`);
}
