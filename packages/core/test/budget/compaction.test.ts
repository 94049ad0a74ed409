import {
  Agent,
  abort,
  Conversation,
  defineRail,
  drop,
  type Engine,
  localEngine,
  type Message,
  REDUCERS,
  type Reducer,
  retry,
  stubResults,
  summariseSteps,
  summariseTurns,
} from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, failure, play } from "../guards/stage.ts";
import { countOf, isSummary, words } from "./talk.ts";

/** 800 tokens for a request; summaries have more room. */
const NARROW = { contextWindowTokens: 4_000, budgetAwareness: "limit:20" };

type Say = (n: number) => string | ScriptedReply;

/** Somebody to talk to: what it says as an agent, and as a summariser. */
function speaker(summary: Say = (n) => `SUMMARY ${n}`, say: Say = (n) => words(60, `answer${n}`)) {
  let said = 0;
  let summaries = 0;
  const model = scriptedModel(
    [
      (request) => {
        const reply = isSummary(request) ? summary(++summaries) : say(++said);
        const whole = typeof reply === "string" ? { text: reply } : reply;
        return { usage: { input: 0, output: 0 }, ...whole };
      },
    ],
    { loop: true },
  );
  return Object.assign(model, {
    asked: () => model.requests.filter((request) => !isSummary(request)),
    summaries: () => model.requests.filter(isSummary),
  });
}

async function longTalk(engine: Engine, turns = 6): Promise<Conversation> {
  const agent = new Agent({ name: "a", model: speaker() });
  let conversation = new Conversation();
  for (let i = 0; i < turns; i++)
    ({ conversation } = await agent.run(words(100, `question${i}`), { engine, conversation }));
  return conversation;
}

const sent = (request: { prompt: unknown } | undefined) => JSON.stringify(request?.prompt);

describe("B4 summaries outlive the run", () => {
  test("B4 a conversation as JSON has its summaries, and nobody makes them again", async () => {
    const engine = localEngine();
    const model = speaker();
    const agent = new Agent({ name: "a", model, ...NARROW });
    const { conversation } = await agent.run("Go", { engine, conversation: await longTalk(engine) });
    const stored = JSON.parse(JSON.stringify(conversation));
    expect(stored.messages.some(({ role }: { role: string }) => role === "projection")).toBe(true);

    const here = await agent.run("More", { engine, conversation });
    const there = await agent.run("More", {
      engine: localEngine(),
      conversation: Conversation.fromJSON(stored),
    });
    expect(model.summaries().length).toBe(1);
    const [first, second, third] = model.asked();
    expect(sent(third)).toBe(sent(second));
    expect(sent(second)?.startsWith(sent(first)?.slice(0, -1) ?? "?")).toBe(true);
    expect(there.conversation.messages.length).toBe(here.conversation.messages.length);
  });

  test("B4 copies of a conversation go their own ways", async () => {
    const engine = localEngine();
    const agent = new Agent({ name: "a", model: speaker(), ...NARROW });
    const { conversation } = await agent.run("Go", { engine, conversation: await longTalk(engine) });
    const stored = JSON.stringify(conversation);
    const copies = [1, 2].map((n) => ({
      model: speaker((i) => `BRANCH ${n}.${i}`),
      conversation: Conversation.fromJSON(JSON.parse(stored)),
    }));
    for (const { model, conversation: own } of copies) {
      const other = new Agent({ name: "a", model, ...NARROW });
      let next = own;
      for (let i = 0; i < 5; i++)
        ({ conversation: next } = await other.run(words(100, `later${i}`), { engine, conversation: next }));
      expect(model.summaries().length).toBeGreaterThan(0);
    }
    const [one, two] = copies.map(({ model }) => model.requests.map(sent).join());
    expect(one).toContain("SUMMARY 1");
    expect(one).not.toContain("BRANCH 2");
    expect(two).not.toContain("BRANCH 1");
    // An earlier summary is folded into the next one, which is all that stands there then.
    expect(copies[0]?.model.summaries().map(sent)[0]).toContain("SUMMARY 1");
    expect(sent(copies[0]?.model.asked().at(-1))).not.toContain("SUMMARY 1");
  });

  test("B4 B2 advisories and summaries go together", async () => {
    const engine = localEngine();
    const model = speaker();
    const agent = new Agent({
      name: "a",
      model,
      contextWindowTokens: 1_066,
      maxTokens: 266,
      budgetAwareness: "per-message",
    });
    let conversation = new Conversation();
    for (let i = 0; i < 8; i++)
      ({ conversation } = await agent.run(words(100, `question${i}`), { engine, conversation }));
    expect(model.summaries().length).toBeGreaterThan(0);
    for (const request of model.asked()) expect(countOf(request)).toBeLessThanOrEqual(800);
    for (const request of model.summaries()) expect(sent(request)).not.toContain("[context:");
    expect(sent(model.asked().at(-1))).toMatch(/\[context: \d+ of 1066 tokens used; best kept below 639\]/);
    expect(JSON.stringify(conversation.messages)).not.toContain("advisory");
    const again = Conversation.fromJSON(JSON.parse(JSON.stringify(conversation)));
    await agent.run("a", { engine, conversation });
    await agent.run("a", { engine, conversation: again });
    const [one, two] = model.asked().slice(-2).map(sent);
    expect(two).toBe(one);
  });
});

