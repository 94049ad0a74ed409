import {
  Agent,
  abort,
  ask,
  defineRail,
  HOOK_POINTS,
  type HookContext,
  HookError,
  HookManager,
  HookPoint,
  RailAbortError,
  RailManager,
  retry,
  skip,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { play, tracked } from "./stage.ts";

const START = () => ({ inputs: { input: "hi", messages: [], steered: false } });
const noting = (name: string, notes: string[], priority = 50) =>
  defineRail({ name, priority, on: ["START"] }, () => void notes.push(name));

describe("R11 RailManager", () => {
  test("R11 add, remove by rail or by name, clear", async () => {
    const notes: string[] = [];
    const [a, b, c] = ["a", "b", "c"].map((name) => noting(name, notes));
    const manager = new RailManager();
    for (const rail of [a, b, c]) if (rail) manager.add(rail);
    expect(manager.rails.map(({ name }) => name)).toEqual(["a", "b", "c"]);

    expect(manager.remove("b")).toBe(true);
    expect(manager.remove("b")).toBe(false);
    expect(a && manager.remove(a)).toBe(true);
    await manager.run("START", START());
    expect(notes).toEqual(["c"]);

    manager.clear();
    await manager.run("START", START());
    expect(notes).toEqual(["c"]);
    expect(manager.rails).toEqual([]);
  });

  test("R11 run resolves to the first verdict other than continue, else to continue", async () => {
    const run = (answer: () => ReturnType<typeof skip> | undefined) =>
      new RailManager().add(defineRail({ name: "r", on: ["START"] }, answer)).run("START", START());

    expect(await run(() => undefined)).toMatchObject({ action: "continue" });
    expect(await run(() => skip("no", { replacement: 5 }))).toMatchObject({
      action: "skip",
      reason: "no",
      replacement: 5,
    });
    expect(await run(() => retry({ delay: 2, maxRetries: 3 }))).toMatchObject({
      action: "retry",
      retry: { delay: 2, maxRetries: 3 },
    });
    expect(await new RailManager().run("START", START())).toMatchObject({ action: "continue" });
  });

  test("R11 run tells that a human is to be asked", async () => {
    const manager = new RailManager().add(defineRail({ name: "r", on: ["PRE_TOOL_CALL"] }, () => ask("big")));
    const verdict = await manager.run("PRE_TOOL_CALL", { inputs: { toolName: "t", arguments: {} } });

    expect(verdict).toMatchObject({ action: "ask", reason: "big" });
  });

  test("R11 run throws on an abort, with the rail, the point and the reason", async () => {
    const manager = new RailManager().add(defineRail({ name: "r" }, () => abort("no")));
    const error = await manager.run("START", START()).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(RailAbortError);
    expect(error).toMatchObject({ railName: "r", point: "START", reason: "no" });
  });

  test("R11 run gives back what rails changed", async () => {
    const data = { inputs: { toolName: "t", arguments: { a: 1 } } };
    const manager = new RailManager().add(
      defineRail({ name: "r", on: ["PRE_TOOL_CALL"] }, (ctx) => {
        ctx.inputs.arguments = { a: 2 };
      }),
    );
    await manager.run("PRE_TOOL_CALL", data);

    expect(data.inputs.arguments).toEqual({ a: 2 });
  });

  test("R11 a rail that needs a run says so when it is run by hand", async () => {
    const manager = new RailManager().add(
      defineRail({ name: "r", on: ["START"] }, async (ctx) => void (await ctx.reserve("x", 1, 1))),
    );
    await expect(manager.run("START", START())).rejects.toThrow(
      "ctx.reserve() needs a run; this dispatch was made by hand",
    );
  });

  test("R11 hookFor answers the same hook each time, so that it can be removed, and refuses what is no point", () => {
    const manager = new RailManager();

    expect(manager.hookFor("START")).toBe(manager.hookFor("START"));
    expect(manager.hookFor("START")).not.toBe(manager.hookFor("ERROR"));
    expect(() => manager.hookFor("BEFORE" as never)).toThrow(/"BEFORE" is no lifecycle point; known: START/);

    const hooks = new HookManager().add("START", manager.hookFor("START"));
    expect(hooks.remove("START", manager.hookFor("START"))).toBe(true);
    expect(hooks.on("START")).toEqual([]);
  });
});

describe("R11 HookManager is unchanged by rails", () => {
  test("R11 hooks keep the order they were added in, and rails are one hook among them", async () => {
    const notes: string[] = [];
    const manager = new RailManager().add(noting("r90", notes, 90)).add(noting("r10", notes, 10));
    const hooks = new HookManager()
      .add("START", () => void notes.push("before"))
      .add("START", manager.hookFor("START"))
      .add("START", () => void notes.push("after"));
    await hooks.run("START", START());

    expect(notes).toEqual(["before", "r10", "r90", "after"]);
  });

  test.each([
    ["skip", () => skip("no"), ["rail", "after"]],
    ["retry", () => retry(), ["rail", "after"]],
    ["abort", () => abort("no"), ["rail"]],
  ])(
    "R11 after a rail's %s later plain hooks run, unless it was an abort",
    async (_action, answer, expected) => {
      const notes: string[] = [];
      const manager = new RailManager().add(
        defineRail({ name: "rail", on: ["START"] }, () => {
          notes.push("rail");
          return answer();
        }),
      );
      const late = new RailManager().add(noting("late", notes));
      const hooks = new HookManager()
        .add("START", manager.hookFor("START"))
        .add("START", late.hookFor("START"))
        .add("START", () => void notes.push("after"));
      await hooks
        .run("START", START())
        .catch((error: unknown) => expect(error).toBeInstanceOf(RailAbortError));

      expect(notes).toEqual(expected);
    },
  );

  test("R11 a plain hook that returns something is told to write a rail, in a run too", async () => {
    const agent = new Agent({ name: "a", model: scriptedModel(["hi"]) });
    agent.hookManager.add("START", function nosy() {
      return "skip" as never;
    });
    const { error } = await play(agent);

    expect(error).toBeInstanceOf(HookError);
    expect(error?.message).toBe(
      'The hook "nosy" on START returned a value; a hook returns nothing. To skip, retry or abort, write a rail',
    );
  });
});

describe("R11 an agent and its rails", () => {
  test("R11 without rails there is no manager, and no hook on any point", () => {
    const agent = new Agent({ name: "a", model: scriptedModel([]) });

    expect(agent.railManager).toBeNull();
    for (const point of HOOK_POINTS) expect(agent.hookManager.entries(point)).toEqual([]);
    expect(new Agent({ name: "a", model: scriptedModel([]), rails: [] }).railManager).toBeNull();
  });

  test("R11 the rails of an agent stand before hooks added later, and are sealed", async () => {
    const notes: string[] = [];
    const agent = new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [noting("rail", notes)] });
    agent.hookManager.add("START", () => void notes.push("hook"));
    await agent.run("Go");

    expect(notes).toEqual(["rail", "hook"]);
    expect(agent.railManager?.rails.map(({ name }) => name)).toEqual(["rail"]);
    for (const change of [
      () => agent.railManager?.add(noting("more", notes)),
      () => agent.railManager?.remove("rail"),
      () => agent.railManager?.clear(),
    ])
      expect(change).toThrow("The rails of an agent are fixed when it is made");
  });

  test("R11 manual wiring over all points does what `rails` does", async () => {
    const { tool, ran } = tracked("t");
    const script = () => scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
    const block = () => defineRail({ name: "block", on: ["PRE_TOOL_CALL"] }, () => skip("no"));
    const given = await play(new Agent({ name: "a", model: script(), tools: [tool], rails: [block()] }));

    const manager = new RailManager().add(block());
    const wired = new Agent({ name: "a", model: script(), tools: [tool] });
    for (const point of Object.values(HookPoint)) wired.hookManager.add(point, manager.hookFor(point));
    const byHand = await play(wired);

    expect(ran).toEqual([]);
    const types = (events: { type: string }[]) => events.map(({ type }) => type);
    expect(types(byHand.events)).toEqual(types(given.events));
    expect(byHand.result.messages.map(({ role }) => role)).toEqual(
      given.result.messages.map(({ role }) => role),
    );
  });

  test("R11 a run uses what is wired when it starts: rails added later count for the next run", async () => {
    const notes: string[] = [];
    const manager = new RailManager();
    const agent = new Agent({ name: "a", model: scriptedModel(["hi"], { loop: true }) });
    agent.hookManager.add("START", manager.hookFor("START"));
    manager.add(
      defineRail({ name: "first", on: ["START"] }, () => {
        notes.push("first");
        if (manager.rails.length === 1) manager.add(noting("second", notes));
      }),
    );
    await agent.run("Go");
    expect(notes).toEqual(["first"]);
    await agent.run("Go");
    expect(notes).toEqual(["first", "first", "second"]);
  });

  test("R11 plain hooks may change inputs, under the same checks as rails", async () => {
    const { tool, ran } = tracked("t");
    const model = scriptedModel([{ calls: [{ tool: "t", args: { n: 1 } }] }, "done"], { loop: true });
    const agent = new Agent({ name: "a", model, tools: [tool] });
    const change = (ctx: HookContext<"PRE_TOOL_CALL">) => {
      ctx.inputs.arguments = { n: 2 };
    };
    agent.hookManager.add("PRE_TOOL_CALL", change);
    await agent.run("Go");
    expect(ran).toEqual([2]);

    agent.hookManager.add("PRE_TOOL_CALL", function spoil(ctx) {
      ctx.inputs.arguments = { n: "two" };
    });
    const { error } = await play(agent);
    expect(error).toMatchObject({ name: "HookError", hook: "spoil", point: "PRE_TOOL_CALL" });
    expect(ran).toEqual([2]);
  });
});
