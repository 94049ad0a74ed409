import { Agent, defineTool, type Rail } from "trackside";
import { type Script, scriptedModel } from "trackside/testing";
import * as z from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: z.object({ to: z.string(), amount: z.number().max(100) }),
  execute: ({ to, amount }) => ({ paid: amount, to }),
});
const broken = defineTool({
  name: "broken",
  execute: (): string => {
    throw new Error("no luck");
  },
});
export const PAY = { calls: [{ tool: "pay", args: { to: "Ann", amount: 5 } }] };

/** An agent that can pay, and has a tool that is broken. */
export function payer(script: Script, rails: readonly Rail[]) {
  const model = scriptedModel(script);
  return {
    model,
    agent: new Agent({ name: "a", model, tools: [pay, broken], instructions: "Be kind.", rails }),
  };
}
