import { Agent, abort, defineRail, defineTool, HOOK_POINTS, localEngine, type Rail, skip } from "trackside";
import { type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ENGINES, play, tracked } from "./stage.ts";

const broken = defineTool({
  name: "broken",
  execute: (): string => {
    throw new Error("no luck");
  },
});

/** The points that fire in a run, in order, with a rail that acts on top of the one that watches. */
async function fired(
  script: Script,
  more: { rails?: readonly Rail[]; engine?: ReturnType<typeof localEngine> } = {},
) {
  const points: string[] = [];
  const watch = defineRail({ name: "watch", priority: 1 }, (ctx) => {
    const tool = "toolName" in ctx.inputs ? ` ${ctx.inputs.toolName}` : "";
    points.push(`${ctx.event}${tool}`);
  });
  const add = defineTool({ name: "add", input: z.object({ a: z.number() }), execute: ({ a }) => a + 1 });
  const agent = new Agent({
    name: "a",
    model: scriptedModel(script),
    tools: [add, broken],
    rails: [watch, ...(more.rails ?? [])],
    hitlTools: [],
  });
  const run = await play(agent, { engine: more.engine ?? localEngine({ retry: { retries: 0 } }) });
  return { points, ...run };
}

const turn = { calls: [{ tool: "add", args: { a: 1 } }] };

