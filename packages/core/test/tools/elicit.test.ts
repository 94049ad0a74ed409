import { Agent, type Approval, defineTool, type ElicitAnswer, localEngine } from "trackside";
import { hostileEngine, manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";

const SCHEMA = {
  type: "object",
  properties: { amount: { type: "number", minimum: 1 } },
  required: ["amount"],
} as const;

/** A tool that asks, once or twice, and says what it heard. */
function asking(times = 1) {
  return defineTool({
    name: "pay",
    async execute(_, { elicit }) {
      const heard: ElicitAnswer[] = [];
      for (let i = 0; i < times; i++)
        heard.push(await elicit({ message: `How much? ${i + 1}`, schema: SCHEMA }));
      return { heard };
    },
  });
}

function agentWith(tool: ReturnType<typeof asking>) {
  return new Agent({
    name: "a",
    model: scriptedModel([{ calls: [{ tool: "pay" }] }, "Done."]),
    tools: [tool],
  });
}

const heardIn = ({ messages }: { messages: readonly object[] }) => {
  const result = messages.find((message) => "output" in message) as { output: { value: { heard: unknown } } };
  return result.output.value.heard;
};

describe.each([
  ["the local engine", () => localEngine()],
  ["the hostile world", () => hostileEngine()],
])("L8 a running tool asks the person behind the run, on %s", (_name, make) => {
  test("and goes on with the answers, each a record of its own", async () => {
    const records: Approval[] = [];
    const result = await agentWith(asking(2)).run("Go.", {
      engine: make(),
      approve: (approval) => {
        records.push(approval);
        return records.length === 1 ? { choice: "accept", response: { amount: 5 } } : { choice: "decline" };
      },
    });
    expect(heardIn(result)).toEqual([{ action: "accept", content: { amount: 5 } }, { action: "decline" }]);
    expect(records).toMatchObject([
      { kind: "elicitation", tool: "pay", reasons: ["How much? 1"], choices: ["accept", "decline"] },
      { kind: "elicitation", tool: "pay", reasons: ["How much? 2"], response_schema: SCHEMA },
    ]);
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
    const { metadata } = result.messages.find((message) => message.role === "tool") ?? {};
    expect(metadata).toMatchObject({ status: "success", approval_status: "not_required" });
  });

  test("an answer that does not fit is refused and changes nothing", async () => {
    const run = agentWith(asking()).stream("Go.", { engine: make() });
    const problems: unknown[] = [];
    for await (const event of run) {
      if (event.type !== "approval" || event.state !== "pending") continue;
      for (const response of [{ amount: 0 }, { amount: "5" }, [5], null])
        await run
          .decide(event.approval_id, { choice: "accept", response })
          .catch((error: unknown) => problems.push(error));
      await run.decide(event.approval_id, { choice: "accept", response: { amount: 1 } });
    }
    expect(problems).toHaveLength(4);
    for (const problem of problems) expect(problem).toMatchObject({ code: "decision_invalid" });
    expect(heardIn(await run.result)).toEqual([{ action: "accept", content: { amount: 1 } }]);
  });

  test("nobody to ask is a no", async () => {
    const result = await agentWith(asking()).run("Go.", { engine: make() });
    expect(heardIn(result)).toEqual([{ action: "decline" }]);
  });

  test("a cancel while it waits ends the run at once; what came of the tool is unknown", async () => {
    const run = agentWith(asking()).stream("Go.", { engine: make() });
    const events = [];
    for await (const event of run) {
      events.push(event);
      if (event.type === "approval" && event.state === "pending") run.cancel("enough");
    }
    await expect(run.result).rejects.toMatchObject({ code: "cancelled" });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tool_result",
        output: expect.objectContaining({
          failure: expect.objectContaining({ code: "cancelled_unknown" }),
        }),
      }),
    );
    expect(events.at(-1)).toMatchObject({ type: "status", status: "cancelled" });
  });

  test("a tool that was approved first stays approved in its record", async () => {
    const pay = asking();
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls: [{ tool: "pay" }] }, "Done."]),
      tools: [pay],
      hitlTools: ["pay"],
    });
    const result = await agent.run("Go.", {
      engine: make(),
      approve: ({ kind }) =>
        kind === "elicitation" ? { choice: "accept", response: { amount: 2 } } : { choice: "approve" },
    });
    expect(heardIn(result)).toEqual([{ action: "accept", content: { amount: 2 } }]);
    const { metadata } = result.messages.find((message) => message.role === "tool") ?? {};
    expect(metadata).toMatchObject({ approval_status: "approved" });
  });
});

test("L2 an answer that never comes is a cancel, and the time it took does not count as the tool's", async () => {
  const clock = manualClock();
  const pay = defineTool({
    name: "pay",
    timeoutMs: 1_000,
    async execute(_, { elicit }) {
      return { heard: [await elicit({ message: "How much?", schema: SCHEMA })] };
    },
  });
  const agent = new Agent({
    name: "a",
    model: scriptedModel([{ calls: [{ tool: "pay" }] }, "Done."]),
    tools: [pay],
    hitlTimeoutSeconds: 60,
  });
  const run = agent.stream("Go.", { engine: localEngine({ clock }) });
  for await (const event of run)
    if (event.type === "approval" && event.state === "pending") clock.advance(60_000);
  expect(heardIn(await run.result)).toEqual([{ action: "cancel" }]);
});

test("a question that is none fails the tool, and says how to ask", async () => {
  const bad = defineTool({ name: "pay", execute: (_, { elicit }) => elicit({ message: 5 } as never) });
  const agent = new Agent({
    name: "a",
    model: scriptedModel([{ calls: [{ tool: "pay" }] }, "Done."]),
    tools: [bad],
  });
  const { messages } = await agent.run("Go.", { approve: () => ({ choice: "accept" }) });
  expect(JSON.stringify(messages)).toContain("elicit({ message, schema }) takes a text and the JSON Schema");
});
