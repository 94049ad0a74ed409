import { HOOK_POINTS, HookError, HookManager, TracksideError } from "trackside";
import { describe, expect, test } from "vitest";

/** Hooks of these tests look at nothing but that they are called. */
const ctx = { inputs: {} } as never;

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

  test("R11 each hook is given the event and the inputs of the dispatch", async () => {
    const given: unknown[] = [];
    const manager = new HookManager().add(
      "START",
      ({ event, inputs }) => void given.push(event, inputs.input),
    );

    await manager.run("START", { inputs: { input: "hi", messages: [], steered: false } });
    expect(given).toEqual(["START", "hi"]);
  });

  test("R11 hooks of other points do not run, and a point without hooks costs nothing", async () => {
    const seen: string[] = [];
    const manager = new HookManager().add("ERROR", () => void seen.push("error"));

    await manager.run("START", ctx);
    expect(seen).toEqual([]);
    expect(manager.entries("START")).toEqual([]);
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
    expect(manager.on("START")).toEqual([]);
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
});

describe("R11 what may be registered", () => {
  test.each(HOOK_POINTS)("R11 a hook on %s", (point) => {
    expect(new HookManager().add(point, () => {}).on(point)).toHaveLength(1);
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
