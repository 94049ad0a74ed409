import { Agent, AgentConfigError, ask, defineRail, defineTool, HookManager } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { offered } from "../../src/testing/conformance/cast.ts";
import { failure, play, tracked } from "../guards/stage.ts";
import { member, to, ways } from "./stage.ts";

const MODEL = "openai:gpt-4o";

describe("the agents of `handoffs`", () => {
  test("S7 may be objects, names of registered ones, or both", async () => {
    const [a, b] = [member("a", ["a answers"]), member("b", ["b answers"])];
    for (const [name, answer] of [
      ["a", "a answers"],
      ["b", "b answers"],
    ] as const) {
      const triage = member("triage", [to(name)], { handoffs: [a.agent, "b"] }, { agents: [b.agent] });
      const { result } = await play(triage.agent);
      expect(result.output).toBe(answer);
      expect(offered(triage.model.requests[0])).toEqual(["handoff_to_a", "handoff_to_b"]);
    }
  });

  test("S7 are told to the model with what they are for", async () => {
    const b = member("b", [], { instructions: "Refunds and invoices.\nBe exact." });
    const a = member("a", ["done"], { handoffs: [b.agent] });
    await play(a.agent);
    const [tool] = a.model.requests[0]?.tools ?? [];
    expect(tool).toMatchObject({ description: expect.stringContaining("It is for: Refunds and invoices.") });
    expect(JSON.stringify(tool)).not.toContain("Be exact");
  });

  test("S7 may name each other, in a circle of names", async () => {
    const triage = member("triage", [to("clerk"), "done"], { handoffs: ["clerk"] });
    const clerk = member("clerk", [to("triage")], { handoffs: ["triage"] });
    const first = new Agent(
      { name: "triage", model: triage.model, handoffs: ["clerk"] },
      { agents: [clerk.agent] },
    );
    const { events, result } = await play(first);
    expect(ways(events)).toEqual(["triage > clerk", "clerk > triage"]);
    expect(result.output).toBe("done");
  });

  test("S7 are found through each other: an agent knows whom its own agents know", async () => {
    const c = member("c", ["c answers"]);
    const b = member("b", [to("c")], { handoffs: [c.agent] });
    const a = member("a", [to("b")], { handoffs: [b.agent] });
    const { events, result } = await play(a.agent);
    expect(result.output).toBe("c answers");
    expect(ways(events)).toEqual(["a > b", "b > c"]);
    expect(offered(a.model.requests[0])).toEqual(["handoff_to_b"]);
  });

  test("S7 that nobody knows refuse the run, all by their names, near and far", async () => {
    const b = member("b", [], { handoffs: ["c", "nobody"] });
    const a = member("a", [], { handoffs: [b.agent, "noone"] });
    const error = await failure(a.agent.run("Go"));
    expect(error.code).toBe("not_available");
    for (const name of ["c", "nobody", "noone"]) expect(error.message).toContain(`the agent "${name}"`);
    expect(a.model.requests).toEqual([]);
  });

  test("S7 have tools of legal names, whatever they are called", async () => {
    const names = ["Prüfer & Söhne", "日本", "a b", "a_b", "x".repeat(128)];
    const agents = names.map((name) => member(name, [`${name} answers`]).agent);
    const looked = member("first", ["done"], { handoffs: agents });
    await play(looked.agent);
    const tools = offered(looked.model.requests[0]);
    expect(new Set(tools).size).toBe(names.length);
    for (const tool of tools) expect(tool).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    for (const [i, tool] of tools.entries()) {
      const script = [{ calls: [{ tool, args: { reason: "x" } }] }];
      const { result, events } = await play(member("first", script, { handoffs: agents }).agent);
      expect(result.output).toBe(`${names[i]} answers`);
      expect(ways(events)).toEqual([`first > ${names[i]}`]);
    }
  });

  test("S7 no agent hands over to itself", async () => {
    const a = member("a", [to("a"), "done"], { handoffs: ["a"] });
    const { result, events } = await play(a.agent);
    expect(result.output).toBe("done");
    expect(ways(events)).toEqual([]);
  });

  test("R14 with a rail that is not registered refuse the run before anything is handed to them", async () => {
    const model = MODEL;
    const json = { name: "b", model, rails: [{ use: "pii" }] };
    const b = Agent.fromJSON(json);
    const a = member("a", [to("b")], { handoffs: [b] });
    const error = await failure(a.agent.run("Go"));
    expect(error.code).toBe("not_available");
    expect(error.message).toMatch(/"b".*pii/);
    expect(a.model.requests).toEqual([]);
  });

  test("L6 with gates, client tools or rails that ask refuse a run in which nobody can decide", async () => {
    const t = tracked("t");
    const client = defineTool({ name: "locate", executor: "client" });
    const asker = defineRail({ name: "asker", on: ["PRE_TOOL_CALL"], asks: true }, () => ask("?"));
    const ways = [{ tools: [t.tool], hitlTools: ["t"] }, { tools: [client] }, { rails: [asker] }];
    for (const config of ways) {
      const b = member("b", [], config);
      const a = member("a", [to("b")], { handoffs: [b.agent] });
      const error = await failure(a.agent.run("Go"));
      expect(error.code).toBe("not_available");
      expect(error.message).toContain('The agent "b"');
    }
  });

  test("B3 with a budget and an unknown window refuse the run", async () => {
    const b = member("b", [], { budgetAwareness: "limit:70" });
    const a = member("a", [], { handoffs: [b.agent] });
    await expect(a.agent.run("Go")).rejects.toThrow(/agent "b"/);
  });
});