describe("B4 reducers of one's own", () => {
  test("B4 the built-in way is a list of reducers, and any of them can be left out", async () => {
    expect(REDUCERS).toEqual([stubResults, summariseTurns, summariseSteps, drop]);
    const engine = localEngine({ reducers: [stubResults, drop] });
    const model = speaker();
    const agent = new Agent({ name: "a", model, ...NARROW });
    const { result, events } = await play(agent, { engine, conversation: await longTalk(engine) });
    expect(result.stopReason).toBe("answered");
    expect(model.summaries()).toEqual([]);
    expect(eventsOf(events, "context").map(({ action }) => action)).toEqual(["dropped"]);
  });

  test("B4 a reducer does what it likes with the view it is given", async () => {
    const seen: number[] = [];
    const keepOne: Reducer = {
      name: "keep-one",
      *reduce(view) {
        const [first, ...others] = view.history.marks.toReversed();
        seen.push(view.tokens, view.target);
        yield* view.summarise(0, others[0] ?? first ?? 0, 200);
      },
    };
    const engine = localEngine({ reducers: [keepOne, drop] });
    const model = speaker();
    const agent = new Agent({ name: "a", model, ...NARROW });
    const { result } = await play(agent, { engine, conversation: await longTalk(engine) });
    expect(result.stopReason).toBe("answered");
    expect(seen[0]).toBeGreaterThan(seen[1] ?? 0);
    expect(model.asked()[0]?.prompt.map(({ role }) => role)).toEqual(["user", "user", "assistant", "user"]);
  });

  test("B3 reducers that do nothing leave the limit in force", async () => {
    const idle: Reducer = { name: "idle", reduce: () => undefined };
    const engine = localEngine({ reducers: [idle] });
    const model = speaker();
    const agent = new Agent({ name: "a", model, ...NARROW });
    const { result } = await play(agent, { engine, conversation: await longTalk(engine) });
    expect(result.stopReason).toBe("budget");
    expect(model.requests).toEqual([]);
  });

  test("B4 one that breaks the rules fails the run, by name, and the conversation is free again", async () => {
    const greedy: Reducer = {
      name: "greedy",
      reduce(view) {
        view.drop(1, 2);
        return undefined;
      },
    };
    const engine = localEngine({ reducers: [greedy] });
    const conversation = await longTalk(engine);
    const agent = new Agent({ name: "a", model: speaker(), ...NARROW });
    const error = await failure(agent.run("Go", { engine, conversation }));
    expect(error.message).toContain("the reducer greedy may cut from 0");
    const other = await agent.run("Go", { engine: localEngine(), conversation });
    expect(other.stopReason).toBe("answered");
  });
});

