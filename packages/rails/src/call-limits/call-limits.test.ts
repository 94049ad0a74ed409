import { Agent, defineRail, defineTool, RailAbortError, retry } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type CallLimitsOptions, callLimits } from "../index.ts";

const times = (n: number, tool: string) => Array.from({ length: n }, (_, i) => ({ tool, args: { i } }));

function toolsThat(ran: string[]) {
  return ["search", "send", "get_file"].map((name) =>
    defineTool({ name, input: { type: "object" }, execute: () => ran.push(name) }),
  );
}

describe.each(ENGINES)("on $name", ({ make }) => {
  test("of 50 parallel calls under a limit of 10 exactly 10 run", async () => {
    const ran: string[] = [];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls: times(50, "search") }, { calls: times(5, "search") }, "done"]),
      tools: toolsThat(ran),
      rails: [callLimits({ tools: { search: 10 } })],
    });
    const { messages, output } = await agent.run("go", { engine: make() });
    expect(ran).toHaveLength(10);
    expect(results(messages)).toHaveLength(55);
    expect(
      results(messages).filter((one) => String(one).includes("limit of 10 calls of search")),
    ).toHaveLength(45);
    expect(output).toBe("done");
  });

  test("limits that overlap are all kept, and a refused call takes from none", async () => {
    const ran: string[] = [];
    const calls = [...times(4, "get_file"), ...times(3, "search"), ...times(3, "send")];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls }, { calls: [{ tool: "get_file" }, { tool: "search" }] }, "done"]),
      tools: toolsThat(ran),
      // Every call of get_file beyond the first is refused by the second pattern, and must not use up the first.
      rails: [callLimits({ tools: { "get*": 2, "*_file": 1, send: 0 }, toolCalls: 4 })],
    });
    await agent.run("go", { engine: make() });
    expect(ran.toSorted()).toEqual(["get_file", "search", "search", "search"]);
  });

  test("the model's calls are limited too, and the run ends with a message or an abort", async () => {
    const run = (options: CallLimitsOptions) => {
      const model = scriptedModel([{ calls: [{ tool: "search" }] }], { loop: true });
      const agent = new Agent({ name: "a", model, tools: toolsThat([]), rails: [callLimits(options)] });
      return { model, ended: agent.run("go", { engine: make() }) };
    };
    const gentle = run({ modelCalls: 3, message: "That is all." });
    expect(await gentle.ended).toMatchObject({ output: "That is all.", stopReason: "skipped" });
    expect(gentle.model.requests).toHaveLength(3);
    const hard = run({ modelCalls: 3, onLimit: "abort" });
    await expect(hard.ended).rejects.toThrow(/"call-limits" aborted .* limit of 3 model calls/);
    expect(hard.model.requests).toHaveLength(3);
  });

  test("a call that is edited or tried again counts once", async () => {
    const ran: unknown[] = [];
    let failures = 2;
    const flaky = defineTool({
      name: "flaky",
      input: { type: "object" },
      effect: "idempotent",
      execute: (args) => {
        if (failures-- > 0) throw new Error("not yet");
        return ran.push(args);
      },
    });
    const again = defineRail({ name: "again", on: ["TOOL_ERROR"] }, () => retry({ maxRetries: 5 }));
    const agent = new Agent({
      name: "a",
      model: scriptedModel([
        { calls: [{ tool: "flaky", args: { n: 1 } }] },
        { calls: [{ tool: "flaky" }] },
        "done",
      ]),
      tools: [flaky],
      hitlTools: ["flaky"],
      rails: [callLimits({ tools: { flaky: 1 } }), again],
    });
    const approve = () => ({ choice: "approve", editedArguments: { n: 2 } });
    const { messages } = await agent.run("go", { engine: make(), approve });
    expect(ran).toEqual([{ n: 2 }]);
    expect(results(messages)).toEqual([1, expect.stringMatching(/^rejected: .*limit of 1 call of flaky/)]);
  });

  test("an abort at the limit stops the batch", async () => {
    const ran: string[] = [];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls: times(5, "send") }]),
      tools: toolsThat(ran),
      rails: [callLimits({ tools: { send: 2 }, onLimit: "abort" })],
    });
    await expect(agent.run("go", { engine: make() })).rejects.toThrow(RailAbortError);
    expect(ran.length).toBeLessThanOrEqual(2);
  });

  test("a serialized agent takes it by name, and each run counts for itself", async () => {
    const ran: string[] = [];
    const json = {
      name: "a",
      model: "openai:m",
      rails: [{ use: "call-limits", options: { tools: { search: 1 } } }],
    };
    const agent = Agent.fromJSON(json, { tools: toolsThat(ran), rails: builtInRails });
    for (let i = 0; i < 3; i++) {
      const models = { "openai:m": scriptedModel([{ calls: times(2, "search") }, "done"]) };
      await agent.run("go", { engine: make({ models }) });
    }
    expect(ran).toHaveLength(3);
  });
});

test("limits are whole numbers from 0", () => {
  expect(() => callLimits({ tools: { search: -1 } })).toThrow(/tools.search/);
  expect(() => callLimits({ toolCalls: 1.5, modelCall: 3 } as CallLimitsOptions)).toThrow(
    /modelCall: unknown key/,
  );
});
