import * as fc from "fast-check";
import {
  Agent,
  abort,
  alert,
  defineRail,
  RailAbortError,
  RailManager,
  type RailVerdict,
  retry,
  skip,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, play, tracked, verdicts } from "./stage.ts";

type Action = "nothing" | "continue" | "alert" | "skip" | "retry" | "abort";
interface Planned {
  readonly priority: number;
  readonly action: Action;
}

const planned: fc.Arbitrary<Planned> = fc.record({
  // Few priorities, so that there are ties.
  priority: fc.integer({ min: 1, max: 4 }),
  action: fc.constantFrom<Action[]>("nothing", "nothing", "continue", "alert", "skip", "retry", "abort"),
});
const sets = fc.array(planned, { maxLength: 9 });

/** The rule, written down once more: by priority, ties as they came, up to the first that does not let it pass. */
function expected(set: readonly Planned[]) {
  const order = set
    .map((rail, i) => ({ ...rail, name: `r${i}`, i }))
    .toSorted((a, b) => a.priority - b.priority || a.i - b.i);
  const at = order.findIndex(({ action }) => ["skip", "retry", "abort"].includes(action));
  return { ran: (at < 0 ? order : order.slice(0, at + 1)).map(({ name }) => name), decided: order[at] };
}

function verdictOf(action: Action, name: string): RailVerdict | "continue" | undefined {
  switch (action) {
    case "nothing":
      return undefined;
    case "continue":
      return "continue";
    case "alert":
      return alert(`${name} noticed`);
    case "skip":
      return skip(name, { replacement: name });
    case "retry":
      return retry({ reason: name, maxRetries: 0 });
    case "abort":
      return abort(name);
  }
}

function railsOf(
  set: readonly Planned[],
  ran: string[],
  on: readonly ["PRE_TOOL_CALL"] | readonly ["START"],
) {
  return set.map(({ priority, action }, i) =>
    defineRail({ name: `r${i}`, priority, on }, async () => {
      ran.push(`r${i}`);
      if (i % 2 === 0) await null; // some answer at once, some later
      return verdictOf(action, `r${i}`);
    }),
  );
}

describe("R6 the first verdict other than continue wins, in priority order, ties stable", () => {
  test("R6 for any set of rails, in a manager", async () => {
    await fc.assert(
      fc.asyncProperty(sets, async (set) => {
        const ran: string[] = [];
        const manager = new RailManager();
        for (const rail of railsOf(set, ran, ["START"])) manager.add(rail);
        const data = { inputs: { input: "hi", messages: [], steered: false } };
        const verdict = await manager.run("START", data).catch((error: unknown) => error);

        const { ran: should, decided } = expected(set);
        expect(ran).toEqual(should);
        if (decided?.action === "abort")
          expect(verdict).toMatchObject({ railName: decided.name, reason: decided.name });
        else if (decided) expect(verdict).toMatchObject({ action: decided.action, reason: decided.name });
        else expect(verdict).toMatchObject({ action: "continue" });
      }),
      { numRuns: 300 },
    );
  });

  test.each(ENGINES)(
    "R6 for any set of rails, before a tool of a run, on the %s engine",
    async (_name, make) => {
      await fc.assert(
        fc.asyncProperty(sets, async (set) => {
          const ran: string[] = [];
          const { tool, ran: executed } = tracked("t");
          const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
          const agent = new Agent({
            name: "a",
            model,
            tools: [tool],
            rails: railsOf(set, ran, ["PRE_TOOL_CALL"]),
          });
          const { events, error } = await play(agent, { engine: make() });

          const { ran: should, decided } = expected(set);
          expect(ran).toEqual(should);
          expect(executed).toHaveLength(decided === undefined ? 1 : 0);
          expect(error === undefined).toBe(decided === undefined || decided.action === "skip");
          if (error) expect(error).toMatchObject({ railName: decided?.name, point: "PRE_TOOL_CALL" });
          const spoke = set
            .map((rail, i) => ({ ...rail, name: `r${i}` }))
            .filter(({ name, action }) => should.includes(name) && !["nothing", "continue"].includes(action));
          expect(verdicts(events)).toHaveLength(spoke.length);
        }),
        { numRuns: 60 },
      );
    },
  );

  test("R11 for any order of managers and plain hooks: rails stand where their manager does, all in one dispatch", async () => {
    // What is added to an agent by hand: a plain hook, or a manager with these rails.
    const entries = fc.array(
      fc.oneof(fc.constant("hook" as const), fc.array(planned, { minLength: 1, maxLength: 3 })),
      {
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(entries, async (list) => {
        const ran: string[] = [];
        const should: string[] = [];
        let decided: Action | undefined;
        const agent = new Agent({ name: "a", model: scriptedModel(["hi"]) });
        for (const [i, entry] of list.entries()) {
          if (entry === "hook") {
            agent.hookManager.add("START", () => void ran.push(`hook${i}`));
            if (decided !== "abort") should.push(`hook${i}`);
            continue;
          }
          const own: string[] = [];
          const manager = new RailManager();
          for (const [j, { priority, action }] of entry.entries()) {
            manager.add(
              defineRail({ name: `${i}.r${j}`, priority, on: ["START"] }, () => {
                ran.push(`${i}.r${j}`);
                return verdictOf(action, `${i}.r${j}`);
              }),
            );
          }
          agent.hookManager.add("START", manager.hookFor("START"));
          if (decided === undefined) {
            const rule = expected(entry);
            own.push(...rule.ran.map((name) => `${i}.${name}`));
            decided = rule.decided?.action;
          }
          should.push(...own);
        }
        await agent.run("Go").catch((error: unknown) => expect(error).toBeInstanceOf(RailAbortError));
        expect(ran).toEqual(should);
      }),
      { numRuns: 200 },
    );
  });
});
