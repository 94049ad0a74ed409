import { Agent, defineTool, HOOK_POINTS, type HookContext, type HookPoint, localEngine } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";

const FIELDS: Partial<Record<HookPoint, readonly string[]>> = {
  START: ["input", "messages"],
  PRE_LLM_CALL: ["messages", "tools"],
  POST_LLM_CALL: ["messages", "tools", "response", "usage"],
  PRE_TOOL_CALL: ["toolName", "arguments"],
  POST_TOOL_CALL: ["toolName", "arguments", "result", "metadata"],
  TOOL_ERROR: ["toolName", "arguments", "error"],
  MODEL_ERROR: ["messages", "tools", "error"],
  FINISHED: ["input", "result"],
  ERROR: ["input", "error"],
};

const note = defineTool({ name: "note", input: {}, execute: (args) => ({ noted: [args] }) });
const crash = defineTool({ name: "crash", execute: () => Promise.reject(new Error("no luck")) });

/** The contexts of every point that fires, each as the hook got it. */
async function contexts(): Promise<Map<HookPoint, HookContext>> {
  const args = { deep: { list: [1] } };
  const calls = [{ tool: "note", args }, { tool: "crash" }];
  const model = scriptedModel([{ calls }, "done", { error: new Error("out of order") }]);
  const agent = new Agent({ name: "clerk", model, tools: [note, crash] });
  const seen = new Map<HookPoint, HookContext>();
  for (const point of HOOK_POINTS)
    agent.hookManager.add(point, (ctx: HookContext) => void seen.set(point, ctx));
  const engine = localEngine({ retry: { retries: 0 } });
  const scope = { team: { name: "ops" } };
  const { conversation } = await agent.run("Go", { engine, scope });
  await agent.run("Go on", { engine, scope, conversation }).catch(() => {});
  return seen;
}

describe.each(Object.entries(FIELDS))("R11 what a hook on %s is given is read-only", (point, fields) => {
  test("R11 an assignment fails loudly", async () => {
    const ctx = (await contexts()).get(point as HookPoint); // the keys of the table are points
    if (ctx === undefined) throw new Error(`${point} did not fire`);

    for (const field of fields) {
      expect(ctx.inputs).toHaveProperty(field);
      expect(() => Object.assign(ctx.inputs, { [field]: "changed" })).toThrow(TypeError);
    }
    for (const field of ["event", "inputs", "agent", "scope", "runId", "turnRef", "attempt", "signal"])
      expect(() => Object.assign(ctx, { [field]: "changed" })).toThrow(TypeError);
    expect(() => Object.assign(Object(ctx.scope["team"]), { name: "changed" })).toThrow(TypeError);
    expect(() => Object.assign(ctx.agent, { max_steps: 1 })).toThrow(TypeError);
  });
});

describe("R11 and so is what lies deeper", () => {
  test("R11 the list of messages", async () => {
    const seen = await contexts();
    for (const ctx of seen.values()) {
      if (!("messages" in ctx.inputs)) continue;
      const { messages } = ctx.inputs;
      expect(() => (messages as unknown[]).push("more")).toThrow(TypeError); // as a caller without types would
    }
  });

  test("R11 the arguments and the result of a call, at every level", async () => {
    const seen = await contexts();
    const after = seen.get("POST_TOOL_CALL");
    if (after?.event !== "POST_TOOL_CALL") throw new Error("POST_TOOL_CALL did not fire");
    const { arguments: args, result } = after.inputs;

    expect(args).toEqual({ deep: { list: [1] } });
    expect(result).toEqual({ noted: [{ deep: { list: [1] } }] });
    for (const value of [args, args["deep"], result]) expect(Object.isFrozen(value)).toBe(true);
    expect(Object.isFrozen(Object(Object(args["deep"]).list))).toBe(true);
  });
});
