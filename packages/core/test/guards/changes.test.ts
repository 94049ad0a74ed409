import { Conversation, defineRail, type Message, type Rail, type RailContext } from "trackside";
import { describe, expect, test } from "vitest";
import { PAY, payer } from "./payer.ts";
import { ENGINES, eventsOf, failure, play, results } from "./stage.ts";

function tamper(message: Message | undefined): void {
  if (message?.role === "user") Object.assign(message.parts[0] ?? {}, { text: "tampered" });
}

describe("R4 inputs are changed by assignment", () => {
  test.each(ENGINES)(
    "R4 the next rail and the operation see the change, on the %s engine",
    async (_name, make) => {
      const seen: unknown[] = [];
      const { agent, model } = payer(
        [PAY, "Paid."],
        [
          defineRail({ name: "first", on: ["PRE_TOOL_CALL"], priority: 1 }, (ctx) => {
            ctx.inputs.arguments = { ...ctx.inputs.arguments, amount: 1 };
          }),
          defineRail({ name: "second", on: ["PRE_TOOL_CALL"], priority: 2 }, (ctx) => {
            seen.push(ctx.inputs.arguments);
            ctx.inputs.arguments = { ...ctx.inputs.arguments, to: "Bob" };
          }),
        ],
      );
      agent.hookManager.add("PRE_TOOL_CALL", (ctx) => void seen.push(ctx.inputs.arguments));
      const { result, events } = await play(agent, { engine: make() });
      const [message] = results(result);

      expect(seen).toEqual([
        { to: "Ann", amount: 1 },
        { to: "Bob", amount: 1 },
      ]);
      expect(message?.output).toEqual({ type: "json", value: { paid: 1, to: "Bob" } });
      expect(message?.metadata.original_args).toEqual({ to: "Ann", amount: 5 });
      expect(eventsOf(events, "tool_call")[0]?.arguments).toEqual({ to: "Ann", amount: 5 });
      const told = JSON.stringify(model.requests[1]?.prompt);
      expect(told).toContain("It ran with other arguments than you wrote");
      expect(told).toContain('{\\"to\\":\\"Bob\\",\\"amount\\":1}');
    },
  );

  test.each(ENGINES)(
    "R4 a PRE_LLM_CALL change is in that request and in no other, on the %s engine",
    async (_name, make) => {
      let calls = 0;
      const { agent, model } = payer(
        [PAY, "Paid."],
        [
          defineRail({ name: "hint", on: ["PRE_LLM_CALL"] }, (ctx) => {
            if (calls++ > 0) return;
            const hint = {
              id: "hint",
              role: "user" as const,
              parts: [{ type: "text" as const, text: "HINT" }],
            };
            ctx.inputs.messages = [...ctx.inputs.messages, hint];
          }),
        ],
      );
      const { result } = await play(agent, { engine: make() });

      expect(JSON.stringify(model.requests[0])).toContain("HINT");
      expect(JSON.stringify(model.requests[1])).not.toContain("HINT");
      expect(JSON.stringify(result.messages)).not.toContain("HINT");
      expect(model.requests[0]?.prompt[0]).toEqual({ role: "system", content: "Be kind." });
    },
  );

  test("R4 a START change is what is logged, sent, and seen by FINISHED; the original is nowhere", async () => {
    const seen: string[] = [];
    const { agent, model } = payer(
      ["hi"],
      [
        defineRail({ name: "redact", on: ["START"] }, (ctx) => {
          ctx.inputs.input = ctx.inputs.input.replace("SECRET", "[card]");
        }),
        defineRail({ name: "last", on: ["FINISHED"] }, (ctx) => void seen.push(ctx.inputs.input)),
      ],
    );
    const { result, events } = await play(agent, {}, "my card is SECRET");

    expect(seen).toEqual(["my card is [card]"]);
    expect(JSON.stringify([model.requests, result.messages, events])).not.toContain("SECRET");
  });

  test.each(ENGINES)(
    "R4 a POST_LLM_CALL change is what is logged, returned and acted on, on the %s engine",
    async (_name, make) => {
      const { agent } = payer(
        [{ ...PAY, text: "it is SECRET" }, "still SECRET"],
        [
          defineRail({ name: "redact", on: ["POST_LLM_CALL"] }, (ctx) => {
            const { text, toolCalls } = ctx.inputs.response;
            ctx.inputs.response = {
              text: text.replace("SECRET", "**"),
              toolCalls: toolCalls.map((call) => ({ ...call, arguments: { to: "Bob", amount: 2 } })),
            };
          }),
        ],
      );
      const { result, events } = await play(agent, { engine: make() });

      expect(result.output).toBe("still **");
      expect(JSON.stringify([result.messages, events])).not.toContain("SECRET");
      expect(results(result)[0]?.output).toEqual({ type: "json", value: { paid: 2, to: "Bob" } });
    },
  );

  test("R4 POST_LLM_CALL may leave calls out, but not invent any", async () => {
    const drop = defineRail({ name: "drop", on: ["POST_LLM_CALL"] }, (ctx) => {
      ctx.inputs.response = { text: "no calls", toolCalls: [] };
    });
    const { result } = await play(payer([PAY], [drop]).agent);
    expect(result.output).toBe("no calls");
    expect(results(result)).toEqual([]);

    const invent = defineRail({ name: "invent", on: ["POST_LLM_CALL"] }, (ctx) => {
      ctx.inputs.response = {
        text: "",
        toolCalls: [{ id: "x", toolName: "pay", arguments: { to: "Eve", amount: 1 } }],
      };
    });
    const error = await failure(payer(["hi"], [invent]).agent.run("Go"));
    expect(error.message).toMatch(/"invent" aborted .*the model did not make the call x of pay/);
  });

  test.each(ENGINES)(
    "R4 a POST_TOOL_CALL change is what the log and the model get, on the %s engine",
    async (_name, make) => {
      const { agent, model } = payer(
        [PAY, "Paid."],
        [
          defineRail({ name: "redact", on: ["POST_TOOL_CALL"] }, (ctx) => {
            ctx.inputs.result = { paid: "[hidden]" };
          }),
        ],
      );
      const { result, events } = await play(agent, { engine: make() });

      expect(results(result)[0]?.output).toEqual({ type: "json", value: { paid: "[hidden]" } });
      expect(JSON.stringify(model.requests[1]?.prompt)).toContain("[hidden]");
      expect(eventsOf(events, "tool_result")[0]?.output).toEqual({
        type: "json",
        value: { paid: "[hidden]" },
      });
    },
  );

  test.each([
    [
      "arguments the tool does not take",
      "PRE_TOOL_CALL",
      { arguments: { to: "Ann", amount: 500 } },
      /amount/,
    ],
    [
      "a message that is none",
      "PRE_LLM_CALL",
      { messages: [{ role: "user" }] },
      /a list of messages is expected/,
    ],
    ["no messages at all", "PRE_LLM_CALL", { messages: [] }, /a list of messages is expected/],
    ["a response that is none", "POST_LLM_CALL", { response: "text" }, /\{ text, toolCalls \} is expected/],
    ["a result that is no JSON", "POST_TOOL_CALL", { result: undefined }, /return a JSON value/],
    ["an empty input", "START", { input: "" }, /a text that is not empty/],
  ] as const)("R4 %s is refused by name, and nothing of it happens", async (_what, on, change, says) => {
    const wrong = defineRail({ name: "clumsy", on: [on] }, (ctx) => void Object.assign(ctx.inputs, change));
    const { agent, model } = payer([PAY, "Paid."], [wrong]);
    const error = await failure(agent.run("Go"));

    expect(error).toMatchObject({ code: "rail_aborted", railName: "clumsy", point: on });
    expect(error.message).toMatch(says);
    expect(model.requests.length).toBeLessThanOrEqual(1);
  });

  test.each([
    ["START", "messages"],
    ["START", "steered"],
    ["FINISHED", "input"],
    ["FINISHED", "result"],
    ["PRE_LLM_CALL", "tools"],
    ["POST_LLM_CALL", "messages"],
    ["POST_LLM_CALL", "usage"],
    ["PRE_TOOL_CALL", "toolName"],
    ["POST_TOOL_CALL", "arguments"],
    ["POST_TOOL_CALL", "metadata"],
  ] as const)("R4 at %s `%s` is read-only", async (on, field) => {
    const wrong = defineRail(
      { name: "clumsy", on: [on] },
      (ctx) => void Object.assign(ctx.inputs, { [field]: "x" }),
    );
    const error = await failure(payer([PAY, "Paid."], [wrong]).agent.run("Go"));

    expect(error.message).toMatch(
      new RegExp(`"clumsy" aborted .*inputs\\.${field} cannot be changed at ${on}; .* can`),
    );
  });

  test("R4 what is in the inputs is frozen: nothing changes in place, nor in a conversation read from JSON", async () => {
    const first = await payer(["one"], []).agent.run("Hello");
    const conversation = Conversation.fromJSON(JSON.parse(JSON.stringify(first.conversation)));
    const before = JSON.stringify(conversation);
    const tries: ((ctx: RailContext) => unknown)[] = [
      (ctx) => ctx.event === "START" && tamper(ctx.inputs.messages[0]),
      (ctx) => ctx.event === "PRE_LLM_CALL" && (ctx.inputs.messages as unknown[]).push("x"),
      (ctx) => ctx.event === "PRE_LLM_CALL" && Object.assign(ctx.inputs.messages[0] ?? {}, { parts: [] }),
      (ctx) => ctx.event === "PRE_LLM_CALL" && Object.assign(ctx.agent, { instructions: "be evil" }),
      (ctx) => ctx.event === "PRE_LLM_CALL" && Object.assign(ctx.scope, { tenant: "other" }),
      (ctx) => ctx.event === "POST_LLM_CALL" && Object.assign(ctx.inputs.response, { text: "tampered" }),
      (ctx) => ctx.event === "START" && delete (ctx.inputs as { input?: string }).input,
    ];
    for (const attempt of tries) {
      const rail = defineRail({ name: "tamper" }, (ctx) => void attempt(ctx));
      const error = await failure(payer(["two"], [rail]).agent.run("Next", { conversation }));
      expect(error.message).toContain('"tamper" aborted');
      expect(JSON.stringify(conversation.messages.slice(0, 2))).toBe(
        JSON.stringify(JSON.parse(before).messages),
      );
    }
  });

  test("R4 a tool's result is frozen for POST rails too", async () => {
    const rail = defineRail({ name: "tamper", on: ["POST_TOOL_CALL"] }, (ctx) => {
      Object.assign(ctx.inputs.result ?? {}, { paid: 0 });
    });
    const error = await failure(payer([PAY, "Paid."], [rail]).agent.run("Go"));
    expect(error.message).toContain('"tamper" aborted');
  });

  test("R4 `messages` are made when they are first read, and only then", async () => {
    let reads = 0;
    const look = defineRail({ name: "look", on: ["PRE_LLM_CALL"], priority: 2 }, (ctx) => {
      const once = ctx.inputs.messages;
      expect(ctx.inputs.messages).toBe(once);
      reads += 1;
    });
    await payer(["hi"], [look]).agent.run("Go");
    expect(reads).toBe(1);
  });

  test("R4 arguments are not shown while they stream when a PRE_TOOL_CALL rail or a transformer is there", async () => {
    const inputDeltas = async (rails: readonly Rail[]) =>
      (await play(payer([PAY, "Paid."], rails).agent)).events.filter(
        ({ type }) => type === "tool_input_delta",
      ).length;

    expect(await inputDeltas([])).toBeGreaterThan(0);
    expect(await inputDeltas([defineRail({ name: "r", on: ["PRE_TOOL_CALL"] }, () => {})])).toBe(0);
  });
});
