import { defineTool } from "trackside";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, play } from "../guards/stage.ts";
import { calls, entries, expectSound, parallel, self, tree } from "./stage.ts";

const turns = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** A tool that stays a while, and knows who else is in, by what comes before the task's number. */
function room() {
  const live: Record<string, number> = {};
  const peak: Record<string, number> = {};
  const tool = (name: string) =>
    defineTool({
      name,
      execute: async () => {
        live[name] = (live[name] ?? 0) + 1;
        peak[name] = Math.max(peak[name] ?? 0, live[name]);
        await turns(40);
        live[name] -= 1;
        return "left";
      },
    });
  return { tool, peak };
}

const numbered = (name: string, n: number) => Array.from({ length: n }, (_, i) => `${name} ${i}`);

describe.each(ENGINES)("the slots of a parent, on the %s engine", (_name, make) => {
  test.each([1, 2, 3, 7])("S2 with %i of them never more are live, over all calls of a step", async (max) => {
    const { tool, peak } = room();
    const [a, b, c] = [numbered("a", max), numbered("b", max), numbered("c", max)];
    const all = [...a, ...b, ...c];
    const { agent } = tree(
      {
        Go: [calls(parallel(...a), parallel(...b), parallel(...c)), "done"],
        ...Object.fromEntries(all.map((task) => [task, [calls("stay"), task]])),
      },
      { tools: [tool("stay")], maxParallelSubagents: max },
    );
    const { result, events } = await play(agent, { engine: make() });

    expect(peak["stay"]).toBe(max);
    expect([0, 1, 2].flatMap((at) => entries(result, at).map(({ output }) => output))).toEqual(all);
    expectSound(events);
  });

  test("S2 each sub-agent has its own, so that a tree cannot wait for itself", async () => {
    const { tool, peak } = room();
    const { agent } = tree(
      {
        Go: [calls(parallel("a", "b")), "done"],
        a: [calls(parallel("a 0", "a 1"), parallel("a 2")), "ok"],
        b: [calls(parallel("b 0", "b 1"), parallel("b 2")), "ok"],
        ...Object.fromEntries(numbered("a", 3).map((task) => [task, [calls("left"), "ok"]])),
        ...Object.fromEntries(numbered("b", 3).map((task) => [task, [calls("right"), "ok"]])),
      },
      { tools: [tool("left"), tool("right")], maxParallelSubagents: 2 },
    );
    const { result } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(peak).toEqual({ left: 2, right: 2 });
  });

  test("S2 with one slot, three levels deep, still ends", async () => {
    const { agent } = tree(
      {
        Go: [calls(parallel("one"), parallel("uno")), "done"],
        one: [calls(parallel("two"), parallel("two")), "ok"],
        uno: ["ok"],
        two: [calls(parallel("three")), "ok", calls(parallel("three")), "ok"],
        three: ["ok", "ok"],
      },
      { maxParallelSubagents: 1 },
    );
    const { result, events } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expectSound(events);
  });

  test("S2 one that fails gives its slot back", async () => {
    const { agent } = tree(
      {
        Go: [calls(parallel("bad"), parallel("bad"), parallel("good")), "done"],
        bad: [{ error: new Error("broke") }, { error: new Error("broke") }],
        good: ["ok"],
      },
      { maxParallelSubagents: 1 },
    );
    const { result } = await play(agent, { engine: make() });

    expect([0, 1, 2].map((at) => entries(result, at)[0]?.status)).toEqual(["error", "error", "success"]);
  });

  test("S2 those that wait in line begin in the order of their calls", async () => {
    const { agent } = tree(
      {
        Go: [calls(parallel("a"), parallel("b"), self("free"), parallel("c")), "done"],
        ...Object.fromEntries(["a", "b", "c", "free"].map((task) => [task, ["ok"]])),
      },
      { maxParallelSubagents: 1 },
    );
    const { events } = await play(agent, { engine: make() });
    const told = eventsOf(events, "subagent");
    // Never two of those that take a slot at once: each ends before the next begins.
    const limited = told.filter(({ call_id }) => !call_id.endsWith(".2"));
    expect(limited.map(({ state }) => state)).toEqual(Array(3).fill(["started", "completed"]).flat());
  });
});
