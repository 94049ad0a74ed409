import {
  Agent,
  type Approval,
  abort,
  alert,
  ask,
  defineRail,
  type HookPoint,
  RailAction,
  type RailReturn,
  RailVerdict,
  RetryRequest,
  retry,
  skip,
  TracksideError,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, failure, outputs, play, tracked, verdicts } from "./stage.ts";

/** One call of a tool under these verdicts, in this order. */
function guarded(returns: readonly (() => RailReturn)[], on: HookPoint = "PRE_TOOL_CALL") {
  const { tool, ran } = tracked("t");
  const called: string[] = [];
  const rails = returns.map((answer, i) =>
    defineRail({ name: `r${i}`, priority: i, on: [on] }, () => {
      called.push(`r${i}`);
      return answer();
    }),
  );
  const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
  return { agent: new Agent({ name: "a", model, tools: [tool], rails }), ran, called, model };
}

describe("R6 what a rail may answer", () => {
  test.each([
    ["nothing", () => undefined],
    ["continue, as a string", () => "continue" as const],
    ["continue, by its name", () => RailAction.CONTINUE],
  ])("R6 %s lets it pass without a trace", async (_what, answer) => {
    const { agent, ran } = guarded([answer, answer]);
    const { events } = await play(agent);

    expect(ran).toHaveLength(1);
    expect(eventsOf(events, "rail")).toEqual([]);
  });

  test.each([
    ["skip", RailAction.SKIP],
    ["abort", RailAction.ABORT],
    ["retry", RailAction.RETRY],
  ])("R6 a bare %s is a verdict without a reason", async (action, bare) => {
    for (const answer of [bare, action as RailAction]) {
      const { agent, ran } = guarded([() => answer]);
      const { events } = await play(agent);
      expect(ran).toEqual([]);
      expect(eventsOf(events, "rail")[0]?.records[0]).toMatchObject({ action, reason: "" });
    }
  });

  test("R6 a RetryRequest is frozen, defaults to one retry at once, and refuses what makes no sense", () => {
    const request = new RetryRequest();

    expect({ ...request }).toEqual({ delay: 0, maxRetries: 1, reason: "" });
    expect(() => Object.assign(request, { delay: 5 })).toThrow(TypeError);
    expect(retry(request).retry).toBe(request);
    expect(retry({ delay: 0.5, maxRetries: 3, reason: "busy" })).toMatchObject({
      action: "retry",
      reason: "busy",
      retry: { delay: 0.5, maxRetries: 3, reason: "busy" },
    });
    for (const wrong of [{ delay: -1 }, { delay: Number.NaN }, { maxRetries: 1.5 }, { maxRetries: -1 }])
      expect(() => retry(wrong)).toThrow(TracksideError);
  });

  test("R6 verdicts are frozen", () => {
    for (const verdict of [skip("x"), retry(), abort("x"), ask("x"), alert("x")]) {
      expect(verdict).toBeInstanceOf(RailVerdict);
      expect(() => Object.assign(verdict, { action: "continue" })).toThrow(TypeError);
    }
  });

  test.each([
    ["skip", () => skip("first")],
    ["retry", () => retry({ reason: "first", maxRetries: 0 })],
    ["abort", () => abort("first")],
  ])("R6 after a %s no later rail of that dispatch runs", async (_action, answer) => {
    const { agent, called } = guarded([() => undefined, answer, () => abort("second"), () => undefined]);
    const { events } = await play(agent);

    expect(called).toEqual(["r0", "r1"]);
    expect(verdicts(events)).toHaveLength(1);
  });

  test("R6 an alert lets it pass and is told", async () => {
    const { agent, ran } = guarded([() => alert("looks odd"), () => undefined]);
    const { events } = await play(agent);

    expect(ran).toHaveLength(1);
    expect(eventsOf(events, "rail")[0]?.records).toMatchObject([
      { rail: "r0", action: "continue", alert: "looks odd" },
    ]);
  });

  test("R6 a verdict may carry an alert beside its reason", async () => {
    const { agent } = guarded([() => skip("no", { alert: "look at this" })]);
    const { events } = await play(agent);

    expect(eventsOf(events, "rail")[0]?.records).toMatchObject([
      { action: "skip", reason: "no", alert: "look at this" },
    ]);
  });
});

describe("R6 ask at PRE_TOOL_CALL", () => {
  const approving = (seen: Approval[]) => (approval: Approval) => {
    seen.push(approval);
    return { choice: "approve" };
  };

  test.each(ENGINES)(
    "R6 later rails still run, and all asks make one approval with every reason, on the %s engine",
    async (_name, make) => {
      const seen: Approval[] = [];
      const { agent, ran, called } = guarded([
        () => ask("big"),
        () => undefined,
        () => ask("at night"),
        () => alert("hm"),
      ]);
      await play(agent, { approve: approving(seen), engine: make() });

      expect(called).toEqual(["r0", "r1", "r2", "r3"]);
      expect(seen).toHaveLength(1);
      expect(seen[0]?.reasons).toEqual(["r0: big", "r2: at night"]);
      expect(ran).toHaveLength(1);
    },
  );

  test.each([
    ["skip", () => skip("no")],
    ["retry", () => retry({ maxRetries: 0 })],
    ["abort", () => abort("no")],
  ])("R6 a later %s wins: nobody is asked, nothing runs", async (_action, answer) => {
    const seen: Approval[] = [];
    const { agent, ran } = guarded([() => ask("big"), answer]);
    await play(agent, { approve: approving(seen) });

    expect(seen).toEqual([]);
    expect(ran).toEqual([]);
  });

  test.each(["START", "PRE_LLM_CALL", "POST_LLM_CALL", "POST_TOOL_CALL", "FINISHED"] as const)(
    "R6 at %s it is a wrong return",
    async (point) => {
      const { agent } = guarded([() => ask("may I?")], point);
      const error = await failure(agent.run("Go"));

      expect(error.message).toContain(`returned ask() at ${point}; only PRE_TOOL_CALL can be asked about`);
    },
  );
});

describe("R6 a replacement", () => {
  test("R6 is any JSON", async () => {
    for (const replacement of ["text", 5, null, false, { a: [1] }, []]) {
      const { agent } = guarded([() => skip("no", { replacement })]);
      const { result } = await play(agent);
      expect(outputs(result)).toEqual([replacement]);
    }
  });

  test.each([
    ["a function", () => 1],
    ["a date", new Date(0)],
    ["a cycle", cycle()],
    ["a bigint", 5n],
  ])("R6 %s is a wrong return", async (_what, replacement) => {
    const { agent, ran } = guarded([() => skip("no", { replacement: replacement as never })]);
    const error = await failure(agent.run("Go"));

    expect(error.message).toContain("returned a replacement that is no JSON value");
    expect(ran).toEqual([]);
  });
});

function cycle(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}
