import { Agent, type ClientTool, defineRail, defineTool, skip } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, outputs, play, results } from "./stage.ts";

const look = defineTool({ name: "look", effect: "none", execute: () => "sea" });
const paint: ClientTool = {
  name: "paint",
  description: "Paints the page",
  inputSchema: { type: "object", properties: { color: { type: "string" } }, required: ["color"] },
};
const painting = { calls: [{ tool: "paint", args: { color: "red" } }] };
const submit = () => ({ choice: "submit", response: "painted" });

describe.each(ENGINES)("T8 a tool that came with the request, on the %s engine", (_name, make) => {
  test("T8 rails guard it before the client is asked", async () => {
    let asked = 0;
    const no = defineRail({ name: "no", on: ["PRE_TOOL_CALL"] }, () => skip("private"));
    const agent = new Agent({ name: "a", model: scriptedModel([painting, "ok"]), rails: [no] });
    const approve = () => {
      asked += 1;
      return submit();
    };
    const { result } = await play(agent, { engine: make(), approve, clientTools: [paint] });
    expect(asked).toBe(0);
    expect(outputs(result)).toEqual(["rejected"]);
  });

  test("T3 injected arguments are added to it, and split off", async () => {
    const calls = [{ tool: "paint", args: { color: "red", why: "asked" } }];
    const model = scriptedModel([{ calls }, "ok"]);
    const agent = new Agent({ name: "a", model, injectedToolArgs: { why: "The reason" } });
    const seen: unknown[] = [];
    const { result } = await play(agent, {
      engine: make(),
      clientTools: [paint],
      approve: (approval) => {
        seen.push(approval.arguments, approval.injected_args);
        return submit();
      },
    });
    expect(seen).toEqual([{ color: "red" }, { why: "asked" }]);
    expect(results(result)).toHaveLength(1);
    expect(model.requests[0]?.tools?.[0]).toMatchObject({
      name: "paint",
      inputSchema: { properties: { color: {}, why: {} } },
    });
    expect(paint.inputSchema["properties"]).not.toHaveProperty("why");
  });

  test("T8 S3 P4 the planner sees it, a sub-agent never has it", async () => {
    const model = scriptedModel([
      "1. Look.",
      { calls: [{ tool: "spawn_self", args: { task: "look" } }] },
      "child done",
      "done",
    ]);
    const agent = new Agent({
      name: "a",
      model,
      tools: [look],
      allowSelfSpawn: true,
      planningEnabled: true,
    });
    await play(agent, { engine: make(), approve: submit, clientTools: [paint] });
    const has = model.requests.map(({ tools }) => tools?.some(({ name }) => name === "paint") ?? false);
    expect(has).toEqual([true, true, false, true]);
  });

  test("T8 S7 whoever the turn is handed to has it as well", async () => {
    const second = new Agent({ name: "second", model: scriptedModel([painting, "done"]), tools: [look] });
    const model = scriptedModel([{ calls: [{ tool: "handoff_to_second", args: { reason: "it paints" } }] }]);
    const first = new Agent({ name: "first", model, handoffs: [second] });
    const { result } = await play(first, { engine: make(), approve: submit, clientTools: [paint] });
    expect(result.output).toBe("done");
    expect(outputs(result)).toContain("painted");
  });
});

describe("T8 tools that cannot come with a request", () => {
  const agentOf = (more: object = {}) =>
    new Agent({ name: "a", model: scriptedModel([]), tools: [look], ...more });
  const schema = (inputSchema: object) => [{ ...paint, inputSchema }];

  test.each([
    ["no list", { paint }, /clientTools: a list of at most 64/],
    ["too many", Array.from({ length: 65 }, (_, i) => ({ ...paint, name: `t${i}` })), /at most 64.*65 given/],
    ["a name the agent has", [{ ...paint, name: "look" }], /clientTools\[0\]\.name.*agent "a"/],
    ["a name twice", [paint, paint], /clientTools\[1\]\.name: a name that no other/],
    ["ours: spawn_self", [{ ...paint, name: "spawn_self" }], /not kept for/],
    ["ours: read_artifact", [{ ...paint, name: "read_artifact" }], /not kept for/],
    ["ours: of a server", [{ ...paint, name: "mcp__x__y" }], /not kept for/],
    ["ours: a handoff", [{ ...paint, name: "handoff_to_b" }], /not kept for/],
    ["no name", [{ inputSchema: {} }], /clientTools\[0\]\.name: 1 to 64 letters/],
    ["an execute", [{ ...paint, execute: () => 1 }], /execute/],
    ["a remote reference", schema({ $ref: "https://example.com/s" }), /clientTools\[0\]\.inputSchema/],
    ["a pattern that cannot be bounded", schema({ properties: { a: { pattern: "(a)\\1" } } }), /pattern/],
    ["a large schema", schema({ description: "x".repeat(20_000) }), /clientTools\[0\]\.inputSchema/],
    ["no object", schema({ type: "array" }), /clientTools\[0\]\.inputSchema: a schema of an object/],
  ])("T8 %s is refused at the start", async (_title, clientTools, problem) => {
    const run = agentOf().run("Go", { approve: submit, clientTools: clientTools as never });
    await expect(run).rejects.toThrow(problem);
  });

  test("T3 an argument that is injected as well is refused", async () => {
    const agent = agentOf({ injectedToolArgs: { color: "Which" } });
    await expect(agent.run("Go", { approve: submit, clientTools: [paint] })).rejects.toThrow(
      /"color" of its own/,
    );
  });

  test("L6 nobody there to run them is refused", async () => {
    await expect(agentOf().run("Go", { clientTools: [paint] })).rejects.toThrow(/client tools \(paint\)/);
  });
});
