import { Agent, defineTool, type HookPoint, localEngine, type RunError, type RunResult } from "trackside";
import { manualClock, type Script, scriptedModel } from "trackside/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collect } from "../support/collect.ts";
import { resultsOf } from "../support/run-calls.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(() => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const ping = defineTool({ name: "ping", execute: () => "pong" });
const crash = defineTool({ name: "crash", execute: () => Promise.reject(new Error("no luck")) });

/** For each point a script in which it fires. */
const FIRES: Partial<Record<HookPoint, Script>> = {
  START: ["Hello."],
  PRE_LLM_CALL: ["Hello."],
  POST_LLM_CALL: ["Hello."],
  PRE_TOOL_CALL: [{ calls: [{ tool: "ping" }] }, "done"],
  POST_TOOL_CALL: [{ calls: [{ tool: "ping" }] }, "done"],
  TOOL_ERROR: [{ calls: [{ tool: "crash" }] }, "done"],
  MODEL_ERROR: [{ error: new Error("out of order") }],
  FINISHED: ["Hello."],
  ERROR: [{ error: new Error("out of order") }],
};
const points = Object.entries(FIRES) as [HookPoint, Script][]; // the keys are those of the table

type Misbehaviour = () => unknown;
const misbehaviours: [string, Misbehaviour, string][] = [
  ["throws", () => fail("closed today"), "failed: closed today"],
  ["rejects", () => Promise.reject(new Error("closed today")), "failed: closed today"],
  [
    "returns a value",
    () => "skip",
    "returned a value; a hook returns nothing. To skip, retry or abort, write a rail",
  ],
  ["hangs", () => new Promise(() => {}), "timed out after 30 s"],
];

function fail(message: string): never {
  throw new Error(message);
}

/** Runs an agent whose hook on this point misbehaves, and lets as much time pass as it takes. */
async function runWith(
  point: HookPoint,
  script: Script,
  misbehave: Misbehaviour,
  later: () => void = () => {},
) {
  const clock = manualClock();
  const agent = new Agent({ name: "clerk", model: scriptedModel(script), tools: [ping, crash] });
  const fired: string[] = [];
  for (const end of ["FINISHED", "ERROR"] as const) agent.hookManager.add(end, () => void fired.push(end));
  agent.hookManager.add(point, function guard() {
    return misbehave() as undefined; // what a caller without types could return
  });
  agent.hookManager.add(point, later);
  const stream = agent.stream("Go", { engine: localEngine({ clock, retry: { retries: 0 } }) });
  const reading = collect(stream);
  const error: RunError<RunResult<string>> = await clock.finish(
    stream.result.then(
      () => fail("the run went on"),
      (thrown) => thrown,
    ),
  );
  return { error, events: await reading, fired };
}

const table = points.flatMap(([point, script]) =>
  misbehaviours.map(([how, misbehave, problem]) => [point, how, script, misbehave, problem] as const),
);