describe.each(ENGINES)("R14 summaries are calls like others, %s", (_, makeEngine) => {
  test("X8 a provider that is busy for a moment costs no history", async () => {
    const engine = makeEngine({ retry: { retries: 2, baseMs: 1 } });
    const busy = {
      error: Object.assign(new Error("slow down"), {
        statusCode: 429,
        isRetryable: true,
        name: "AI_APICallError",
      }),
    };
    const model = speaker((n) => (n < 3 ? busy : `SUMMARY ${n}`));
    const agent = new Agent({ name: "a", model, ...NARROW });
    const { result, events } = await play(agent, { engine, conversation: await longTalk(engine) });
    expect(model.summaries().length).toBe(3);
    expect(sent(model.asked()[0])).toContain("SUMMARY 3");
    expect(eventsOf(events, "context").map(({ action }) => action)).toEqual(["summarised"]);
    expect(result.usage.model_calls).toBe(2);
  });

  test("X8 fallback models stand in for the summariser too", async () => {
    const engine = makeEngine({ retry: { retries: 0 } });
    const model = speaker(() => ({ error: new Error("down") }));
    const fallback = scriptedModel(["SUMMARY OF THE OTHER"], { modelId: "other" });
    const agent = new Agent({ name: "a", model, fallbackModels: [fallback], ...NARROW });
    await play(agent, { engine, conversation: await longTalk(engine) });
    expect(sent(model.asked()[0])).toContain("SUMMARY OF THE OTHER");
  });

  test("R5 each summary is a call of its own to rails that count, and they read what they wrote", async () => {
    const engine = makeEngine();
    const granted: boolean[] = [];
    const notes: unknown[] = [];
    const meter = defineRail(
      { name: "meter", on: ["CONTEXT_WINDOW", "PRE_LLM_CALL", "POST_LLM_CALL"] },
      async (ctx) => {
        if (ctx.event === "PRE_LLM_CALL") granted.push((await ctx.reserve("calls", 1, 100)).granted);
        notes.push([ctx.event, ctx.state.get("seen") ?? null]);
        ctx.state.set("seen", ctx.event);
      },
    );
    const counted: string[] = [];
    const keys = defineRail(
      { name: "keys", on: ["PRE_LLM_CALL"] },
      (ctx) => void counted.push(ctx.idempotencyKey),
    );
    // So small a window takes several requests for one summary.
    const small = { contextWindowTokens: 1_066, maxTokens: 266 };
    const model = speaker();
    const agent = new Agent({ name: "a", model, rails: [meter, keys], ...small });
    await play(agent, { engine, conversation: await longTalk(engine) });
    expect(model.summaries().length).toBeGreaterThan(1);
    expect(new Set(counted).size).toBe(model.requests.length);
    expect(granted.length).toBe(model.requests.length);
    const order = model.requests.flatMap(() => ["PRE_LLM_CALL", "POST_LLM_CALL"]);
    const all = ["CONTEXT_WINDOW", ...order];
    expect(notes).toEqual(all.map((event, i) => [event, all[i - 1] ?? null]));
  });

  test("R8 a rail's retry at a summary makes it again, exactly as often as it says", async () => {
    for (const [refusals, ends] of [
      [1, "answered"],
      [9, "aborted"],
    ] as const) {
      const engine = makeEngine();
      let refused = 0;
      const picky = defineRail({ name: "picky", on: ["POST_LLM_CALL"] }, (ctx) => {
        const isSummarising = JSON.stringify(ctx.inputs.messages).includes("<conversation>");
        return isSummarising && refused++ < refusals
          ? retry({ maxRetries: 1, reason: "too dull" })
          : undefined;
      });
      const model = speaker();
      const agent = new Agent({ name: "a", model, rails: [picky], ...NARROW });
      const { result, error } = await play(agent, { engine, conversation: await longTalk(engine) });
      expect(error === undefined ? result.stopReason : "aborted").toBe(ends);
      expect(model.summaries().length).toBe(2);
      if (error !== undefined) expect(error.message).toContain("its retries are used up: too dull");
    }
  });

  test("R14 an abort at a summary in the middle of a turn leaves every call with its result", async () => {
    const engine = makeEngine();
    const stop = defineRail({ name: "stop", on: ["PRE_LLM_CALL"] }, (ctx) =>
      JSON.stringify(ctx.inputs.messages).includes("<conversation>") ? abort("no summaries") : undefined,
    );
    const model = speaker(undefined, (n) => ({ text: words(300, `note${n}`), calls: [{ tool: "gone" }] }));
    const agent = new Agent({ name: "a", model, rails: [stop], ...NARROW });
    const { error, result } = await play(agent, { engine });
    expect(error?.message).toContain('"stop" aborted the run at PRE_LLM_CALL: no summaries');
    const roles = result.messages.map(({ role }) => role).join(" ");
    expect(roles).toMatch(/^user( assistant tool)+$/);
  });
});

