import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { byRun, offered, requestsOf, systemOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, eventsOf, outputs, play, results, tracked } from "../guards/stage.ts";
import { calls, entries, expectSound, parallel, self, tree } from "./stage.ts";

describe("the spawn tools of an agent", () => {
  test.each([
    [{}, []],
    [{ allowSelfSpawn: true }, ["spawn_self"]],
    [{ allowParallelSubagents: true }, ["spawn_parallel"]],
    [{ allowSelfSpawn: true, allowParallelSubagents: true }, ["spawn_self", "spawn_parallel"]],
    [{ maxParallelSubagents: 7 }, []],
  ])("S1 S2 with %o are %o", async (config, expected) => {
    const model = scriptedModel(["done"]);
    await new Agent({ name: "root", model, ...config }).run("Go");
    expect(offered(model.requests[0])).toEqual(expected);
  });

  test("S2 spawn_parallel says how many jobs it takes", async () => {
    const model = scriptedModel(["done"]);
    await new Agent({ name: "root", model, allowParallelSubagents: true, maxParallelSubagents: 5 }).run("Go");
    const [tool] = model.requests[0]?.tools ?? [];
    expect(tool).toMatchObject({
      inputSchema: { properties: { jobs: { minItems: 1, maxItems: 5 } }, required: ["jobs"] },
    });
  });

  test("S2 one that is switched off is no tool, whoever calls it", async () => {
    const { agent, model } = tree(
      { Go: [calls(self("it"), parallel("it")), "done"] },
      { allowSelfSpawn: false, allowParallelSubagents: false },
    );
    const { result } = await play(agent);
    expect(outputs(result)).toEqual(["tool_unknown", "tool_unknown"]);
    expect(model.requests).toHaveLength(2);
  });

  test("T3 have the injected arguments of the agent, which reach the record and no sub-agent", async () => {
    const { agent, model } = tree(
      {
        Go: [{ calls: [{ tool: "spawn_self", args: { task: "it", origin: "a whim" } }] }, "done"],
        it: [{ calls: [{ tool: "t", args: { n: 1, origin: "the task" } }] }, "ok"],
      },
      { tools: [tracked("t").tool], injectedToolArgs: { origin: "Who asked." } },
    );
    const { result, events } = await play(agent);
    expect(results(result)[0]?.metadata.injected_args).toEqual({ origin: "a whim" });
    expect(result.output).toBe("done");
    expect(JSON.stringify(requestsOf(model, "it")[0]?.prompt)).not.toContain("a whim");
    for (const tool of requestsOf(model, "it")[0]?.tools ?? [])
      expect(tool).toMatchObject({ inputSchema: { properties: { origin: { type: "string" } } } });
    const [inside] = eventsOf(events, "tool_result").filter(({ path }) => path.length === 1);
    expect(inside?.metadata.injected_args).toEqual({ origin: "the task" });
  });
});

