import * as fc from "fast-check";
import { Agent, abort, alert, defineRail, type Json, localEngine, type Rail } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, failure, pause, play, tracked } from "./stage.ts";

/** Runs a batch of calls of one tool, `n` being the number of the call, and reads the state afterwards. */
async function batch(size: number, rails: readonly Rail[], make = localEngine) {
  const after: Record<string, Json | undefined> = {};
  const read = defineRail({ name: "read", on: ["FINISHED"], priority: 99 }, (ctx) => {
    for (const key of ["count", "list", "last"]) after[key] = ctx.state.get(key);
  });
  const { tool, ran } = tracked("t");
  const calls = Array.from({ length: size }, (_, n) => ({ tool: "t", args: { n } }));
  const agent = new Agent({
    name: "a",
    model: scriptedModel([{ calls }, "done"]),
    tools: [tool],
    rails: [...rails, read],
  });
  const played = await play(agent, { engine: make() });
  return { after, ran, ...played };
}

describe("R5 ctx.extra", () => {
  test("R5 is shared by the rails of a dispatch, and new for the next", async () => {
    const found: unknown[] = [];
    const write = defineRail({ name: "write", priority: 1 }, (ctx) => {
      found.push(ctx.extra["left"]);
      ctx.extra["left"] = ctx.event;
    });
    const read = defineRail({ name: "read", priority: 2 }, (ctx) => void found.push(ctx.extra["left"]));
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [write, read] }).run("Go");

    expect(found).toEqual(
      ["START", "PRE_LLM_CALL", "POST_LLM_CALL", "FINISHED"].flatMap((point) => [undefined, point]),
    );
  });

  test("R5 is new for every retry", async () => {
    const found: unknown[] = [];
    const again = defineRail({ name: "again", on: ["START"] }, (ctx) => {
      found.push({ ...ctx.extra });
      ctx.extra["seen"] = true;
      return ctx.attempt < 3 ? "retry" : undefined;
    });
    await failure(new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [again] }).run("Go"));

    expect(found).toEqual([{}, {}]);
  });

  test.each(ENGINES)("R5 is never shared by parallel calls, on the %s engine", async (_name, make) => {
    const owners = new Set<unknown>();
    const own = defineRail({ name: "own", on: ["PRE_TOOL_CALL"], priority: 1 }, async (ctx) => {
      ctx.extra["n"] = ctx.inputs.arguments["n"];
      await pause(1);
    });
    const check = defineRail({ name: "check", on: ["PRE_TOOL_CALL"], priority: 2 }, (ctx) => {
      expect(ctx.extra["n"]).toBe(ctx.inputs.arguments["n"]);
      owners.add(ctx.extra["n"]);
    });
    const { error } = await batch(8, [own, check], make);

    expect(error).toBeUndefined();
    expect(owners.size).toBe(8);
  });
});