describe("R2 which points fire", () => {
  test.each(ENGINES)("R2 a turn with a call, on the %s engine", async (_name, make) => {
    const { points } = await fired([turn, "done"], { engine: make() });

    expect(points).toEqual([
      "START",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "PRE_TOOL_CALL add",
      "POST_TOOL_CALL add",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "FINISHED",
    ]);
  });

  test("R2 wire values equal the names, and there are eleven of them", () => {
    expect(HOOK_POINTS).toEqual([
      ...["START", "FINISHED", "ERROR", "PRE_LLM_CALL", "POST_LLM_CALL", "PRE_TOOL_CALL", "POST_TOOL_CALL"],
      ...["MODEL_ERROR", "TOOL_ERROR", "HANDOFF", "CONTEXT_WINDOW"],
    ]);
  });

  test("R2 START comes before the user's message is logged", async () => {
    const lengths: number[] = [];
    const start = defineRail(
      { name: "start", on: ["START"] },
      (ctx) => void lengths.push(ctx.inputs.messages.length),
    );
    const pre = defineRail(
      { name: "pre", on: ["PRE_LLM_CALL"] },
      (ctx) => void lengths.push(ctx.inputs.messages.length),
    );
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [start, pre] }).run("Go");

    expect(lengths).toEqual([0, 1]);
  });

  test("R2 a tool that throws fires TOOL_ERROR and not POST_TOOL_CALL", async () => {
    const { points } = await fired([{ calls: [{ tool: "broken" }] }, "done"]);

    expect(points.filter((point) => point.includes("TOOL"))).toEqual([
      "PRE_TOOL_CALL broken",
      "TOOL_ERROR broken",
    ]);
  });

  test("R2 a skipped call fires neither, a malformed or unknown one no PRE_TOOL_CALL either", async () => {
    const no = defineRail({ name: "no", on: ["PRE_TOOL_CALL"] }, () => skip("no"));
    const calls = [
      { tool: "add", args: { a: 1 } },
      { tool: "add", rawArgs: "{" },
      { tool: "nowhere" },
      { tool: "add", args: {} },
    ];
    const { points } = await fired([{ calls }, "done"], { rails: [no] });

    expect(points.filter((point) => point.includes("TOOL"))).toEqual(["PRE_TOOL_CALL add"]);
  });

  test("R2 a rejected or expired approval fires neither", async () => {
    const { tool, ran } = tracked("t");
    const points: string[] = [];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls: [{ tool: "t" }] }, "done"]),
      tools: [tool],
      hitlTools: ["t"],
      rails: [defineRail({ name: "watch" }, (ctx) => void points.push(ctx.event))],
    });
    await agent.run("Go", { approve: () => ({ choice: "reject" }) });

    expect(ran).toEqual([]);
    expect(points.filter((point) => point.includes("TOOL"))).toEqual(["PRE_TOOL_CALL"]);
  });

  test("R2 MODEL_ERROR fires once, when the provider's retries are used up; then ERROR, and no FINISHED", async () => {
    const busy = () =>
      Object.assign(new Error("busy"), { name: "AI_APICallError", statusCode: 503, isRetryable: true });
    const script = [{ error: busy() }, { error: busy() }, { error: busy() }];
    const engine = localEngine({ retry: { retries: 2, baseMs: 1, maxMs: 1 } });
    const { points, error } = await fired(script, { engine });

    expect(error?.code).toBe("model_failed");
    expect(points.filter((point) => point !== "PRE_LLM_CALL")).toEqual(["START", "MODEL_ERROR", "ERROR"]);
  });

  test("R2 an abort at FINISHED fails the run without firing ERROR, and the logged answer stays", async () => {
    const no = defineRail({ name: "no", on: ["FINISHED"] }, () => abort("not like this"));
    const { points, error, result } = await fired(["the answer"], { rails: [no] });

    expect(points.at(-1)).toBe("FINISHED");
    expect(error).toMatchObject({ name: "RailAbortError", point: "FINISHED", reason: "not like this" });
    expect(result.conversation.messages.at(-1)).toMatchObject({
      parts: [{ type: "text", text: "the answer" }],
    });
  });

  test.each(ENGINES)(
    "R2 a cancel fires neither FINISHED nor ERROR, on the %s engine",
    async (_name, make) => {
      for (const at of [
        "START",
        "PRE_LLM_CALL",
        "POST_LLM_CALL",
        "PRE_TOOL_CALL",
        "POST_TOOL_CALL",
        "text",
      ]) {
        const stop = new AbortController();
        const points: string[] = [];
        const watch = defineRail({ name: "watch" }, (ctx) => {
          points.push(ctx.event);
          if (ctx.event === at) stop.abort("enough");
        });
        const { tool } = tracked("t");
        const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
        const agent = new Agent({ name: "a", model, tools: [tool], rails: [watch] });
        const started = make().start(agent, "Go", { signal: stop.signal }, (event) => {
          if (event.type === at) stop.abort("enough");
        });

        await expect(started.result, at).rejects.toMatchObject({ name: "RunCancelledError" });
        expect(points, at).not.toContain("FINISHED");
        expect(points, at).not.toContain("ERROR");
      }
    },
  );

  test("R2 exactly one of FINISHED and ERROR fires, whatever happens", async () => {
    const endings: [Script, Rail[]][] = [
      [["hi"], []],
      [[{ error: new Error("dead") }], []],
      [["hi"], [defineRail({ name: "x", on: ["START"] }, () => skip("no"))]],
      [["hi"], [defineRail({ name: "x", on: ["START"] }, () => abort("no"))]],
      [["hi"], [defineRail({ name: "x", on: ["PRE_LLM_CALL"] }, () => skip("no"))]],
      [["hi"], [defineRail({ name: "x", on: ["POST_LLM_CALL"] }, () => abort("no"))]],
      [[turn, "hi"], [defineRail({ name: "x", on: ["PRE_TOOL_CALL"] }, () => abort("no"))]],
      [["hi"], [defineRail({ name: "x", on: ["FINISHED"] }, () => abort("no"))]],
      [[{ error: new Error("dead") }], [defineRail({ name: "x", on: ["ERROR"] }, () => abort("no"))]],
    ];
    for (const [script, rails] of endings) {
      const { points } = await fired(script, { rails });
      expect(points.filter((point) => point === "FINISHED" || point === "ERROR")).toHaveLength(1);
    }
  });
});
