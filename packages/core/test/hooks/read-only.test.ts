import { Agent, defineTool, HOOK_POINTS, type HookContext, type HookPoint, localEngine } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";

/** The fields of each point that nobody may assign. */
const FIXED: Partial<Record<HookPoint, readonly string[]>> = {
  START: ["messages", "steered"],
  PRE_LLM_CALL: ["tools"],
  POST_LLM_CALL: ["messages", "tools", "usage"],
  PRE_TOOL_CALL: ["toolName"],
  POST_TOOL_CALL: ["toolName", "arguments", "metadata"],
  TOOL_ERROR: ["toolName", "arguments", "error"],
  MODEL_ERROR: ["messages", "tools", "error"],
  FINISHED: ["input", "result"],
  ERROR: ["input", "error"],
};

const note = defineTool({ name: "note", input: {}, execute: (args) => ({ noted: [args] }) });
const crash = defineTool({ name: "crash", execute: () => Promise.reject(new Error("no luck")) });

/** Looks at the contexts of every point that fires, while they are open. */
async function looking(look: (point: HookPoint, ctx: HookContext) => void): Promise<Set<HookPoint>> {
  const args = { deep: { list: [1] } };
  const calls = [{ tool: "note", args }, { tool: "crash" }];
  const model = scriptedModel([{ calls }, "done", { error: new Error("out of order") }]);
  const agent = new Agent({ name: "clerk", model, tools: [note, crash] });
  const seen = new Set<HookPoint>();
  const problems: unknown[] = [];
  for (const point of HOOK_POINTS) {
    agent.hookManager.add(point, (ctx: HookContext) => {
      seen.add(point);
      try {
        look(point, ctx);
      } catch (error) {
        problems.push(error);
      }
    });
  }
  const engine = localEngine({ retry: { retries: 0 } });
  const scope = { team: { name: "ops" } };
  const { conversation } = await agent.run("Go", { engine, scope });
  await agent.run("Go on", { engine, scope, conversation }).catch(() => {});
  if (problems.length > 0) throw problems[0];
  return seen;
}

describe("R4 what may not be changed", () => {
  test("R4 an assignment to it fails loudly, at every point", async () => {
    const seen = await looking((point, ctx) => {
      for (const field of FIXED[point] ?? []) {
        expect(ctx.inputs).toHaveProperty(field);
        expect(() => Object.assign(ctx.inputs, { [field]: "changed" })).toThrow(/cannot be changed at/);
      }
      for (const field of ["event", "inputs", "agent", "scope", "runId", "turnRef", "attempt", "signal"])
        expect(() => Object.assign(ctx, { [field]: "changed" })).toThrow(TypeError);
      expect(() => Object.assign(Object(ctx.scope["team"]), { name: "changed" })).toThrow(TypeError);
      expect(() => Object.assign(ctx.agent, { max_steps: 1 })).toThrow(TypeError);
    });
    expect([...seen].sort()).toEqual(Object.keys(FIXED).sort());
  });

  test("R4 messages, arguments, results and records are frozen at every level", async () => {
    await looking((_point, ctx) => {
      for (const value of Object.values({ ...ctx.inputs })) expectFrozen(value);
    });
  });
});

function expectFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null || "run" in value) return; // tools are frozen where they are made
  expect(Object.isFrozen(value)).toBe(true);
  for (const inner of Object.values(value)) expectFrozen(inner);
}

test("R4 a context that is used after its hook returned says so", async () => {
  let late: HookContext | undefined;
  const agent = new Agent({ name: "clerk", model: scriptedModel(["done"]) });
  agent.hookManager.add("START", function keeper(ctx) {
    late = ctx;
  });
  await agent.run("Go");
  expect(() => late?.inputs).toThrow(/The hook "keeper" used ctx at START after it had returned/);
});