describe("R10 a hook that fails fails the run, naming its point and itself", () => {
  test.each(table)("R10 a hook on %s that %s", async (point, _how, script, misbehave, problem) => {
    let later = false;
    const { error, events, fired } = await runWith(point, script, misbehave, () => {
      later = true;
    });

    expect(error.code).toBe("hook_failed");
    expect(error.message).toBe(`The hook "guard" on ${point} ${problem}`);
    expect(error.failure.details).toEqual({ point, hook: "guard" });
    expect(later).toBe(false);

    const terminal = events.filter((event) => event.type === "status" && event.status !== "starting");
    expect(terminal).toMatchObject([{ status: "error", failure: { code: "hook_failed" } }]);
    expect(events.at(-1)).toBe(terminal[0]);
    expect(fired).toEqual([point === "FINISHED" ? "FINISHED" : "ERROR"]);
  });

  test("R10 the answer that was logged stays when FINISHED fails", async () => {
    const { error } = await runWith("FINISHED", ["Hello."], () => fail("closed today"));

    expect(error.result.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("R10 nothing is logged when START fails, and no model is asked", async () => {
    const { error, events } = await runWith("START", ["Hello."], () => fail("closed today"));

    expect(error.result.messages).toEqual([]);
    expect(events.some(({ type }) => type === "step")).toBe(false);
  });

  test("R10 each hook has its own 30 s, and one that is done in time is no failure", async () => {
    const clock = manualClock();
    const agent = new Agent({ name: "clerk", model: scriptedModel(["Hello."]) });
    for (let i = 0; i < 3; i++)
      agent.hookManager.add("START", () => new Promise<void>((resolve) => void clock.after(25_000, resolve)));
    const running = agent.run("Go", { engine: localEngine({ clock }) });

    expect((await clock.finish(running)).output).toBe("Hello.");
  });

  test("R10 a hook that was given up may still end as it likes", async () => {
    const clock = manualClock();
    let reject: (why: Error) => void = () => {};
    const agent = new Agent({ name: "clerk", model: scriptedModel(["Hello."]) });
    agent.hookManager.add("START", function guard() {
      return new Promise<void>((_, no) => {
        reject = no;
      });
    });
    const running = agent.run("Go", { engine: localEngine({ clock }) });
    await expect(clock.finish(running)).rejects.toThrow("timed out after 30 s");
    reject(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe("R10 in a batch of calls", () => {
  const never = defineTool({ name: "never", execute: () => new Promise<string>(() => {}) });
  const queued = defineTool({ name: "queued", exclusive: true, execute: () => "ran" });
  const batch = { calls: [{ tool: "never" }, { tool: "ping" }, { tool: "ping" }, { tool: "queued" }] };

  test.each(["PRE_TOOL_CALL", "POST_TOOL_CALL"] as const)(
    "R10 a hook on %s that fails stops the siblings and leaves every call with a result",
    async (point) => {
      const agent = new Agent({ name: "clerk", model: scriptedModel([batch]), tools: [never, ping, queued] });
      let calls = 0;
      agent.hookManager.add(point, function guard({ inputs }) {
        if (inputs.toolName === "ping" && ++calls === 2) fail("closed today");
      });
      const stream = agent.stream("Go");
      const reading = collect(stream);
      const error: RunError<RunResult<string>> = await stream.result.then(
        () => fail("the run went on"),
        (thrown) => thrown,
      );
      const results = resultsOf(error.result);
      const events = await reading;

      expect(error).toMatchObject({ code: "hook_failed", failure: { details: { point, hook: "guard" } } });
      expect(results.map(({ tool }) => tool)).toEqual(["never", "ping", "ping", "queued"]);
      expect(codeOf(results[0])).toBe("cancelled_unknown");
      expect(codeOf(results[1])).toBe(null);
      expect(codeOf(results[2])).toBe(point === "PRE_TOOL_CALL" ? "cancelled" : "cancelled_unknown");
      expect(codeOf(results[3])).toBe("cancelled");
      expect(events.filter(({ type }) => type === "tool_result")).toHaveLength(4);
      expect(events.filter((event) => event.type === "status").map(({ status }) => status)).toEqual([
        "starting",
        "error",
      ]);
    },
  );

  test("R10 the conversation can go on afterwards: no call in it is without a result", async () => {
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel([batch, "Hello."]),
      tools: [never, ping, queued],
    });
    const guard = () => fail("closed today");
    agent.hookManager.add("PRE_TOOL_CALL", guard);
    const error: RunError<RunResult<string>> = await agent.run("Go").then(
      () => fail("the run went on"),
      (thrown) => thrown,
    );
    agent.hookManager.remove("PRE_TOOL_CALL", guard);
    const { conversation } = error.result;

    expect((await agent.run("Again", { conversation })).output).toBe("Hello.");
    expect(conversation.messages.filter(({ role }) => role === "tool")).toHaveLength(4);
  });
});

function codeOf(result: ReturnType<typeof resultsOf>[number] | undefined): string | null {
  return result?.output.type === "error" ? result.output.failure.code : null;
}
