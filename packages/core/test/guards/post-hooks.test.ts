import {
  Agent,
  cont,
  defineTool,
  halt,
  localEngine,
  postHook,
  preHook,
  regenerate,
  type Task,
  type Turn,
} from "trackside";
import { manualClock, type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, failure, pause, play, seen, shown } from "./stage.ts";

type PostHook = ReturnType<typeof postHook>;

function agentOf(script: readonly ScriptedStep[], post: readonly PostHook[], more: object = {}) {
  const model = scriptedModel(script);
  return { agent: new Agent({ name: "a", model, hooks: { post }, ...more }), model };
}

const strict = (bad: (answer: string) => boolean, feedback = "Do not say that.") =>
  postHook({ name: "strict" }, (turn) => (bad(turn.answer ?? "") ? regenerate(feedback) : cont(turn)));

describe.each(ENGINES)("H7 post-hooks, on the %s engine", (_name, make) => {
  test("H7 see the turn ending with its answer, once there is a final one", async () => {
    const answers: unknown[] = [];
    const tool = defineTool({ name: "t", execute: () => "ok" });
    const look = postHook({ name: "look" }, (turn) => {
      answers.push([turn.answer, turn.text, turn.context.map(({ role }) => role)]);
      return cont(turn);
    });
    const { agent } = agentOf([{ text: "hm", calls: [{ tool: "t" }] }, "done"], [look], { tools: [tool] });
    await agent.run("Go", { engine: make() });

    expect(answers).toEqual([["done", "Go", ["user", "assistant", "tool"]]]);
  });

  test("H7 regenerate retracts the draft; the next request carries draft and feedback, the log does not", async () => {
    let pre = 0;
    const { agent, model } = agentOf(
      ["BAD words", "good words"],
      [strict((answer) => answer.includes("BAD"))],
      {},
    );
    const withPre = new Agent({
      name: "a",
      model,
      hooks: {
        pre: [
          preHook({ name: "count" }, (turn) => {
            pre += 1;
            return cont(turn);
          }),
        ],
        post: agent.pipeline.post,
      },
    });
    const { result, events, stream } = await play(withPre, { engine: make() });

    expect(result).toMatchObject({ output: "good words", steps: 2, stopReason: "answered" });
    expect(pre).toBe(1);
    const [, second] = model.requests;
    expect(second?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(second?.prompt)).toContain("BAD words");
    expect(JSON.stringify(second?.prompt)).toContain("Do not say that.");
    expect(JSON.stringify(result.messages)).not.toMatch(/BAD|Do not say/);
    expect(eventsOf(events, "message_retracted")).toMatchObject([
      { message_id: `${stream.runId}.main.1.m1`, attempt: 1, reason: "strict: Do not say that." },
    ]);
    expect(eventsOf(events, "text").map(({ text }) => text)).toEqual(["good words"]);
    expect(new Set(events.flatMap((event) => ("turn_ref" in event ? [event.turn_ref] : []))).size).toBe(1);
  });

  test.each([0, 1, 2, 4])(
    "H7 at most max_regenerations (%i) in all, then halted, and nothing of it stands",
    async (max) => {
      const script = Array.from({ length: max + 3 }, (_, i) => `BAD ${i}`);
      const { agent, model } = agentOf(script, [strict(() => true)], { maxRegenerations: max });
      const { result, events } = await play(agent, { engine: make() });

      expect(model.requests).toHaveLength(max + 1);
      expect(result).toMatchObject({ stopReason: "halted", output: "", steps: max + 1 });
      expect(result.reason).toBe("strict: no regeneration is left: Do not say that.");
      expect(eventsOf(events, "message_retracted")).toHaveLength(max + 1);
      expect(eventsOf(events, "text")).toEqual([]);
      expect(result.messages.map(({ role }) => role)).toEqual(["user"]);
    },
  );

  test("H7 the bound is over all hooks together, and the step limit counts too", async () => {
    // One sends odd answers back, the other even ones.
    const takingTurns = [1, 0].map((odd) =>
      postHook({ name: odd ? "odd" : "even" }, (turn) =>
        Number(turn.answer) % 2 === odd ? regenerate("again") : cont(turn),
      ),
    );
    const { agent, model } = agentOf(
      Array.from({ length: 9 }, (_, i) => String(i)),
      takingTurns,
      { maxRegenerations: 3 },
    );
    expect((await play(agent, { engine: make() })).result.stopReason).toBe("halted");
    expect(model.requests).toHaveLength(4);

    const short = agentOf(["BAD", "BAD", "BAD"], [strict(() => true)], { maxRegenerations: 9, maxSteps: 2 });
    expect((await play(short.agent, { engine: make() })).result.stopReason).toBe("halted");
    expect(short.model.requests).toHaveLength(2);
  });

  test("H7 tool steps stay when the answer after them is sent back", async () => {
    let ran = 0;
    const tool = defineTool({ name: "t", execute: () => ++ran });
    const { agent, model } = agentOf(
      [{ calls: [{ tool: "t" }] }, "BAD", "good"],
      [strict((a) => a === "BAD")],
      { tools: [tool] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(ran).toBe(1);
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(model.requests[2]?.prompt.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });

  test("H7 halt, and a throw, retract the answer and end the turn without output", async () => {
    for (const [answer, reason] of [
      [() => halt("not today"), "gate: not today"],
      [() => Promise.reject(new Error("no luck")), "gate: no luck"],
    ] as const) {
      const { agent } = agentOf(["SECRET"], [postHook({ name: "gate" }, answer)]);
      const { result, events } = await play(agent, { engine: make() });

      expect(result).toMatchObject({ stopReason: "halted", output: "", reason });
      expect(eventsOf(events, "message_retracted")).toHaveLength(1);
      expect(eventsOf(events, "text")).toEqual([]);
      expect(JSON.stringify(result.messages)).not.toContain("SECRET");
    }
  });

  test("E2 the answer's text is committed once post-hooks pass, and not before", async () => {
    const order: string[] = [];
    const slow = postHook({ name: "slow" }, async (turn) => {
      await pause(2);
      order.push("passed");
      return cont(turn);
    });
    const { agent } = agentOf(["the answer"], [slow]);
    await make().start(agent, "Go", {}, (event) => {
      if (event.type === "text") order.push("text");
    }).result;

    expect(order).toEqual(["passed", "text"]);
  });

  test("H7 what a post-hook appends is logged after the answer, marked with its name", async () => {
    const { agent, model } = agentOf(
      ["one", "two"],
      [postHook({ name: "note" }, (turn) => cont(turn.append("remember this")))],
    );
    const { result, events } = await play(agent, { engine: make() });
    await agent.run("Next", { engine: make(), conversation: result.conversation });

    expect(result.output).toBe("one");
    expect(result.messages.map((message) => ("by_hook" in message ? message.by_hook : message.role))).toEqual(
      ["user", "assistant", "note"],
    );
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("remember this");
    expect(eventsOf(events, "message_injected")).toMatchObject([{ source: "note", durable: true }]);
  });

  test("H7 deferred work runs after the terminal status, with its input, and never delays the run", async () => {
    const order: string[] = [];
    let release = () => {};
    const task: Task = {
      name: "summarise",
      run: async (input) => {
        order.push(`task ${input}`);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    };
    const later = postHook({ name: "later" }, (turn, { defer }) => {
      defer(task, turn.answer);
      return cont(turn);
    });
    const { agent } = agentOf(["the answer"], [later]);
    const { result } = make().start(agent, "Go", {}, (event) => {
      if (event.type === "status") order.push(event.status);
    });
    await result;
    await pause(5);

    expect(order).toEqual(["starting", "completed", "task the answer"]);
    release();
  });

  test("H7 failures of deferred work never surface", async () => {
    const told: unknown[] = [];
    const boom: Task = {
      name: "boom",
      run: () => {
        throw new Error("no luck");
      },
    };
    const later = postHook({ name: "later" }, (turn, ctx) => {
      ctx.defer(boom);
      ctx.defer({ name: "async boom", run: () => Promise.reject(new Error("nor here")) });
      return cont(turn);
    });
    for (const onDeferredError of [
      (error: unknown, task: string) => void told.push(task, String(error)),
      () => {
        throw new Error("the listener fails too");
      },
    ]) {
      const { agent } = agentOf(["fine"], [later]);
      const { events, result } = await play(agent, { engine: make({ onDeferredError }) });
      await pause(5);
      expect(result.output).toBe("fine");
      expect(eventsOf(events, "error")).toEqual([]);
    }
    expect(told).toEqual(["boom", "Error: no luck", "async boom", "Error: nor here"]);
  });

  test("H7 work deferred for an answer that did not stand is not done", async () => {
    const done: unknown[] = [];
    const task: Task = { name: "t", run: (input) => void done.push(input) };
    const later = postHook({ name: "later" }, (turn, { defer }) => {
      defer(task, turn.answer);
      return cont(turn);
    });
    const { agent } = agentOf(["BAD", "good"], [later, strict((answer) => answer === "BAD")]);
    await play(agent, { engine: make() });
    await pause(5);

    expect(done).toEqual(["good"]);
  });
});

describe("H7 what a post-hook may not do", () => {
  test.each([
    [
      "nothing",
      () => undefined,
      'The hook "odd" returned undefined; return cont(turn), halt(reason) or, after an answer, regenerate(feedback)',
    ],
    ["the answer", (turn: Turn) => turn.answer, 'The hook "odd" returned string'],
    [
      "another user's message",
      (turn: Turn) => cont(turn.withUserMessage("x")),
      "a turn with another history or user message",
    ],
    ["content that is none", (turn: Turn) => cont(turn.append(5 as never)), "something that is no content"],
    ["cont without a turn", () => cont(undefined as never), "cont() without a turn"],
  ])("H7 return %s", async (_what, answer, says) => {
    const { agent } = agentOf(["hi"], [postHook({ name: "odd" }, answer as () => never)]);
    const error = await failure(agent.run("Go"));

    expect(error.code).toBe("hook_failed");
    expect(error.message).toContain(says);
  });

  test("H7 defer something that is no task", async () => {
    const { agent } = agentOf(
      ["hi"],
      [
        postHook({ name: "odd" }, (turn, { defer }) => {
          defer(undefined as never);
          return cont(turn);
        }),
      ],
    );
    const { result } = await play(agent);

    expect(result).toMatchObject({
      stopReason: "halted",
      reason: "odd: defer(task, input) takes a task { name, run }",
    });
  });

  test("H7 hang: it is timed out, which halts", async () => {
    const clock = manualClock();
    const { agent } = agentOf(
      ["hi"],
      [postHook({ name: "stuck", timeoutMs: 200 }, () => new Promise<never>(() => {}))],
    );
    const { result } = await clock.finish(play(agent, { engine: localEngine({ clock }) }));

    expect(result).toMatchObject({ stopReason: "halted", reason: "stuck: timed out after 200 ms" });
  });
});

describe("H7 with text that was streamed live", () => {
  test("H7 a draft that was shown is retracted, and the next answer is a message of its own", async () => {
    const { agent } = agentOf(["BAD words", "good words"], [strict((answer) => answer.includes("BAD"))]);
    const { events } = await play(agent);
    const ids = events.flatMap((event) => (event.type === "text_delta" ? [event.message_id] : []));

    expect(shown(events)).toBe("BAD wordsgood words");
    expect(new Set(ids).size).toBe(2);
    expect(eventsOf(events, "message_retracted")[0]?.message_id).toBe(ids[0]);
    expect(seen(eventsOf(events, "text"))).not.toContain("BAD");
  });
});
