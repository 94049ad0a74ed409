import {
  Agent,
  AgentConfigError,
  abort,
  defineRail,
  HOOK_POINTS,
  Rail,
  type RailContext,
  RailManager,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";

class Noting extends Rail {
  readonly #notes: string[];

  constructor(name: string, notes: string[], options: ConstructorParameters<typeof Rail>[1] = {}) {
    super(name, options);
    this.#notes = notes;
  }

  override handle(ctx: RailContext) {
    this.#notes.push(`${this.name}@${ctx.event}`);
  }
}

const START = { inputs: { input: "hi", messages: [], steered: false } };

describe("R1 a rail", () => {
  test("R1 has priority 50 and guards every point unless it says otherwise", () => {
    const rail = new Noting("r", []);

    expect(rail).toMatchObject({
      name: "r",
      priority: 50,
      mode: "enforce",
      onError: "abort",
      timeoutMs: 30_000,
    });
    expect(rail.on).toEqual(HOOK_POINTS);
  });

  test("R1 runs in order of priority, the lowest first; ties keep the order they were added in", async () => {
    const notes: string[] = [];
    const manager = new RailManager();
    const added: [string, number][] = [
      ["late", 90],
      ["b", 50],
      ["guard", 10],
      ["c", 50],
      ["a", 50],
      ["first", -1],
    ];
    for (const [name, priority] of added) manager.add(new Noting(name, notes, { priority }));

    await manager.run("START", START);
    expect(notes).toEqual(["first", "guard", "b", "c", "a", "late"].map((name) => `${name}@START`));
  });

  test("R1 runs on its own points only", async () => {
    const notes: string[] = [];
    const rails = [new Noting("r", notes, { on: ["START", "FINISHED"] })];
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails }).run("Go");

    expect(notes).toEqual(["r@START", "r@FINISHED"]);
  });

  test("R1 made with defineRail is the same as one made with a class", async () => {
    const notes: string[] = [];
    const defined = defineRail(
      { name: "d", on: ["START"], priority: 7 },
      (ctx) => void notes.push(ctx.event),
    );
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [defined] }).run("Go");

    expect(defined).toBeInstanceOf(Rail);
    expect(defined.priority).toBe(7);
    expect(notes).toEqual(["START"]);
  });

  test("R1 names are unique in a manager and in an agent", () => {
    const twice = () => [defineRail({ name: "r" }, () => {}), defineRail({ name: "r" }, () => abort())];
    const [first, second] = twice() as [Rail, Rail]; // two were made

    expect(() => new RailManager().add(first).add(second)).toThrow('There is a rail "r" already');
    expect(() => new Agent({ name: "a", model: scriptedModel([]), rails: twice() })).toThrow(
      /rails\[1\].*each name once/,
    );
  });

  test.each([
    ["name", { name: "" }],
    ["name", { name: "a/b" }],
    ["name", { name: "two\nlines" }],
    ["priority", { name: "r", priority: "high" }],
    ["priority", { name: "r", priority: 1.5 }],
    ["on", { name: "r", on: [] }],
    ["on", { name: "r", on: ["BEFORE"] }],
    ["on", { name: "r", on: "START" }],
    ["mode", { name: "r", mode: "off" }],
    ["onError", { name: "r", onError: "ignore" }],
    ["timeoutMs", { name: "r", timeoutMs: 0 }],
    ["asks", { name: "r", asks: "yes" }],
    ["prioritty", { name: "r", prioritty: 5 }],
  ])("R1 a wrong %s is refused, with what is allowed", (path, config) => {
    const make = () => defineRail(config as never, () => {});

    expect(make).toThrow(AgentConfigError);
    expect(make).toThrow(path);
  });

  test("R1 every problem of a rail is told at once", () => {
    const make = () => defineRail({ name: "", priority: Number.NaN, timeoutMs: -1 }, () => {});

    expect(make).toThrow(/3 problems/);
  });

  test("R1 something that is no rail is refused, by a manager and by an agent", () => {
    const noRail = { name: "r", handle: () => "abort" };

    expect(() => new RailManager().add(noRail as never)).toThrow(
      "A rail extends Rail, or is made with defineRail",
    );
    expect(() => new Agent({ name: "a", model: scriptedModel([]), rails: [noRail as never] })).toThrow(
      /rails\[0\]/,
    );
  });
});