describe("the definition of an agent with `handoffs`", () => {
  const b = Agent.fromJSON({ name: "b", model: MODEL });

  test("A7 S7 names them, and binds the names again", () => {
    const agent = new Agent({ name: "a", model: MODEL, handoffs: [b, "c"] });
    expect(agent.definition.handoffs).toEqual(["b", "c"]);
    const json = JSON.parse(JSON.stringify(agent.toJSON()));
    expect(json.handoffs).toEqual(["b", "c"]);
    const again = Agent.fromJSON(json, { agents: [b] });
    expect(again.toJSON()).toEqual(agent.toJSON());
    expect(again.team).toEqual([b]);
  });

  test("A3 takes nothing else, and says so with every other problem", () => {
    const wrong = () =>
      new Agent(
        { name: "a", model: MODEL, handoffs: [b, 7, { name: "x" }, null, "b"], maxSteps: 0 } as never,
        { agents: [{}] } as never,
      );
    expect(wrong).toThrow(AgentConfigError);
    try {
      wrong();
    } catch (error) {
      const paths = (error as AgentConfigError).issues.map(({ path }) => path);
      for (const path of [
        "handoffs[1]",
        "handoffs[2]",
        "handoffs[3]",
        "handoffs[4]",
        "registry.agents",
        "maxSteps",
      ])
        expect(paths).toContain(path);
    }
  });

  test("A4 hitl_tools may name a handoff, which is asked about like any call", async () => {
    const target = member("b", ["b answers"]);
    const gated = (choice: string) => {
      const a = member("a", [to("b"), "a answers"], {
        handoffs: [target.agent],
        hitlTools: ["handoff_to_b"],
      });
      return play(a.agent, { approve: () => ({ choice, reason: "not today" }) });
    };
    expect((await gated("reject")).result.output).toBe("a answers");
    const { result, events } = await gated("approve");
    expect(result.output).toBe("b answers");
    expect(ways(events)).toEqual(["a > b"]);
    expect(() => new Agent({ name: "a", model: MODEL, hitlTools: ["handoff_to_b"] })).toThrow(
      /hitlTools\[0\]/,
    );
  });

  test("A3 tools of its own cannot be called like built-in ones that are switched on", () => {
    const named = (name: string, config: object = {}) =>
      new Agent({ name: "a", model: MODEL, tools: [defineTool({ name, execute: () => "" })], ...config });
    expect(() => named("spawn_self")).not.toThrow();
    expect(() => named("spawn_self", { allowSelfSpawn: true })).toThrow(/tools\[0\].*built-in/);
    expect(() => named("spawn_parallel", { allowParallelSubagents: true })).toThrow(/tools\[0\].*built-in/);
    expect(() => named("handoff_to_b")).toThrow(/tools\[0\].*handoff_to_/);
    expect(() => named("mcp__x__y")).toThrow(/tools\[0\].*mcp__/);
    const registered = { tools: [defineTool({ name: "mcp__x__y", execute: () => "" })] };
    expect(() => Agent.fromJSON({ name: "a", model: MODEL }, registered)).toThrow(/tools.*mcp__/);
  });

  test("T3 injected arguments cannot be called like those of built-in tools that are switched on", () => {
    const injected = (name: string, config: object) =>
      new Agent({ name: "a", model: MODEL, injectedToolArgs: { [name]: "x" }, ...config });
    const on: readonly (readonly [string, object])[] = [
      ["task", { allowSelfSpawn: true }],
      ["tool_names", { allowSelfSpawn: true }],
      ["jobs", { allowParallelSubagents: true }],
      ["reason", { handoffs: [b] }],
      ["input", { handoffs: ["b"] }],
      ["artifact_id", { tools: [tracked("t").tool] }],
      ["search", { tools: [tracked("t").tool] }],
    ];
    for (const [name, config] of on) {
      expect(() => injected(name, config), name).toThrow(/does not use itself/);
      expect(() => injected(name, {}), name).not.toThrow();
      expect(() => injected("origin", config), name).not.toThrow();
    }
  });

  test("S7 what is added to a target's hook manager before the run is part of it", async () => {
    const target = member("b", ["b answers"]);
    const a = member("a", [to("b")], { handoffs: [target.agent] });
    const ran: string[] = [];
    expect(target.agent.hookManager).toBeInstanceOf(HookManager);
    target.agent.hookManager.add("PRE_LLM_CALL", (ctx) => void ran.push(ctx.agent.name));
    await play(a.agent);
    expect(ran).toEqual(["b"]);
  });
});

test("T3 the arguments of read_artifact that a definition is checked against are those it has", async () => {
  const { readArtifactTool } = await import("../../src/tools/read-artifact.ts");
  const reader = { find: async () => undefined, read: async () => new Uint8Array() };
  const { properties } = readArtifactTool(reader as never, 1000).input.jsonSchema as { properties: object };
  const model = scriptedModel([]);
  for (const name of Object.keys(properties)) {
    const config = { name: "a", model, tools: [tracked("t").tool], injectedToolArgs: { [name]: "x" } };
    expect(() => new Agent(config)).toThrow(/read_artifact/);
  }
});
