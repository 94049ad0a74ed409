import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { defineRail } from "../../rails/rail.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect } from "./behaviour.ts";

/** What an agent's definition adds around the calls of its tools. */
export const context = [
  behaviour(
    "T3 injected arguments reach record, event and approval, never the tool, its rails or its schema",
    async (make) => {
      const got: unknown[] = [];
      const seen: unknown[] = [];
      const input = z.object({ amount: z.number() });
      const pay = defineTool({
        name: "pay",
        input,
        execute: (args) => {
          got.push(args);
          return "paid";
        },
      });
      const own = JSON.stringify(pay.input.jsonSchema);
      const look = defineRail({ name: "look", on: ["PRE_TOOL_CALL"] }, (ctx) => {
        seen.push(ctx.inputs.arguments);
      });
      const model = scriptedModel([
        { calls: [{ tool: "pay", args: { amount: 3, reason: "it is due", mood: null } }] },
        "done",
      ]);
      const agent = new Agent({
        name: "a",
        model,
        tools: [pay],
        rails: [look],
        hitlTools: ["pay"],
        injectedToolArgs: { reason: "Why you do this.", mood: "How you feel." },
      });
      const asked: unknown[] = [];
      const stream = agent.stream("Go", {
        engine: await make(),
        approve: ({ arguments: args, injected_args }) => {
          asked.push(args, injected_args);
          return { choice: "approve" };
        },
      });
      const events = await collect(stream);
      const { messages } = await stream.result;

      assert.deepEqual(got, [{ amount: 3 }]);
      assert.deepEqual(seen, [{ amount: 3 }]);
      assert.deepEqual(asked, [{ amount: 3 }, { reason: "it is due" }]);
      const [result] = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
      assert.deepEqual(result?.metadata.injected_args, { reason: "it is due" });
      const [call] = events.flatMap((event) => (event.type === "tool_call" ? [event] : []));
      assert.deepEqual([call?.arguments, call?.injected_args], [{ amount: 3 }, { reason: "it is due" }]);
      assert.equal(JSON.stringify(pay.input.jsonSchema), own);
      const offered = model.requests[0]?.tools[0];
      const { properties = {}, required } =
        offered?.type === "function"
          ? (offered.inputSchema as { properties?: object; required?: string[] })
          : {};
      assert.deepEqual(Object.keys(properties), ["amount", "reason", "mood"]);
      assert.deepEqual(required, ["amount"]);
      // The model reads back what it wrote.
      assert.match(JSON.stringify(model.requests[1]?.prompt), /"input":\{"amount":3,"reason":"it is due"\}/);
    },
  ),
];
