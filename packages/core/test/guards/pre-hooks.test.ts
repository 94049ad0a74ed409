import {
  Agent,
  cont,
  defineTool,
  halt,
  localEngine,
  memberHook,
  parallel,
  preHook,
  type Turn,
} from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { injected, lines } from "./injected.ts";
import { ENGINES, eventsOf, failure, pause, play } from "./stage.ts";

describe.each(ENGINES)("H2 pre-hooks, on the %s engine", (_name, make) => {
  test("H2 run once per turn, in declared order, each given what the one before left", async () => {
    const ran: string[] = [];
    const shout = preHook({ name: "shout" }, (turn) => {
      ran.push(`shout ${turn.text}`);
      return cont(turn.withUserMessage(turn.text.toUpperCase()));
    });
    const count = preHook({ name: "count" }, (turn) => {
      ran.push(`count ${turn.text}`);
      return cont(turn.append(`${turn.text.length} letters`));
    });
    const tool = defineTool({ name: "t", execute: () => "ok" });
    const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [tool], hooks: { pre: [shout, count] } });
    await agent.run("hello", { engine: make() });

    expect(ran).toEqual(["shout hello", "count HELLO"]);
    for (const request of model.requests)
      expect(lines(request).slice(0, 2)).toEqual(["user: HELLO", "user: 5 letters"]);
  });

  test("H2 a replaced message is what the log and later turns show", async () => {
    const { agent, model } = injected(
      [preHook({ name: "redact" }, (turn) => cont(turn.withUserMessage("[redacted]")))],
      ["one", "two"],
    );
    const first = await agent.run("SECRET", { engine: make() });
    await agent.run("SECRET too", { engine: make(), conversation: first.conversation });

    expect(JSON.stringify([model.requests, first.conversation])).not.toContain("SECRET");
    expect(lines(model.requests[1])).toEqual([
      "system: Be kind.",
      "user: [redacted]",
      "assistant: one",
      "user: [redacted]",
    ]);
  });

  test("H2 a group runs at once and is merged in declared order, whatever finishes first", async () => {
    const order: string[] = [];
    const member = (name: string, ms: number) =>
      memberHook({ name }, async () => {
        order.push(`${name}+`);
        await pause(ms);
        order.push(`${name}-`);
        return name;
      });
    const { agent, model } = injected([
      preHook({ name: "before" }, (turn) => cont(turn.append("before"))),
      parallel(member("slow", 20), member("quick", 1), member("middle", 10)),
      preHook({ name: "after" }, (turn) => cont(turn.append("after"))),
    ]);
    await agent.run("Go", { engine: make() });

    expect(order).toEqual(["slow+", "quick+", "middle+", "quick-", "middle-", "slow-"]);
    expect(lines(model.requests[0])).toEqual([
      "system: Be kind.",
      ...["Go", "before", "slow", "quick", "middle", "after"].map((text) => `user: ${text}`),
    ]);
  });

  test("H2 members give content and nothing else", async () => {
    const turns: Turn[] = [];
    const ok = await (async () => {
      const { agent, model } = injected([
        parallel(
          memberHook({ name: "text" }, () => "text"),
          memberHook({ name: "parts" }, () => [{ type: "text", text: "part" }, "more"]),
          memberHook({ name: "nothing" }, (turn) => {
            turns.push(turn);
            return undefined;
          }),
          memberHook({ name: "file" }, () => ({
            type: "file",
            media_type: "image/png",
            source: { kind: "base64", data: "AAAA" },
          })),
        ),
      ]);
      await agent.run("Go", { engine: make() });
      return lines(model.requests[0]);
    })();
    expect(ok).toEqual(["system: Be kind.", "user: Go", "user: text", "user: part|more", "user: file"]);

    for (const answer of [(turn: Turn) => cont(turn), () => halt("no"), () => 5, () => [null]]) {
      const { agent } = injected([parallel(memberHook({ name: "odd" }, answer as () => never))]);
      const error = await failure(agent.run("Go", { engine: make() }));
      expect(error.message).toContain(
        'The hook "odd" returned something that is no content; return text, parts or nothing',
      );
    }
  });
});

