import { defineTool, type Json, type Tool } from "trackside";
import * as z from "zod";
import type { Store, Trackside } from "../../../src/index.ts";
import { agentOf, type HostParts, hostOn } from "../../agents/support/host.ts";

export const ANN = { by: "ann" };

/** Says back what it is given. */
export const echo: Tool = defineTool({
  name: "echo",
  effect: "none",
  input: z.object({ value: z.json() }),
  execute: ({ value }) => value as Json, // parsed as JSON
});

export const lookUp: Tool = defineTool({
  name: "look_up",
  effect: "none",
  input: z.object({ order: z.number() }),
  output: z.object({ total: z.number(), paid: z.boolean() }),
  execute: ({ order }) => ({ total: order * 2, paid: true }),
});

/** A host with two tools, and an agent "clerk" in its store. */
export async function roomOn(store: Store, parts: HostParts = {}): Promise<Trackside> {
  const trackside = hostOn(store, { tools: [echo, lookUp], ...parts });
  await trackside.open();
  const known = await trackside.agents.list();
  if (!known.some(({ name }) => name === "clerk"))
    await trackside.agents.create({ definition: agentOf("clerk") }, ANN);
  return trackside;
}

/** A workflow of one call, with what is asked for. */
export function flowOf(name: string, more: object = {}): Record<string, unknown> {
  return { name, nodes: { say: { kind: "tool", tool: "echo", arguments: { value: name } } }, ...more };
}