describe("R4 what CONTEXT_WINDOW rails may put there", () => {
  const on = ["CONTEXT_WINDOW"] as const;

  test.each([
    ["nothing at all", () => []],
    [
      "a result without its call",
      (messages: readonly Message[]) => messages.filter(({ role }) => role !== "assistant"),
    ],
    ["not even a list", () => "all gone" as never],
    ["all but this turn's question", (messages: readonly Message[]) => messages.slice(1)],
  ])("R4 R10 %s is refused, with the name of the rail", async (_, change) => {
    const engine = localEngine();
    const wrong = defineRail({ name: "wrong", on }, (ctx) => {
      if (ctx.inputs.messages.some(({ role }) => role === "tool"))
        ctx.inputs.messages = change(ctx.inputs.messages);
      else return "skip";
    });
    const model = speaker(undefined, (n) => ({ text: words(300, `note${n}`), calls: [{ tool: "gone" }] }));
    const agent = new Agent({ name: "a", model, rails: [wrong], ...NARROW });
    const { error } = await play(agent, { engine }, words(30, "wish"));
    expect(error?.message).toContain('The rail "wrong" aborted the run at CONTEXT_WINDOW');
    expect(error?.message).toContain("messages");
  });

  test("R10 R13 an observer or a shadow that is wrong changes nothing", async () => {
    for (const options of [{ onError: "continue" }, { mode: "shadow" }] as const) {
      const engine = localEngine();
      const wrong = defineRail({ name: "wrong", on, ...options }, (ctx) => {
        ctx.inputs.messages = [];
      });
      const model = speaker();
      const agent = new Agent({ name: "a", model, rails: [wrong], ...NARROW });
      const { result } = await play(agent, { engine, conversation: await longTalk(engine) });
      expect(result.stopReason).toBe("answered");
      expect(model.summaries().length).toBe(1);
    }
  });

  test("B3 what a rail makes of it is still held to the limit", async () => {
    const engine = localEngine();
    const fond = defineRail({ name: "fond", on }, (ctx) => {
      ctx.inputs.messages = ctx.inputs.messages.slice(2);
    });
    const model = speaker();
    const agent = new Agent({ name: "a", model, rails: [fond], ...NARROW });
    const { result, events } = await play(agent, { engine, conversation: await longTalk(engine, 12) });
    expect(result.stopReason).toBe("budget");
    expect(model.requests).toEqual([]);
    expect(eventsOf(events, "context").map(({ action }) => action)).toEqual(["replaced", "replaced"]);
  });
});

describe("H6 the message that opens a turn", () => {
  test("H6 it is weighed as START rails leave it", async () => {
    const engine = localEngine();
    const conversation = await longTalk(engine, 3);
    const small = { contextWindowTokens: 1_066, maxTokens: 266 };
    for (const [text, isCrowded] of [
      ["Go", false],
      [words(400), true],
    ] as const) {
      const grow = defineRail({ name: "grow", on: ["START"] }, (ctx) => {
        ctx.inputs.input = text;
      });
      const agent = new Agent({ name: "a", model: speaker(), rails: [grow], ...small });
      const copy = Conversation.fromJSON(JSON.parse(JSON.stringify(conversation)));
      const { events } = await play(agent, { engine, conversation: copy });
      expect(eventsOf(events, "context").length > 0).toBe(isCrowded);
    }
  });
});