describe.each(ENGINES)("a sub-agent, on the %s engine", (_name, make) => {
  test("S4 has no plan, no shape of answer and no handoffs of its parent's", async () => {
    const other = new Agent({ name: "other", model: scriptedModel([]) });
    const { agent, model } = tree(
      { Go: [calls(self("it")), '{"n":1}'], it: ["not JSON"] },
      {
        planningEnabled: true,
        planningModel: scriptedModel(["1. Delegate"]),
        outputSchema: z.object({ n: z.number() }),
        handoffs: [other],
      },
    );
    const { result, events } = await play(agent, { engine: make() });
    expect(result.output).toEqual({ n: 1 });
    expect(entries(result)[0]).toMatchObject({ status: "success", output: "not JSON" });
    expect(offered(requestsOf(model, "Go")[0])).toContain("handoff_to_other");
    expect(offered(requestsOf(model, "it")[0])).toEqual(["spawn_self", "spawn_parallel"]);
    expect(eventsOf(events, "plan")).toHaveLength(1);
  });

  test("S4 sees nothing of its parent's conversation, nor its parent of the sub-agent's", async () => {
    const { agent, model } = tree(
      {
        Go: [{ text: "parent's words", calls: [self("it")] }, "done"],
        it: [{ text: "child's words", calls: [{ tool: "t" }] }, "ok"],
      },
      { tools: [tracked("t").tool] },
    );
    const { result } = await play(agent, { engine: make() });
    expect(JSON.stringify(requestsOf(model, "it"))).not.toContain("parent's words");
    expect(JSON.stringify(requestsOf(model, "Go"))).not.toContain("child's words");
    expect(JSON.stringify(result.messages)).not.toContain("child's words");
    expect(result.conversation.messages).toHaveLength(4);
  });

  test("S4 has as many steps as its parent, and says what it had at the last", async () => {
    const { agent } = tree(
      {
        Go: [calls(self("it")), "done"],
        it: [calls("t"), { text: "so far", calls: [{ tool: "t" }] }],
      },
      { tools: [tracked("t").tool], maxSteps: 2 },
    );
    const { result } = await play(agent, { engine: make() });
    expect(entries(result)[0]).toMatchObject({ status: "success", output: "so far" });
  });

  test("S4 a system_prompt stands alone where the parent has no instructions", async () => {
    const { agent, model } = tree({
      Go: [calls(parallel({ task: "it", system_prompt: "Be brief." })), "done"],
      it: ["ok"],
    });
    await play(agent, { engine: make() });
    expect(systemOf(requestsOf(model, "it")[0])).toBe("Be brief.");
    expect(systemOf(requestsOf(model, "Go")[1])).toBe("");
  });

  test("S3 that was given tools by name has no spawn tools, though they are all", async () => {
    const { agent, model } = tree(
      {
        Go: [calls(parallel({ task: "it", tool_names: ["t"] })), "done"],
        it: [calls(self("more"), "t"), "ok"],
      },
      { tools: [tracked("t").tool] },
    );
    const { events } = await play(agent, { engine: make() });
    expect(offered(requestsOf(model, "it")[0])).toEqual(["t"]);
    expect(requestsOf(model, "more")).toEqual([]);
    const inside = eventsOf(events, "tool_result").filter(({ path }) => path.length === 1);
    expect(inside.map(({ tool, error }) => [tool, error ?? ""]).toSorted()).toEqual([
      ["spawn_self", 'There is no tool "spawn_self". Known tools: t.'],
      ["t", ""],
    ]);
  });

  test("S3 narrows for good: what a sub-agent was not given, its own cannot be given", async () => {
    const unsafe = defineTool({ name: "unsafe", childSafe: false, execute: () => "ran" });
    const { agent, model } = tree(
      {
        Go: [calls(self("it")), "done"],
        it: [calls(self("deep", { tool_names: ["unsafe"] })), "ok"],
      },
      { tools: [unsafe, tracked("t").tool] },
    );
    const { events } = await play(agent, { engine: make() });
    expect(requestsOf(model, "deep")).toEqual([]);
    const [refused] = eventsOf(events, "tool_result").filter(({ path }) => path.length === 1);
    expect(refused?.error).toContain('a tool that sub-agents may have expected (t), "unsafe" given');
  });

  test("S5 that answers with nothing has succeeded with nothing", async () => {
    const { agent } = tree({ Go: [calls(self("it")), "done"], it: [""] });
    const { result } = await play(agent, { engine: make() });
    expect(entries(result)[0]).toMatchObject({ status: "success", output: "" });
  });

  test("S5 T4 that says more than a log holds is put away like any result", async () => {
    const { agent } = tree(
      { Go: [calls(self("it")), "done"], it: ["x".repeat(50_000)] },
      { offloadAboveBytes: 1000 },
    );
    const { result, events } = await play(agent, { engine: make() });
    expect(eventsOf(events, "artifact")).toHaveLength(1);
    expect(results(result)[0]?.metadata.offloaded_artifact_id).not.toBeNull();
    expect(JSON.stringify(results(result)[0]?.output).length).toBeLessThan(5000);
  });

  test("S5 jobs that read alike are told apart by their place", async () => {
    let n = 0;
    const next = () => {
      n += 1;
      return `answer ${n}`;
    };
    const { agent } = tree(
      { Go: [calls(parallel("same", "same", "same")), "done"], same: [next, next, next] },
      { maxParallelSubagents: 3 },
    );
    const { result, events } = await play(agent, { engine: make() });
    expect(entries(result).map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(entries(result).map(({ output }) => output)).size).toBe(3);
    expect(byRun(events).size).toBe(4);
    expectSound(events);
  });

  test("S6 E3 run() and stream() of a tree leave the same usage, messages and output", async () => {
    const parts = () =>
      tree(
        {
          Go: [calls(parallel("a", "b")), "done"],
          a: [{ ...{ text: "a" }, usage: { input: 100, output: 7 } }],
          b: [calls(self("c")), "b"],
          c: [{ text: "c", usage: { input: 1000, output: 3 } }],
        },
        { maxParallelSubagents: 2 },
      ).agent;
    const streamed = await play(parts(), { engine: make() });
    const ran = await parts().run("Go", { engine: make() });
    expect(ran.usage).toEqual(streamed.result.usage);
    expect(ran.output).toBe(streamed.result.output);
    expect(ran.messages.map(({ role }) => role)).toEqual(streamed.result.messages.map(({ role }) => role));
    expect(ran.usage).toMatchObject({
      model_calls: 6,
      input_tokens: 100 + 1000 + 4 * 10,
      output_tokens: 7 + 3 + 4 * 5,
    });
    const [a, b] = entries(streamed.result);
    expect([a?.usage.input_tokens, b?.usage.input_tokens]).toEqual([100, 1020]);
    const totals = eventsOf(streamed.events, "usage").filter(({ path }) => path.length === 0);
    expect(totals.at(-1)?.total).toEqual(ran.usage);
  });

  test("E1 what a sub-agent says live has its run, path and turn", async () => {
    const { agent } = tree({ Go: [calls(self("it")), "done"], it: ["one two"] });
    const { events, stream } = await play(agent, { engine: make() });
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event] : []));
    const ofChild = deltas.filter(({ path }) => path.length === 1);
    expect(ofChild.map(({ text }) => text).join("")).toBe("one two");
    for (const { run_id, turn_ref } of ofChild) {
      expect(run_id).not.toBe(stream.runId);
      expect(turn_ref).toBe(stream.turnRef);
    }
  });

  test("T7 call ids are unique over the tree, and begin with their run", async () => {
    const { agent } = tree(
      {
        Go: [calls(parallel("a", "b"), "t"), "done"],
        a: [calls("t", self("c")), "ok"],
        b: [calls("t"), "ok"],
        c: [calls("t"), "ok"],
      },
      { tools: [tracked("t").tool] },
    );
    const { events } = await play(agent, { engine: make() });
    const made = eventsOf(events, "tool_call");
    expect(new Set(made.map(({ call_id }) => call_id)).size).toBe(6);
    for (const { call_id, run_id } of made) expect(call_id.startsWith(`${run_id}.`)).toBe(true);
  });

  test("S4 a conversation goes on with the result, not with the sub-agent", async () => {
    const { agent, model } = tree({
      Go: [calls(self("it")), "done", "again"],
      it: ["the answer"],
    });
    const engine = make();
    const { result } = await play(agent, { engine });
    await agent.run("And now?", { engine, conversation: result.conversation });
    const last = JSON.stringify(model.requests.at(-1)?.prompt);
    expect(last).toContain("the answer");
    expect(last).not.toContain("Task:");
  });
});
