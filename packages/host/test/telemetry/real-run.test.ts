import { Agent, ask, type DurableEvent, defineRail, defineTool } from "trackside";
import { durableEvent } from "trackside/schema";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import * as z from "zod";
import { ms, scene } from "./support.ts";

test("the events of a real run, with an approval, parallel calls and a failing tool, make whole spans", async () => {
  const send = defineTool({
    name: "send",
    input: z.object({ to: z.string() }),
    execute: ({ to }) => `sent to ${to}`,
  });
  const fail = defineTool({
    name: "fail",
    input: z.object({}),
    execute: (): string => {
      throw new Error("no such file");
    },
  });
  const agent = new Agent({
    name: "clerk",
    model: scriptedModel([
      { text: "One moment.", calls: [{ tool: "send", args: { to: "ann" } }, { tool: "fail" }] },
      "Done.",
    ]),
    tools: [send, fail],
    rails: [
      defineRail({ name: "careful", on: ["PRE_TOOL_CALL"], asks: true }, ({ inputs }) =>
        inputs.toolName === "send" ? ask("it leaves the house") : undefined,
      ),
    ],
  });
  const { telemetry, spans, metrics } = await scene();
  const stream = agent.stream("Send it to Ann");
  for await (const event of stream) {
    const durable = durableEvent.safeParse(event);
    if (durable.success) telemetry.onEvent(durable.data satisfies DurableEvent);
    if (event.type === "approval" && event.state === "pending")
      await stream.decide(event.approval_id, { choice: "approve", by: "ann" });
  }
  await stream.result;

  const found = spans();
  const [root] = found.filter(({ name }) => name.startsWith("invoke_agent"));
  expect(found.map(({ name, status }) => [name.replace(/^chat .*/, "chat"), status.code]).sort()).toEqual([
    ["chat", 0],
    ["chat", 0],
    ["execute_tool fail", 2],
    ["execute_tool send", 0],
    ["invoke_agent", 0],
  ]);
  for (const span of found) {
    expect(ms(span.endTime)).toBeGreaterThanOrEqual(ms(span.startTime));
    if (span === root) continue;
    expect(span.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
    expect(ms(span.startTime)).toBeGreaterThanOrEqual(ms(root?.startTime ?? [0, 0]));
    expect(ms(span.endTime)).toBeLessThanOrEqual(ms(root?.endTime ?? [0, 0]));
  }
  expect(root?.events.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["trackside.rail", "trackside.approval.requested", "trackside.approval.decided"]),
  );
  const sent = found.find(({ name }) => name === "execute_tool send");
  expect(sent?.attributes).toMatchObject({
    "trackside.approval.status": "approved",
    "trackside.tool.status": "success",
  });
  expect((await metrics())["gen_ai.client.token.usage"]?.map(({ sum }) => sum)).toEqual([20, 10]);
  expect(JSON.stringify(found.map(({ attributes, events }) => ({ attributes, events })))).not.toMatch(
    /no such file|leaves the house|Done|Send it/,
  );
});
