import { Agent, defineTool, type Tool } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type ResilientToolsOptions, resilientTools } from "../index.ts";

/** A tool that fails so many times for each item. */
function flaky(failures: number, effect: "none" | "idempotent" | "once" = "idempotent", message = "503") {
  const tries: number[] = [];
  const tool = defineTool({
    name: "get_item",
    effect,
    input: { type: "object" },
    execute: (args) => {
      const { i = 0 } = args as { i?: number };
      tries[i] = (tries[i] ?? 0) + 1;
      if (tries[i] <= failures) throw new Error(message);
      return `item ${i}`;
    },
  });
  return { tool, tries };
}

describe.each(ENGINES)("on $name", ({ make }) => {
  async function run(tool: Tool, options: ResilientToolsOptions, calls = 1, hitlTools: string[] = []) {
    const clock = manualClock();
    const start = clock.now();
    const batch = Array.from({ length: calls }, (_, i) => ({ tool: tool.name, args: { i } }));
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls: batch }, "done"]),
      tools: [tool],
      hitlTools,
      rails: [resilientTools({ random: () => 1, ...options })],
    });
    const approve = () => ({ choice: "approve" });
    const { messages, output } = await clock.finish(agent.run("go", { engine: make({ clock }), approve }));
    expect(output).toBe("done");
    return { results: results(messages), waited: (clock.now() - start) / 1000 };
  }

  test("a tool is tried again exactly as often as said, and waits longer each time", async () => {
    const saved = flaky(3);
    const got = await run(saved.tool, { tools: "get_*", retries: 3, delaySeconds: 1, factor: 3 });
    expect(got.results).toEqual(["item 0"]);
    expect(saved.tries).toEqual([4]);
    expect(got.waited).toBeGreaterThanOrEqual(1 + 3 + 9);
    const lost = flaky(4);
    expect((await run(lost.tool, { tools: "get_*", retries: 3 })).results).toEqual(["tool_failed: 503"]);
    expect(lost.tries).toEqual([4]);
  });

  test("of 50 parallel calls each has its own retries", async () => {
    const { tool, tries } = flaky(2);
    const got = await run(tool, { tools: "get_item", retries: 2 }, 50);
    expect(got.results).toEqual(Array.from({ length: 50 }, (_, i) => `item ${i}`));
    expect(tries).toEqual(Array(50).fill(3));
  });

  test("waiting for an approval takes away no retry", async () => {
    const { tool, tries } = flaky(3);
    expect((await run(tool, { tools: "*", retries: 3 }, 1, ["get_item"])).results).toEqual(["item 0"]);
    expect(tries).toEqual([4]);
  });

  test("a tool that may run only once is not run again, and neither is one that is not named", async () => {
    const once = flaky(1, "once");
    expect((await run(once.tool, { tools: "*" })).results).toEqual(["tool_failed: 503"]);
    expect(once.tries).toEqual([1]);
    const other = flaky(1);
    await run(other.tool, { tools: "list_*" });
    expect(other.tries).toEqual([1]);
  });

  test("only the failures that are meant are tried again", async () => {
    const busy = flaky(1, "none", "429 slow down");
    expect((await run(busy.tool, { tools: "*", only: ["429", "tool_timed_out"] })).results).toEqual([
      "item 0",
    ]);
    const gone = flaky(1, "none", "404");
    expect((await run(gone.tool, { tools: "*", only: ["429", "tool_timed_out"] })).results).toEqual([
      "tool_failed: 404",
    ]);
    let tries = 0;
    const slow = defineTool({
      name: "slow",
      effect: "none",
      timeoutMs: 50,
      input: { type: "object" },
      execute: () => (++tries === 1 ? new Promise<string>(() => {}) : "in time"),
    });
    expect((await run(slow, { tools: "*", only: "tool_timed_out" })).results).toEqual(["in time"]);
  });

  test("a fallback stands in when nothing helps", async () => {
    const { tool, tries } = flaky(9);
    const got = await run(tool, { tools: "*", retries: 1, fallback: { "get_*": { items: [] } } });
    expect(got.results).toEqual([{ items: [] }]);
    expect(tries).toEqual([2]);
  });

  test("a serialized agent takes it by name", async () => {
    const { tool } = flaky(1);
    const rails = [{ use: "resilient-tools", options: { tools: "get_item", delaySeconds: 0 } }];
    const agent = Agent.fromJSON(
      { name: "a", model: "openai:m", rails },
      { tools: [tool], rails: builtInRails },
    );
    const models = { "openai:m": scriptedModel([{ calls: [{ tool: "get_item" }] }, "done"]) };
    expect(results((await agent.run("go", { engine: make({ models }) })).messages)).toEqual(["item 0"]);
  });
});

test("options are checked", () => {
  expect(() => resilientTools({} as ResilientToolsOptions)).toThrow(/tools/);
  expect(() => resilientTools({ tools: "a", retries: -1, delay: 3 } as ResilientToolsOptions)).toThrow(
    /2 problems/,
  );
});
