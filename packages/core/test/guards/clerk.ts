import { Agent, type Approval, type Approve, defineTool, type Rail } from "trackside";
import { type ScriptedCall, scriptedModel } from "trackside/testing";
import * as z from "zod";

function payment() {
  const ran: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({ to: z.string(), amount: z.number().max(1000) }),
    execute: (args) => {
      ran.push(args);
      return `paid ${args.amount}`;
    },
  });
  return { pay, ran };
}

const PAY: ScriptedCall = { tool: "pay", args: { to: "Ann", amount: 500 } };

/** An agent whose model asks for payments, which are gated unless `hitl` is false. */
export function clerk(
  more: {
    calls?: readonly ScriptedCall[];
    rails?: readonly Rail[];
    hitl?: boolean;
    seconds?: number | null;
  } = {},
) {
  const { pay, ran } = payment();
  const model = scriptedModel([{ calls: more.calls ?? [PAY] }, "done"]);
  const agent = new Agent({
    name: "clerk",
    model,
    tools: [pay],
    hitlTools: more.hitl === false ? [] : ["pay"],
    ...(more.rails ? { rails: more.rails } : {}),
    ...(more.seconds === undefined ? {} : { hitlTimeoutSeconds: more.seconds }),
  });
  return { agent, ran, model };
}

/** Says yes, and notes what it was asked. */
export const approving =
  (seen: Approval[] = []): Approve =>
  (approval) => {
    seen.push(approval);
    return { choice: "approve", by: "ann" };
  };