describe.each(ENGINES)("H3 a hook that does not go on, on the %s engine", (_name, make) => {
  test("H3 a halt completes the turn as halted, with the reason and no output; later hooks and the model do not run", async () => {
    const ran: string[] = [];
    const { agent, model } = injected([
      preHook({ name: "gate" }, () => halt("closed on Sundays")),
      preHook({ name: "late" }, (turn) => {
        ran.push("late");
        return cont(turn);
      }),
    ]);
    const { result, events } = await play(agent, { engine: make() });

    expect(result).toMatchObject({ stopReason: "halted", output: "", reason: "gate: closed on Sundays" });
    expect(eventsOf(events, "status").at(-1)).toMatchObject({
      status: "completed",
      stop_reason: "halted",
      reason: "gate: closed on Sundays",
    });
    expect(model.requests).toEqual([]);
    expect(ran).toEqual([]);
  });

  test("H3 an ordered hook that throws or hangs halts the turn", async () => {
    const clock = manualClock();
    for (const [answer, reason] of [
      [() => Promise.reject(new Error("no luck")), "gate: no luck"],
      [() => new Promise<never>(() => {}), "gate: timed out after 30000 ms"],
    ] as const) {
      const { agent, model } = injected([preHook({ name: "gate" }, answer)]);
      const { result } = await clock.finish(play(agent, { engine: make({ clock }) }));
      expect(result).toMatchObject({ stopReason: "halted", reason });
      expect(model.requests).toEqual([]);
    }
  });

  test("H3 a member that throws or hangs is left out with an event; the others stay", async () => {
    const clock = manualClock();
    const { agent, model } = injected([
      parallel(
        memberHook({ name: "a" }, () => "a"),
        memberHook({ name: "broken" }, () => Promise.reject(new Error("no luck"))),
        memberHook({ name: "stuck", timeoutMs: 100 }, () => new Promise<never>(() => {})),
        memberHook({ name: "b" }, () => "b"),
      ),
    ]);
    const { result, events } = await clock.finish(play(agent, { engine: make({ clock }) }));

    expect(result.output).toBe("hi");
    expect(lines(model.requests[0])).toEqual(["system: Be kind.", "user: Go", "user: a", "user: b"]);
    expect(eventsOf(events, "error").map(({ failure: { message }, skipped }) => [message, skipped])).toEqual([
      ['The hook "broken" was left out: no luck', true],
      ['The hook "stuck" was left out: timed out after 100 ms', true],
    ]);
  });

  test("H3 a critical member halts the turn instead", async () => {
    const { agent, model } = injected([
      parallel(
        memberHook({ name: "a" }, () => "a"),
        memberHook({ name: "vital", critical: true }, () => Promise.reject(new Error("no luck"))),
      ),
    ]);
    const { result } = await play(agent, { engine: make() });

    expect(result).toMatchObject({ stopReason: "halted", reason: "vital: no luck" });
    expect(model.requests).toEqual([]);
  });
});

describe("H3 a hook whose time is up", () => {
  test("H3 sees its signal abort, and those beside it do not", async () => {
    const clock = manualClock();
    const aborted: Record<string, boolean> = {};
    const member = (name: string, timeoutMs: number) =>
      memberHook({ name, timeoutMs }, (_turn, { signal }) => {
        aborted[name] = false;
        signal.addEventListener("abort", () => {
          aborted[name] = true;
        });
        return new Promise<string>((resolve) => clock.after(500, () => resolve(name)));
      });
    const { agent } = injected([parallel(member("hasty", 100), member("patient", 1000))]);
    await clock.finish(play(agent, { engine: localEngine({ clock }) }));

    expect(aborted).toEqual({ hasty: true, patient: false });
  });

  test("X5 a cancel ends a hook that hangs, and its signal aborts", async () => {
    const stop = new AbortController();
    let aborted = false;
    const { agent } = injected([
      preHook({ name: "stuck" }, (_turn, { signal }) => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        setTimeout(() => stop.abort("enough"), 1);
        return new Promise<never>(() => {});
      }),
    ]);
    const { error } = await play(agent, { signal: stop.signal });

    expect(error?.name).toBe("RunCancelledError");
    expect(aborted).toBe(true);
  });
});

describe.each(ENGINES)("H4 durable and transient, on the %s engine", (_name, make) => {
  test("H4 durable output joins the log, marked with its hook; transient output is in this turn's prompt only", async () => {
    let turns = 0;
    const { agent, model } = injected(
      [
        preHook({ name: "memory", durable: true }, (turn) => cont(turn.append(`M${++turns}`))),
        preHook({ name: "search" }, (turn) => cont(turn.append(`S${turns}`))),
      ],
      ["one", "two"],
    );
    const first = await play(agent, { engine: make() }, "Q1");
    const { conversation } = first.result;
    await agent.run("Q2", { engine: make(), conversation });

    expect(lines(model.requests[0])).toEqual(["system: Be kind.", "user: M1", "user: Q1", "user: S1"]);
    expect(lines(model.requests[1])).toEqual([
      ...["system: Be kind.", "user: M1", "user: Q1", "assistant: one"],
      ...["user: M2", "user: Q2", "user: S2"],
    ]);
    expect(conversation.messages[0]).toMatchObject({ role: "user", by_hook: "memory" });
    expect(JSON.stringify(conversation)).not.toContain("S1");
    expect(
      eventsOf(first.events, "message_injected").map(({ source, durable }) => [source, durable]),
    ).toEqual([
      ["memory", true],
      ["search", false],
    ]);
  });
});

describe("H2 what may be in the pipeline", () => {
  test.each([
    ["a name that is none", () => preHook({ name: "" }, (turn) => cont(turn)), "name"],
    [
      "an unknown option",
      () => preHook({ name: "x", durabel: true } as never, (turn) => cont(turn)),
      "durabel",
    ],
    ["a timeout of nothing", () => preHook({ name: "x", timeoutMs: 0 }, (turn) => cont(turn)), "timeoutMs"],
    ["no function", () => preHook({ name: "x" }, undefined as never), "run"],
    ["an empty group", () => parallel(), "at least one member"],
    [
      "an ordered hook in a group",
      () => parallel(preHook({ name: "x" }, (turn) => cont(turn)) as never),
      "memberHook",
    ],
  ])("H2 %s is refused", (_what, make, says) => {
    expect(make).toThrow(says);
  });

  test("H2 a member outside a group, or a hook of another phase, is refused by the agent", () => {
    const member = memberHook({ name: "m" }, () => "x");
    const make = (hooks: object) => () =>
      new Agent({ name: "a", model: scriptedModel([]), hooks: hooks as never });

    expect(make({ pre: [member] })).toThrow(/hooks\.pre\[0\].*a pre hook/);
    expect(make({ post: [preHook({ name: "p" }, (turn) => cont(turn))] })).toThrow(
      /hooks\.post\[0\].*a post hook/,
    );
  });
});
