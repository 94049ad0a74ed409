import {
  Agent,
  abort,
  cont,
  defineRail,
  type HookPoint,
  postHook,
  preHook,
  RailAbortError,
  type RailContext,
  type RailReturn,
  retry,
  skip,
  streamTransformer,
} from "trackside";
import { describe, expect, test } from "vitest";
import { byRun, requestsOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, eventsOf, outputs, play, shown, tracked, verdicts } from "../guards/stage.ts";
import { calls, endings, entries, expectSound, parallel, self, tree } from "./stage.ts";

const isChild = ({ runId }: Pick<RailContext, "runId">) => runId.includes(".job");

describe.each(ENGINES)("rails of the parent in its sub-agents, on the %s engine", (_name, make) => {
  test("R14 every point of a sub-agent is dispatched to them, with its own run and the tree's turn", async () => {
    const seen: string[] = [];
    const runs = new Set<string>();
    const turns = new Set<string>();
    const look = defineRail({ name: "look" }, (ctx) => {
      turns.add(ctx.turnRef);
      if (!isChild(ctx)) return;
      runs.add(ctx.runId);
      seen.push(ctx.event);
    });
    const t = tracked("t");
    const { agent } = tree(
      { Go: [calls(self("it")), "done"], it: [calls("t"), "ok"] },
      { tools: [t.tool], rails: [look] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(seen).toEqual([
      "START",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "PRE_TOOL_CALL",
      "POST_TOOL_CALL",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "FINISHED",
    ]);
    expect([runs.size, turns.size]).toEqual([1, 1]);
  });

  test("R2 a sub-agent that fails fires ERROR, and FINISHED does not", async () => {
    const seen: string[] = [];
    const look = defineRail({ name: "look", on: ["FINISHED", "ERROR"] }, (ctx) => {
      seen.push(`${isChild(ctx) ? "child" : "root"} ${ctx.event}`);
    });
    const { agent } = tree(
      { Go: [calls(self("it")), "done"], it: [{ error: new Error("broke") }] },
      { rails: [look] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(seen).toEqual(["child ERROR", "root FINISHED"]);
    expect(entries(result)[0]?.error?.message).toContain("broke");
  });

  const ENDS: readonly { what: string; answer: () => RailReturn | Promise<RailReturn> }[] = [
    { what: "aborts", answer: () => abort("no") },
    { what: "throws", answer: () => Promise.reject(new Error("no")) },
    { what: "returns rubbish", answer: () => 7 as never },
  ];
  const POINTS: readonly HookPoint[] = [
    "START",
    "PRE_LLM_CALL",
    "POST_LLM_CALL",
    "PRE_TOOL_CALL",
    "POST_TOOL_CALL",
    "FINISHED",
  ];
  test.each(ENDS.flatMap((end) => POINTS.map((on) => ({ ...end, on }))))(
    "R14 R10 one that $what at $on of a sub-agent ends the whole tree, once",
    async ({ answer, on }) => {
      const rail = defineRail({ name: "rail", on: [on] }, (ctx) =>
        ctx.runId.endsWith(".job1") ? answer() : undefined,
      );
      let errors = 0;
      const count = defineRail({ name: "count", on: ["ERROR"] }, (ctx) => {
        if (!isChild(ctx)) errors += 1;
      });
      const t = tracked("t");
      const { agent, model } = tree(
        {
          Go: [calls(parallel("waits", "it", "waits")), "not said"],
          it: [calls("t"), "ok"],
          waits: [{ hang: true }, { hang: true }],
        },
        { tools: [t.tool], rails: [rail, count] },
      );
      const { error, events, result } = await play(agent, { engine: make() });

      expect(error).toBeInstanceOf(RailAbortError);
      expect(error).toMatchObject({ railName: "rail", point: on });
      expect(errors).toBe(1);
      expectSound(events);
      expect(result.messages.at(-1)).toMatchObject({
        role: "tool",
        output: { type: "error", failure: { code: "cancelled_unknown" } },
      });
      expect(requestsOf(model, "Go")).toHaveLength(1);
      const ended = Object.values(endings(events)).toSorted();
      expect(ended.filter((status) => status === "error")).toHaveLength(2);
      expect(ended.every((status) => status !== "completed")).toBe(true);
    },
  );

  test("R14 R9 siblings that have not begun never do", async () => {
    const rail = defineRail({ name: "rail", on: ["START"] }, (ctx) =>
      isChild(ctx) ? abort("no") : undefined,
    );
    const { agent, model } = tree(
      { Go: [calls(parallel("a"), parallel("b"), parallel("c"))] },
      { rails: [rail], maxParallelSubagents: 1 },
    );
    const { error, events } = await play(agent, { engine: make() });

    expect(error).toBeInstanceOf(RailAbortError);
    expect(byRun(events).size).toBe(2);
    expect(model.requests).toHaveLength(1);
    expect(eventsOf(events, "subagent").map(({ state }) => state)).toEqual(["started", "completed"]);
    expect(eventsOf(events, "tool_result")).toHaveLength(3);
  });

  test("R14 an abort at ERROR of a sub-agent ends the tree, with what it failed of as the cause", async () => {
    const rail = defineRail({ name: "rail", on: ["ERROR"] }, (ctx) =>
      isChild(ctx) ? abort("grave") : undefined,
    );
    const { agent } = tree(
      { Go: [calls(self("it"))], it: [{ error: new Error("broke") }] },
      { rails: [rail] },
    );
    const { error } = await play(agent, { engine: make() });

    expect(error).toBeInstanceOf(RailAbortError);
    expect(JSON.stringify(error?.cause ?? null)).toContain("broke");
  });

  test("R6 a skip is for one call or one sub-agent, and the others go on", async () => {
    const rail = defineRail({ name: "rail", on: ["START"] }, (ctx) =>
      ctx.event === "START" && ctx.inputs.input.includes("bad")
        ? skip("no", { replacement: "refused" })
        : undefined,
    );
    const { agent } = tree({ Go: [calls(parallel("bad", "good")), "done"], good: ["ok"] }, { rails: [rail] });
    const { result } = await play(agent, { engine: make() });

    expect(entries(result).map(({ status, output }) => [status, output])).toEqual([
      ["success", "refused"],
      ["success", "ok"],
    ]);
    expect(result.output).toBe("done");
  });

  test("R4 what START rails make of a task is what the sub-agent is told", async () => {
    const rail = defineRail({ name: "rail", on: ["START"] }, (ctx) => {
      if (isChild(ctx)) ctx.inputs.input = ctx.inputs.input.replace("4111 1111", "[card]");
    });
    const { agent, model } = tree(
      { Go: [calls(self("charge 4111 1111")), "done"], "charge [card]": ["ok"] },
      { rails: [rail] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(JSON.stringify(requestsOf(model, "charge [card]"))).not.toContain("4111");
  });

  test("R5 state is of one run: neither parent nor sibling sees what a sub-agent's rails wrote", async () => {
    const seen: Record<string, unknown> = {};
    const rail = defineRail({ name: "rail", on: ["PRE_LLM_CALL"] }, (ctx) => {
      const who = isChild(ctx) ? ctx.runId.slice(ctx.runId.lastIndexOf(".job")) : "root";
      seen[who] = ctx.state.get("n") ?? 0;
      ctx.state.add("n", 1);
    });
    const { agent } = tree(
      { Go: [calls(parallel("a", "b")), "done"], a: [calls("t"), "ok"], b: ["ok"] },
      { rails: [rail], tools: [tracked("t").tool] },
    );
    await play(agent, { engine: make() });

    expect(seen).toEqual({ root: 1, ".job0": 1, ".job1": 0 });
  });

  test("R12 what they say is told under the sub-agent's path", async () => {
    const rail = defineRail({ name: "rail", on: ["PRE_TOOL_CALL"] }, (ctx) =>
      isChild(ctx) ? skip("no") : undefined,
    );
    const { agent } = tree(
      { Go: [calls(self("it")), "done"], it: [calls("t"), "ok"] },
      { rails: [rail], tools: [tracked("t").tool] },
    );
    const { events } = await play(agent, { engine: make() });

    expect(verdicts(events)).toEqual(["rail:skip@PRE_TOOL_CALL"]);
    expect(eventsOf(events, "rail")[0]?.path).toHaveLength(1);
  });
});

describe.each(ENGINES)("hooks and transformers in sub-agents, on the %s engine", (_name, make) => {
  test("R14 a plain hook that fails in a sub-agent fails that one, and no other", async () => {
    const { agent } = tree({
      Go: [calls(parallel("bad", "good")), "done"],
      bad: ["not said"],
      good: ["ok"],
    });
    const ran: string[] = [];
    agent.hookManager.add("START", (ctx) => {
      ran.push(ctx.inputs.input);
      if (ctx.inputs.input.includes("bad")) throw new Error("broke");
    });
    const { result } = await play(agent, { engine: make() });

    expect(ran.toSorted()).toEqual(["Go", "Task:\nbad", "Task:\ngood"]);
    expect(entries(result).map(({ status, error }) => [status, error?.code])).toEqual([
      ["error", "hook_failed"],
      ["success", undefined],
    ]);
  });

  test("H8 what a sub-agent says passes the transformers before anybody sees it, its parent included", async () => {
    const mask = streamTransformer("mask", () => {
      let held = "";
      return {
        push(text) {
          held += text;
          return "";
        },
        flush: () => held.replaceAll("secret", "[masked]"),
      };
    });
    const { agent, model } = tree(
      { Go: [calls(self("it")), "done"], it: ["the secret is out"] },
      { hooks: { stream: [mask] } },
    );
    const { result, events } = await play(agent, { engine: make() });

    expect(entries(result)[0]?.output).toBe("the [masked] is out");
    expect(JSON.stringify(model.requests)).not.toContain("secret");
    expect(JSON.stringify(events)).not.toContain("secret");
    expect(shown(events)).toContain("the [masked] is out");
  });

  test("S4 the turn pipeline is the user's turn's: it does not run for sub-agents", async () => {
    const ran: string[] = [];
    const pre = preHook({ name: "pre" }, (turn) => {
      ran.push("pre");
      return cont(turn.append("remember"));
    });
    const post = postHook({ name: "post" }, (turn) => {
      ran.push("post");
      return cont(turn);
    });
    const { agent, model } = tree(
      { Go: [calls(self("it")), "done"], it: ["ok"] },
      { hooks: { pre: [pre], post: [post] } },
    );
    await play(agent, { engine: make() });

    expect(ran).toEqual(["pre", "post"]);
    expect(JSON.stringify(requestsOf(model, "it"))).not.toContain("remember");
  });

  test("R15 text of a sub-agent is held back as its parent's is", async () => {
    const rail = defineRail({ name: "rail", on: ["POST_LLM_CALL"] }, (ctx) => {
      const { response } = ctx.inputs;
      if (response.text.includes("secret")) ctx.inputs.response = { ...response, text: "[withheld]" };
    });
    const { agent, model } = tree(
      { Go: [calls(self("it")), "done"], it: ["the secret is out"] },
      { rails: [rail] },
    );
    const { events, result } = await play(agent, { engine: make() });

    expect(JSON.stringify(events)).not.toContain("secret");
    expect(JSON.stringify(model.requests)).not.toContain("secret");
    expect(entries(result)[0]?.output).toBe("[withheld]");
  });
});

test("A2 an agent and its sub-agents leave the agent as it was", async () => {
  const t = tracked("t");
  const { agent } = tree(
    {
      Go: [calls(parallel({ task: "it", tool_names: [], system_prompt: "Be rude." })), "done"],
      it: ["ok"],
    },
    { tools: [t.tool], instructions: "Be kind." },
  );
  const before = JSON.stringify(agent.definition);
  const tools = [...agent.tools];
  await agent.run("Go");

  expect(JSON.stringify(agent.definition)).toBe(before);
  expect(agent.tools).toEqual(tools);
  expect(Object.isFrozen(agent.definition)).toBe(true);
  expect(agent).toBeInstanceOf(Agent);
});

describe.each(ENGINES)("rails around a spawn call, on the %s engine", (_name, make) => {
  test("R8 one that wants it again after it ran ends the run: sub-agents are not started twice", async () => {
    const rail = defineRail({ name: "rail", on: ["POST_TOOL_CALL"] }, (ctx) =>
      ctx.inputs.toolName === "spawn_self" ? retry({ maxRetries: 3 }) : undefined,
    );
    const { agent, model } = tree({ Go: [calls(self("it"))], it: ["ok"] }, { rails: [rail] });
    const { error, events } = await play(agent, { engine: make() });

    expect(error).toBeInstanceOf(RailAbortError);
    expect(requestsOf(model, "it")).toHaveLength(1);
    expectSound(events);
  });

  test("R8 one that wants it again before it ran starts them once", async () => {
    const rail = defineRail({ name: "rail", on: ["PRE_TOOL_CALL"] }, (ctx) =>
      ctx.attempt < 3 ? retry({ maxRetries: 2 }) : undefined,
    );
    const { agent, model } = tree({ Go: [calls(self("it")), "done"], it: ["ok"] }, { rails: [rail] });
    const { result } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(requestsOf(model, "it")).toHaveLength(1);
  });

  test("R4 R7 one may change or withhold what came of them, and nobody sees the rest", async () => {
    const edit = defineRail({ name: "edit", on: ["POST_TOOL_CALL"] }, (ctx) => {
      if (ctx.inputs.toolName === "spawn_parallel") return skip("private");
      if (ctx.inputs.toolName === "spawn_self") ctx.inputs.result = { summary: "fine" };
      return undefined;
    });
    const { agent, model } = tree(
      { Go: [calls(self("a"), parallel("b")), "done"], a: ["secret a"], b: ["secret b"] },
      { rails: [edit] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(outputs(result)[0]).toEqual({ summary: "fine" });
    expect(String(outputs(result)[1])).toContain("withheld by edit");
    expect(JSON.stringify(requestsOf(model, "Go")[1])).not.toContain("secret");
  });

  test("R4 jobs that a rail wrote are checked like the model's own", async () => {
    const edit = defineRail({ name: "edit", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.arguments = { jobs: [{ task: "it", tool_names: ["nope"] }] };
    });
    const { agent, model } = tree({ Go: [calls(parallel("it")), "done"], it: ["ok"] }, { rails: [edit] });
    const { result, events } = await play(agent, { engine: make() });

    expect(outputs(result)).toEqual(["tool_arguments_invalid"]);
    expect(requestsOf(model, "it")).toEqual([]);
    expect(byRun(events).size).toBe(1);
  });

  test("R4 what is no list of jobs at all is the rail's fault, and ends the run by its name", async () => {
    const edit = defineRail({ name: "edit", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.arguments = { jobs: "all of them" };
    });
    const { agent } = tree({ Go: [calls(parallel("it"))] }, { rails: [edit] });
    const { error } = await play(agent, { engine: make() });
    expect(error).toMatchObject({ name: "RailAbortError", railName: "edit" });
  });
});
