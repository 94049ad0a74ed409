import { HOOK_POINTS, HookError, HookManager, TracksideError } from "trackside";
import { describe, expect, test } from "vitest";

/** Hooks of these tests look at nothing but that they are called. */
const ctx = { event: "START" } as never;

describe("R11 HookManager is the dispatcher", () => {
  test("R11 hooks run in the order they were added, one after another", async () => {
    const seen: string[] = [];
    const slow = async () => {
      seen.push("slow begins");
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.push("slow ends");
    };
    const manager = new HookManager().add("START", slow).add("START", () => void seen.push("quick"));

    await manager.run("START", ctx);
    expect(seen).toEqual(["slow begins", "slow ends", "quick"]);
  });

  test("R11 each hook is given the very context of the dispatch", async () => {
    const given: unknown[] = [];
    const manager = new HookManager().add("START", (one) => void given.push(one));

    await manager.run("START", ctx);
    expect(given).toEqual([ctx]);
    expect(given[0]).toBe(ctx);
  });

  test("R11 hooks of other points do not run, and a point without hooks costs nothing", async () => {
    const seen: string[] = [];
    const manager = new HookManager().add("ERROR", () => void seen.push("error"));

    await manager.run("START", ctx);
    expect(seen).toEqual([]);
    expect(manager.has("START")).toBe(false);
    expect(manager.points).toEqual(["ERROR"]);
  });

  test("R11 a hook added twice runs twice; removing it removes both and says whether it was there", async () => {
    let runs = 0;
    const count = () => void runs++;
    const manager = new HookManager().add("START", count).add("START", count).add("ERROR", count);
    await manager.run("START", ctx);
    expect(runs).toBe(2);

    expect(manager.remove("START", count)).toBe(true);
    expect(manager.remove("START", count)).toBe(false);
    expect(manager.remove("FINISHED", count)).toBe(false);
    await manager.run("START", ctx);
    expect(runs).toBe(2);
    expect(manager.points).toEqual(["ERROR"]);
  });

  test("R11 a hook that adds or removes hooks changes later dispatches, not this one", async () => {
    const seen: string[] = [];
    const last = () => void seen.push("last");
    const manager = new HookManager();
    manager.add("START", () => {
      seen.push("first");
      manager.remove("START", last);
      manager.add("START", () => void seen.push("new"));
    });
    manager.add("START", last);

    await manager.run("START", ctx);
    expect(seen).toEqual(["first", "last"]);
  });

  test("R11 a snapshot is not affected by what comes later", async () => {
    const seen: string[] = [];
    const early = () => void seen.push("early");
    const manager = new HookManager().add("START", early);
    const snapshot = manager.snapshot();
    manager.remove("START", early);
    manager.add("START", () => void seen.push("late"));
    manager.add("ERROR", () => {});

    await snapshot.run("START", ctx);
    expect(seen).toEqual(["early"]);
    expect(snapshot.points).toEqual(["START"]);
  });

  test("R11 names of hooks are told in order, also of those without one", () => {
    const manager = new HookManager().add("START", function audit() {}).add("START", () => {});

    expect(manager.names("START")).toEqual(["audit", "(anonymous)"]);
    expect(manager.names("ERROR")).toEqual([]);
  });
});

describe("R11 what may be registered", () => {
  test.each(HOOK_POINTS)("R11 a hook on %s", (point) => {
    expect(new HookManager().add(point, () => {}).has(point)).toBe(true);
  });

  test.each(["BEFORE", "start", "", "__proto__", undefined, 5, Symbol("START")])(
    "R11 %s is no point",
    (point) => {
      const add = () => new HookManager().add(point as never, () => {});

      expect(add).toThrow(TracksideError);
      expect(add).toThrow(/is no lifecycle point; known: START, FINISHED, ERROR, /);
    },
  );

  test.each([undefined, null, "hook", {}, 5])("R11 %s is no hook", (hook) => {
    expect(() => new HookManager().add("START", hook as never)).toThrow(
      /^A hook on START is a function \(ctx\) => void/,
    );
  });
});

describe("R10 a hook that fails stops the dispatch and is named", () => {
  const cause = new Error("no luck");
  const unshowable = {
    toString() {
      throw new Error("cannot be shown");
    },
  };
  const fail = (what: unknown) => () => {
    throw what;
  };

  test.each([
    ["an Error", cause, "no luck"],
    ["a text", "no luck", "no luck"],
    ["null", null, "null"],
    ["nothing", undefined, "undefined"],
    ["a symbol", Symbol("no luck"), "Symbol(no luck)"],
    ["what cannot be shown", unshowable, "something that cannot be shown was thrown"],
    ["an object without a prototype", Object.create(null), "something that cannot be shown was thrown"],
  ])("R10 one that throws %s, at once or later", async (_what, thrown, message) => {
    for (const hook of [fail(thrown), async () => fail(thrown)()]) {
      let next = false;
      const manager = new HookManager().add("START", Object.defineProperty(hook, "name", { value: "guard" }));
      manager.add("START", () => {
        next = true;
      });
      const error = await manager.run("START", ctx).catch((caught: unknown) => caught);

      expect(error).toBeInstanceOf(HookError);
      expect(error).toMatchObject({ code: "hook_failed", point: "START", hook: "guard", cause: thrown });
      expect(String(error)).toBe(`HookError: The hook "guard" on START failed: ${message}`);
      expect(next).toBe(false);
    }
  });

  test.each([
    ["a value", () => 5],
    ["false", () => false],
    ["null", () => null],
    ["a promise of a value", async () => "skip"],
    ["a verdict", () => ({ action: "skip" })],
  ])("R11 one that returns %s is told to write a rail", async (_what, hook) => {
    const manager = new HookManager().add(
      "START",
      Object.defineProperty(hook as never, "name", { value: "guard" }),
    );

    await expect(manager.run("START", ctx)).rejects.toThrow(
      'The hook "guard" on START returned a value; a hook returns nothing. To skip, retry or abort, write a rail',
    );
  });

  test("R11 one that returns nothing, or a promise of nothing, goes on", async () => {
    const manager = new HookManager().add("START", () => undefined).add("START", async () => {});

    await expect(manager.run("START", ctx)).resolves.toBeUndefined();
  });
});
