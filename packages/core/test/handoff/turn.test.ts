import {
  Agent,
  alert,
  cont,
  defineRail,
  defineTool,
  type HookPoint,
  postHook,
  preHook,
  RailAbortError,
  RunCancelledError,
  skip,
  streamTransformer,
} from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { cast, offered, systemOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, eventsOf, failure, outputs, play, results, tracked, verdicts } from "../guards/stage.ts";
import { expectSound } from "../subagents/stage.ts";
import { member, to, ways } from "./stage.ts";

describe.each(ENGINES)("a turn that is handed over, on the %s engine", (_name, make) => {
  test("S7 comes back and goes on, with nobody's guards twice", async () => {
    const ran: string[] = [];
    const guards = (name: string) => ({
      rails: [defineRail({ name: "rail", on: ["PRE_LLM_CALL"] }, () => void ran.push(`${name} rail`))],
      hooks: { stream: [streamTransformer(name, () => ({ push: (text) => text, flush: () => `+${name}` }))] },
    });
    const b = member("b", [{ text: "b says", ...to("a") }], { handoffs: ["a"], ...guards("b") });
    const a = member("a", [to("b"), "done"], { handoffs: [b.agent], ...guards("a") });
    a.agent.hookManager.add("PRE_LLM_CALL", () => void ran.push("a hook"));
    b.agent.hookManager.add("PRE_LLM_CALL", () => void ran.push("b hook"));
    const { result, events } = await play(a.agent, { engine: make() });

    expect(ways(events)).toEqual(["a > b", "b > a"]);
    expect(result.output).toBe("done+a+b");
    expect(ran).toEqual([
      ...["a rail", "a hook"],
      ...["a rail", "b rail", "a hook", "b hook"],
      ...["a rail", "b rail", "a hook", "b hook"],
    ]);
    expect(systemOf(a.model.requests[1])).toBe("You are a.");
    expect(offered(a.model.requests[1])).toEqual(["handoff_to_b"]);
  });

  test("S7 A to B to A to C is four agents' worth of ways, A to B again is not", async () => {
    const c = member("c", ["c answers"]);
    const b = member("b", [to("a")], { handoffs: ["a"] });
    const a = member("a", [to("b"), to("b"), to("c")], { handoffs: [b.agent, c.agent] });
    const { result, events } = await play(a.agent, { engine: make() });

    expect(ways(events)).toEqual(["a > b", "b > a", "a > c"]);
    expect(result.output).toBe("c answers");
    expect(outputs(result)).toEqual([
      "Handed over to b.",
      "Handed over to a.",
      "rejected",
      "Handed over to c.",
    ]);
    expect(JSON.stringify(a.model.requests[2]?.prompt)).toContain("answer it yourself");
  });

  test("R2 S7 one that stays fires neither POST_TOOL_CALL nor TOOL_ERROR, and the call never started", async () => {
    const seen: HookPoint[] = [];
    const look = defineRail({ name: "look", on: ["POST_TOOL_CALL", "TOOL_ERROR"] }, (ctx) => {
      seen.push(ctx.event);
    });
    const door = defineRail({ name: "door", on: ["HANDOFF"] }, () => skip("shut"));
    const b = member("b", []);
    const a = member("a", [to("b"), "done"], { handoffs: [b.agent], rails: [look, door] });
    const { result, events } = await play(a.agent, { engine: make() });

    expect(seen).toEqual([]);
    const [call] = results(result);
    expect(call?.metadata).toMatchObject({ status: "rejected", skipped_by: "door", execution_time_ms: 0 });
    expect(call?.metadata.started_at).toBe(call?.metadata.completed_at);
    expect(verdicts(events)).toEqual(["door:skip@HANDOFF"]);
  });

  test("S7 R3 HANDOFF sees who goes where and with what; the origin's rails are asked on every way", async () => {
    const seen: unknown[] = [];
    const door = (name: string) =>
      defineRail({ name, on: ["HANDOFF"] }, (ctx) => {
        seen.push([name, ctx.inputs.from, ctx.inputs.to, ctx.inputs.input, ctx.agent.name]);
        return alert("seen");
      });
    const c = member("c", ["done"], { rails: [door("door-c")] });
    const b = member("b", [to("c", { input: "Do it." })], { handoffs: [c.agent], rails: [door("door-b")] });
    const a = member("a", [to("b")], { handoffs: [b.agent], rails: [door("door-a")] });
    const { events } = await play(a.agent, { engine: make() });

    expect(seen).toEqual([
      ["door-a", "a", "b", "Go", "a"],
      ["door-a", "b", "c", "Do it.", "b"],
      ["door-b", "b", "c", "Do it.", "b"],
    ]);
    expect(verdicts(events)).toEqual([
      "door-a:continue@HANDOFF",
      "a/door-a:continue@HANDOFF",
      "b/door-b:continue@HANDOFF",
    ]);
  });

  test("R14 an abort of either agent's rail is told by whose it is", async () => {
    const b = member("b", ["x"], {
      rails: [defineRail({ name: "stop", on: ["PRE_LLM_CALL"] }, () => "abort")],
    });
    const a = member("a", [to("b")], {
      handoffs: [b.agent],
      rails: [defineRail({ name: "stop", on: ["POST_TOOL_CALL"] }, () => undefined)],
    });
    const { error } = await play(a.agent, { engine: make() });

    expect(error).toBeInstanceOf(RailAbortError);
    expect(error).toMatchObject({ railName: "b/stop", point: "PRE_LLM_CALL" });
  });

  test("R14 R2 FINISHED is for everybody who had the turn", async () => {
    const seen: string[] = [];
    const rails = (name: string) => [
      defineRail({ name: "end", on: ["START", "FINISHED"] }, (ctx) => void seen.push(`${name} ${ctx.event}`)),
    ];
    const b = member("b", ["done"], { rails: rails("b") });
    const a = member("a", [to("b")], { handoffs: [b.agent], rails: rails("a") });
    await play(a.agent, { engine: make() });

    expect(seen).toEqual(["a START", "a FINISHED", "b FINISHED"]);
  });

  test("R4 a rail that changes the call of a handoff changes what is told of it", async () => {
    const edit = defineRail({ name: "edit", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.arguments = { reason: "for reasons", input: "Do this instead." };
    });
    const seen: string[] = [];
    const look = defineRail({ name: "look", on: ["HANDOFF"] }, (ctx) => void seen.push(ctx.inputs.input));
    const b = member("b", ["done"]);
    const a = member("a", [to("b", { input: "Do that." })], { handoffs: [b.agent], rails: [edit, look] });
    const { events, result } = await play(a.agent, { engine: make() });

    expect(eventsOf(events, "handoff")[0]?.reason).toBe("for reasons");
    expect(seen).toEqual(["Do this instead."]);
    expect(results(result)[0]?.metadata.original_args).toEqual({ reason: "b knows", input: "Do that." });
    expect(JSON.stringify(b.model.requests[0]?.prompt)).toContain("other arguments than you wrote");
  });

  test("T1 a call without a reason hands nothing over", async () => {
    const b = member("b", []);
    const script: ScriptedStep[] = [{ calls: [{ tool: "handoff_to_b", args: {} }] }, "done"];
    const { result } = await play(member("a", script, { handoffs: [b.agent] }).agent, { engine: make() });
    expect(outputs(result)).toEqual(["tool_arguments_invalid"]);
    expect(result.output).toBe("done");
  });

  test("S7 a handoff that is refused leaves room for another one in the same step", async () => {
    const [b, c] = [member("b", ["b answers"]), member("c", ["c answers"])];
    const door = defineRail({ name: "door", on: ["HANDOFF"] }, (ctx) =>
      ctx.inputs.to === "b" ? skip("shut") : undefined,
    );
    const both: ScriptedStep = { calls: [...to("b").calls, ...to("c").calls] };
    const a = member("a", [both], { handoffs: [b.agent, c.agent], rails: [door] });
    const { events, result } = await play(a.agent, { engine: make() });

    expect(ways(events)).toEqual(["a > c"]);
    expect(result.output).toBe("c answers");
  });

  test("R9 an abort beside it ends the run, and nothing is handed over", async () => {
    const t = tracked("t");
    const stop = defineRail({ name: "stop", on: ["POST_TOOL_CALL"] }, (ctx) =>
      ctx.inputs.toolName === "t" ? "abort" : undefined,
    );
    const b = member("b", []);
    for (const list of [
      [...to("b").calls, { tool: "t" }],
      [{ tool: "t" }, ...to("b").calls],
    ]) {
      const a = member("a", [{ calls: list }], { handoffs: [b.agent], rails: [stop], tools: [t.tool] });
      const { error, events } = await play(a.agent, { engine: make() });
      expect(error).toBeInstanceOf(RailAbortError);
      expect(ways(events)).toEqual([]);
      expectSound(events);
    }
    expect(b.model.requests).toEqual([]);
  });

  test("X6 a message that comes meanwhile is heard by whoever has the turn, before all its rails", async () => {
    const seen: string[] = [];
    const start = (name: string) =>
      defineRail({ name: "start", on: ["START"] }, (ctx) => void seen.push(`${name}: ${ctx.inputs.input}`));
    let steer: () => Promise<unknown> = async () => {};
    const wait = defineTool({
      name: "wait",
      execute: () => {
        void steer();
        return "waited";
      },
    });
    const b = member("b", [{ calls: [{ tool: "wait" }] }, "done"], { tools: [wait], rails: [start("b")] });
    const a = member("a", [to("b")], { handoffs: [b.agent], rails: [start("a")] });
    const stream = a.agent.stream("Go", { engine: make() });
    let receipt: Promise<{ state: string }> | undefined;
    steer = async () => {
      receipt = stream.steer("Also this.");
    };
    const result = await stream.result;

    expect(result.output).toBe("done");
    expect(await receipt).toMatchObject({ state: "admitted" });
    expect(seen).toEqual(["a: Go", "a: Also this.", "b: Also this."]);
    expect(JSON.stringify(b.model.requests[1]?.prompt)).toContain("Also this.");
  });

  test("H7 post-hooks of the first agent are not those of the answer", async () => {
    const ran: string[] = [];
    const post = (name: string) =>
      postHook({ name }, (turn) => {
        ran.push(name);
        return cont(turn);
      });
    const pre = preHook({ name: "pre" }, (turn) => {
      ran.push("pre");
      return cont(turn.append("hint"));
    });
    const b = member("b", ["done"], { hooks: { post: [post("b")] } });
    const a = member("a", [to("b")], { handoffs: [b.agent], hooks: { pre: [pre], post: [post("a")] } });
    await play(a.agent, { engine: make() });
    expect(ran).toEqual(["pre", "b"]);
  });

  test("S7 B3 the budget is the target's", async () => {
    const limited = { budgetAwareness: "limit:0", contextWindowTokens: 1000 };
    const b = member("b", ["never sent"], limited);
    const a = member("a", [to("b")], { handoffs: [b.agent] });
    const { result } = await play(a.agent, { engine: make() });
    expect(result.stopReason).toBe("budget");
    expect(b.model.requests).toEqual([]);

    const free = member("b", ["done"]);
    const wide = { budgetAwareness: "limit:90", contextWindowTokens: 4000 };
    const first = member("a", [to("b")], { handoffs: [free.agent], ...wide });
    expect((await play(first.agent, { engine: make() })).result.output).toBe("done");
  });

  test("S7 sub-agents of the target are its own, under everybody's rails", async () => {
    const t = tracked("t");
    const guard = defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, (ctx) =>
      ctx.inputs.toolName === "t" ? skip("no") : undefined,
    );
    const model = cast({
      Go: [{ calls: [{ tool: "spawn_self", args: { task: "it" } }] }, "done"],
      it: [{ calls: [{ tool: "t" }] }, "ok"],
    });
    const b = new Agent({
      name: "b",
      model,
      instructions: "You are b.",
      tools: [t.tool],
      allowSelfSpawn: true,
    });
    const a = member("a", [to("b")], { handoffs: [b], rails: [guard] });
    const { result, events } = await play(a.agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(t.ran).toEqual([]);
    expect(systemOf(model.requests[1])).toBe("You are b.");
    expect(offered(model.requests[1])).toEqual(["t", "spawn_self"]);
    expect(verdicts(events)).toEqual(["a/guard:skip@PRE_TOOL_CALL"]);
    expectSound(events);
  });

  test("S7 the next turn of the conversation is the first agent's again", async () => {
    const b = member("b", ["b answers"]);
    const a = member("a", [to("b"), "a answers"], { handoffs: [b.agent] });
    const engine = make();
    const { result } = await play(a.agent, { engine });
    const next = await a.agent.run("And?", { engine, conversation: result.conversation });
    expect(next.output).toBe("a answers");
    expect(systemOf(a.model.requests[1])).toBe("You are a.");
  });

  test("X5 a cancel while a HANDOFF rail thinks hands nothing over", async () => {
    let enter: () => void = () => {};
    const inside = new Promise<void>((resolve) => {
      enter = resolve;
    });
    const door = defineRail({ name: "door", on: ["HANDOFF"] }, () => {
      enter();
      return new Promise<never>(() => {});
    });
    const b = member("b", []);
    const a = member("a", [to("b")], { handoffs: [b.agent], rails: [door] });
    const stream = a.agent.stream("Go", { engine: make() });
    await inside;
    stream.cancel("enough");
    const error = await failure(stream.result);
    expect(error).toBeInstanceOf(RunCancelledError);
    const { result } = error as unknown as { result: Parameters<typeof outputs>[0] };
    expect(outputs(result)).toEqual(["cancelled"]);
  });

  test("R10 a plain hook on HANDOFF that fails fails the run by name", async () => {
    const b = member("b", []);
    const a = member("a", [to("b")], { handoffs: [b.agent] });
    a.agent.hookManager.add("HANDOFF", function door() {
      throw new Error("broke");
    });
    const { error, events } = await play(a.agent, { engine: make() });
    expect(error).toMatchObject({ name: "HookError", point: "HANDOFF", hook: "door" });
    expectSound(events);
  });

  test("E3 run() and stream() hand over alike", async () => {
    const pair = () => {
      const b = member("b", ["done"]);
      return member("a", [to("b")], { handoffs: [b.agent] }).agent;
    };
    const { result } = await play(pair(), { engine: make() });
    const ran = await pair().run("Go", { engine: make() });
    expect([ran.output, ran.usage, ran.steps]).toEqual([result.output, result.usage, result.steps]);
  });
});

test("A2 a thousand turns handed over at once never see each other", async () => {
  const b = new Agent({
    name: "b",
    model: scriptedModel([({ prompt }) => `b to ${JSON.stringify(prompt).match(/user \d+/)?.[0]}`], {
      loop: true,
    }),
  });
  const a = new Agent({ name: "a", model: scriptedModel([to("b")], { loop: true }), handoffs: [b] });
  const runs = await Promise.all(Array.from({ length: 1000 }, (_, i) => a.run(`user ${i}`)));
  expect(runs.map(({ output }) => output)).toEqual(runs.map((_, i) => `b to user ${i}`));
});