describe("R5 ctx.state", () => {
  test.each(ENGINES)(
    "R5 lives for the whole run, across points and steps, on the %s engine",
    async (_name, make) => {
      const seen: unknown[] = [];
      const count = defineRail({ name: "count" }, (ctx) => {
        seen.push(ctx.state.get("n"));
        ctx.state.add("n", 1);
      });
      const { tool } = tracked("t");
      const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
      await new Agent({ name: "a", model, tools: [tool], rails: [count] }).run("Go", { engine: make() });

      expect(seen).toEqual([undefined, 1, 2, 3, 4, 5, 6, 7]);
    },
  );

  test("R5 is the run's own: the next run starts without", async () => {
    const seen: unknown[] = [];
    const count = defineRail({ name: "count", on: ["START"] }, (ctx) => {
      seen.push(ctx.state.get("n"));
      ctx.state.set("n", 1);
    });
    const agent = new Agent({ name: "a", model: scriptedModel(["hi"], { loop: true }), rails: [count] });
    const first = await agent.run("Go");
    await agent.run("Go", { conversation: first.conversation });

    expect(seen).toEqual([undefined, undefined]);
  });

  test("R5 a rail reads what it and the rails before it wrote in this dispatch", async () => {
    const one = defineRail({ name: "one", on: ["START"], priority: 1 }, (ctx) => {
      ctx.state.append("list", "a");
      expect(ctx.state.get("list")).toEqual(["a"]);
      ctx.state.append("list", "b");
    });
    const two = defineRail({ name: "two", on: ["START"], priority: 2 }, (ctx) => {
      expect(ctx.state.get("list")).toEqual(["a", "b"]);
      expect(ctx.state.get("toString")).toBeUndefined();
    });
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [one, two] }).run("Go");
  });

  test.each(ENGINES)(
    "R5 every operation of parallel calls lands, for any of them, on the %s engine",
    async (_name, make) => {
      const operation = fc.record({
        op: fc.constantFrom("add", "append"),
        value: fc.integer({ min: -5, max: 5 }),
      });
      const perCall = fc.array(fc.array(operation, { maxLength: 3 }), { minLength: 1, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(perCall, async (calls) => {
          const write = defineRail(
            { name: "write", on: ["PRE_TOOL_CALL", "POST_TOOL_CALL"] },
            async (ctx) => {
              for (const { op, value } of calls[Number(ctx.inputs.arguments["n"])] ?? []) {
                if (op === "add") ctx.state.add("count", value);
                else ctx.state.append("list", value);
                await null;
              }
            },
          );
          const { after } = await batch(calls.length, [write], make);

          const all = [...calls.flat(), ...calls.flat()]; // before and after the tool
          const added = all.filter(({ op }) => op === "add").map(({ value }) => value);
          const appended = all.filter(({ op }) => op === "append").map(({ value }) => value);
          expect(after["count"] ?? 0).toBe(added.reduce((sum, value) => sum + value, 0));
          expect(((after["list"] ?? []) as number[]).toSorted()).toEqual(appended.toSorted());
        }),
        { numRuns: 40 },
      );
    },
  );

  test.each(ENGINES)(
    "R5 a sibling's verdict drops nobody's operation, on the %s engine",
    async (_name, make) => {
      const write = defineRail({ name: "write", on: ["PRE_TOOL_CALL"], priority: 1 }, (ctx) => {
        ctx.state.append("list", ctx.inputs.arguments["n"] ?? null);
        ctx.inputs.arguments = { n: Number(ctx.inputs.arguments["n"]) + 100 };
      });
      const decide = defineRail({ name: "decide", on: ["PRE_TOOL_CALL"], priority: 2 }, async (ctx) => {
        const n = Number(ctx.inputs.arguments["n"]) - 100;
        await pause(n % 3);
        if (n % 3 === 0) return "skip";
        if (n % 3 === 1) return alert("odd one");
        if (n === 2 && ctx.attempt === 1) return "retry";
        return undefined;
      });
      const { after, ran, error } = await batch(9, [write, decide], make);

      expect(error).toBeUndefined();
      const twice = [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]; // the retried one was dispatched again
      expect((after["list"] as number[]).toSorted((a, b) => a - b)).toEqual(twice);
      expect(ran.toSorted()).toEqual([101, 102, 104, 105, 107, 108]);
    },
  );

  test("R5 what a rail writes before it fails is not written", async () => {
    const fail = defineRail({ name: "fail", on: ["PRE_TOOL_CALL"], onError: "continue" }, (ctx) => {
      ctx.state.add("count", 1);
      throw new Error("no luck");
    });
    const { after } = await batch(3, [fail]);

    expect(after["count"]).toBeUndefined();
  });

  test("R5 what is written is a copy, and what is read is frozen", async () => {
    const given = [1];
    const write = defineRail({ name: "write", on: ["START"] }, (ctx) => {
      ctx.state.set("list", given);
      given.push(2);
      ctx.state.append("more", { deep: [1] });
    });
    const read = defineRail({ name: "read", on: ["PRE_LLM_CALL"] }, (ctx) => {
      expect(ctx.state.get("list")).toEqual([1]);
      expect(() => (ctx.state.get("list") as number[]).push(3)).toThrow(TypeError);
      expect(() => (ctx.state.get("more") as unknown[]).push(3)).toThrow(TypeError);
    });
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [write, read] }).run("Go");
  });

  test.each([
    ["a function", () => 1],
    ["undefined", undefined],
    ["NaN", Number.NaN],
    ["a date", new Date(0)],
  ])("R5 %s is no state", async (_what, value) => {
    for (const op of ["set", "append", "add"] as const) {
      const write = defineRail({ name: "write", on: ["START"] }, (ctx) => ctx.state[op]("x", value as never));
      const error = await failure(
        new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [write] }).run("Go"),
      );
      expect(error.message).toMatch(/"write" aborted .*ctx\.state\.(set|append|add): a JSON value/);
    }
  });

  test("R5 more than 8 kB is refused, naming the rail and the sizes", async () => {
    const hoard = defineRail({ name: "hoard", on: ["START"] }, (ctx) =>
      ctx.state.set("all", "x".repeat(9000)),
    );
    const error = await failure(
      new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [hoard] }).run("Go"),
    );

    expect(error.message).toMatch(/"hoard" aborted .*would be 90\d\d bytes, at most 8192/);
  });
});

describe("R5 ctx.reserve", () => {
  test.each(ENGINES)(
    "R5 is atomic: of many parallel calls exactly as many are granted as there are, on the %s engine",
    async (_name, make) => {
      const limit = defineRail({ name: "limit", on: ["PRE_TOOL_CALL"] }, async ({ reserve }) => {
        await pause(1);
        const { granted, used, max } = await reserve("calls", 1, 3);
        expect(used).toBeLessThanOrEqual(max);
        return granted ? undefined : "skip";
      });
      const { ran } = await batch(10, [limit], make);

      expect(ran).toHaveLength(3);
    },
  );

  test("R5 takes nothing when it is not granted, and each rail has counters by name", async () => {
    const got: unknown[] = [];
    const take = defineRail({ name: "take", on: ["START"] }, async (ctx) => {
      got.push(await ctx.reserve("a", 3, 4), await ctx.reserve("a", 2, 4), await ctx.reserve("a", 1, 4));
      got.push(await ctx.reserve("b", 1, 1));
    });
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [take] }).run("Go");

    expect(got).toEqual([
      { granted: true, used: 3, max: 4 },
      { granted: false, used: 3, max: 4 },
      { granted: true, used: 4, max: 4 },
      { granted: true, used: 1, max: 1 },
    ]);
  });

  test("R5 an abort takes the run with it, not the counts of another run", async () => {
    const agent = new Agent({
      name: "a",
      model: scriptedModel(["hi"], { loop: true }),
      rails: [
        defineRail({ name: "once", on: ["START"] }, async (ctx) =>
          (await ctx.reserve("runs", 1, 1)).granted ? undefined : abort("one at most"),
        ),
      ],
    });
    await agent.run("Go");
    await agent.run("Go"); // counters belong to a run tree
  });
});
