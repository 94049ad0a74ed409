import { describe, expect, test } from "vitest";
import { type AgentDefinition, agentSchemas } from "../schema/agent.ts";
import { checkDefinition } from "../schema/check-definition.ts";
import { deepFreeze } from "../schema/json.ts";
import { childDefinition, childMessage } from "./child-definition.ts";
import type { Job } from "./jobs.ts";

const job: Job = {
  index: 0,
  task: "Count the laps.",
  additional_context: "",
  tool_names: null,
  system_prompt: "",
  output_schema: null,
};

const childTools = ["search", "mcp__docs__read"];

function definitionOf(fields: Partial<AgentDefinition> = {}): AgentDefinition {
  const raw = {
    name: "lead",
    model: "openai:gpt-4o",
    instructions: "Be brief.",
    tools: ["search", "secret"],
    allow_self_spawn: true,
    allow_parallel_subagents: true,
    ...fields,
  };
  return deepFreeze(agentSchemas().agentDefinition.parse(raw));
}

describe("childDefinition", () => {
  test("S4 inherits what guards, pays and runs the parent, and nothing of its turn", () => {
    const parent = definitionOf({
      max_steps: 7,
      planning_enabled: true,
      budget_awareness: "limit:70",
      injected_tool_args: { why: "Why." },
      fallback_models: ["openai:gpt-4o-mini"],
      handoffs: ["other"],
      output_schema: { type: "string" },
      rails: [{ use: "pii" }],
      hooks: {
        pre: [{ use: "a" }],
        post: [{ use: "b" }],
        stream: [{ use: "c" }],
        on: { START: [{ use: "d" }] },
      },
    });
    const child = childDefinition(parent, job, 1, childTools);
    expect(child).toEqual({
      ...parent,
      planning_enabled: false,
      tools: childTools,
      handoffs: [],
      output_schema: null,
      hooks: { stream: [{ use: "c" }], on: { START: [{ use: "d" }] } },
    });
    // Tools of servers are not named in the definition that is kept.
    const kept = { ...child, tools: ["search"] };
    expect(checkDefinition(kept, { tools: null }).ok).toBe(true);
  });

  test("S4 adds the job's system prompt to the parent's instructions", () => {
    const instructionsOf = (instructions: string, system_prompt: string) =>
      childDefinition(definitionOf({ instructions }), { ...job, system_prompt }, 1, childTools).instructions;
    expect(instructionsOf("Be brief.", "You are a timekeeper.")).toBe("Be brief.\n\nYou are a timekeeper.");
    expect(instructionsOf("", "You are a timekeeper.")).toBe("You are a timekeeper.");
    expect(instructionsOf("Be brief.", " ")).toBe("Be brief.");
  });

  test("S5 answers to the job's schema", () => {
    const output_schema = { type: "number" };
    expect(childDefinition(definitionOf(), { ...job, output_schema }, 1, childTools).output_schema).toBe(
      output_schema,
    );
  });

  test.each([
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ])("S3 a child at depth %i may spawn: %s", (depth, may) => {
    const child = childDefinition(definitionOf(), job, depth, childTools);
    expect([child.allow_self_spawn, child.allow_parallel_subagents]).toEqual([may, may]);
    const forbidden = definitionOf({ allow_self_spawn: false, allow_parallel_subagents: false });
    expect(childDefinition(forbidden, job, depth, childTools).allow_self_spawn).toBe(false);
  });

  test.each([[["search"]], [[]]])(
    "S3 named tools, here %j, are all there is, without spawn tools",
    (tool_names) => {
      const child = childDefinition(definitionOf(), { ...job, tool_names }, 1, childTools);
      expect(child).toMatchObject({
        tools: tool_names,
        allow_self_spawn: false,
        allow_parallel_subagents: false,
      });
    },
  );

  test("S3 a tool that children may not have stays out, whatever the job says", () => {
    expect(childDefinition(definitionOf(), { ...job, tool_names: ["secret"] }, 1, childTools).tools).toEqual(
      [],
    );
  });

  test("S3 servers stay as long as one of their tools does", () => {
    const parent = definitionOf({
      mcp_servers: [
        { name: "docs", command: "a" },
        { name: "web", url: "http://b" },
      ],
    });
    const serversOf = (tool_names: Job["tool_names"]) =>
      childDefinition(parent, { ...job, tool_names }, 1, childTools).mcp_servers.map(({ name }) => name);
    expect(serversOf(null)).toEqual(["docs", "web"]);
    expect(serversOf(["mcp__docs__read"])).toEqual(["docs"]);
    expect(serversOf([])).toEqual([]);
  });

  test("S4 R14 gates stay on every tool the child has", () => {
    const gated = [
      "search",
      "secret",
      "mcp__docs__read",
      "mcp__docs__write",
      "spawn_self",
      "spawn_parallel",
      "read_artifact",
    ];
    const parent = definitionOf({ hitl_tools: gated, mcp_servers: [{ name: "docs", command: "a" }] });
    const gatesOf = (tool_names: Job["tool_names"], depth: number) =>
      childDefinition(parent, { ...job, tool_names }, depth, childTools).hitl_tools;
    expect(gatesOf(null, 1)).toEqual(gated.filter((name) => name !== "secret"));
    expect(gatesOf(null, 3)).not.toContain("spawn_self");
    expect(gatesOf(["search"], 1)).toEqual(["search", "read_artifact"]);
  });
});

describe("childMessage", () => {
  test("S4 is the task, and below it what belongs to it", () => {
    expect(childMessage(job)).toBe("Task:\nCount the laps.");
    expect(childMessage({ ...job, additional_context: "There are 58.\n" })).toBe(
      "Task:\nCount the laps.\n\nAdditional context:\nThere are 58.",
    );
  });
});
