import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import type { AgentConfig } from "../../agent-config.ts";
import { streamTransformer } from "../../bind-guards.ts";
import { advisoryOf } from "../../context/budget.ts";
import { estimateText } from "../../context/estimate.ts";
import { preHook } from "../../hooks/pipeline-hooks.ts";
import { cont } from "../../hooks/turn.ts";
import type { Conversation } from "../../local/conversation.ts";
import { type Engine, localEngine } from "../../local/engine.ts";
import { defineRail } from "../../rails/rail.ts";
import { abort, retry, skip } from "../../rails/verdicts.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import type { Message } from "../../schema/message.ts";
import { defineTool, type Tool } from "../../tools/define-tool.ts";
import {
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "../scripted-model.ts";
import { behaviour, collect, rejection, trace } from "./behaviour.ts";

const WINDOW = 2_000;
const HEAD = "You summarise a conversation";
const ADVISORY = /\[context: \d+ of \d+ tokens used; best kept below \d+\]/g;

/** So many tokens of text, more or less, that say whose they are. */
function words(tokens: number, of = "word"): string {
  return `${of} `.repeat(Math.ceil(tokens / estimateText(`${of} `)));
}

const fetchText = defineTool({
  name: "fetch",
  input: z.object({ tokens: z.number() }),
  effect: "none",
  execute: ({ tokens }) => words(tokens, "page"),
});

/** What a provider that reports nothing would answer. */
function unreported(step: ScriptedStep): ScriptedStep {
  if (typeof step === "function") return step;
  const reply = typeof step === "string" ? { text: step } : step;
  return { usage: { input: 0, output: 0 }, ...reply };
}

function isSummary({ prompt: [first] }: ScriptedRequest): boolean {
  return first?.role === "system" && first.content.startsWith(HEAD);
}

/** A model that is also asked for summaries. What it says as an agent is scripted; a summary is `SUMMARY` and a number. */
function model(
  script: readonly ScriptedStep[],
  summary: (n: number) => ScriptedStep = (n) => `SUMMARY ${n}`,
) {
  let said = 0;
  let summaries = 0;
  const made = scriptedModel(
    [
      (request) => {
        const step = unreported(isSummary(request) ? summary(++summaries) : (script[said++] ?? "and so on"));
        return typeof step === "function" ? step(request) : step;
      },
    ],
    { loop: true },
  );
  return Object.assign(made, {
    asked: () => made.requests.filter((request) => !isSummary(request)),
    summaries: () => made.requests.filter(isSummary),
  });
}

type Talking = ReturnType<typeof model>;
type Config = Partial<AgentConfig<readonly Tool[], never>>;
type AnyAgent = Agent<readonly Tool[], never>;

function make(talking: ScriptedModel, more: Config = {}): AnyAgent {
  const config = { name: "a", model: talking, contextWindowTokens: WINDOW, tools: [fetchText], ...more };
  return new Agent<readonly Tool[], never>(config);
}

/** A budget of 800 tokens, though summaries have more room. */
const NARROW: Config = { contextWindowTokens: 4_000, budgetAwareness: "limit:20" };
/** The same without a limit: all that the window leaves. */
const SMALL: Config = { contextWindowTokens: 1_066, maxTokens: 266 };

/** A few turns, each with a question and an answer of some size. */
async function talk(
  agent: AnyAgent,
  engine: Engine,
  turns: number,
  tokens = 100,
  conversation?: Conversation,
) {
  let current = conversation;
  for (let i = 0; i < turns; i++) {
    const options = { engine, ...(current === undefined ? {} : { conversation: current }) };
    current = (await agent.run(words(tokens, `question${i}`), options)).conversation;
  }
  return current as Conversation; // there was at least one turn
}

/** The texts of a request, and roughly how large it is: counted from what was sent, not from what we kept. */
function sent({ prompt, tools }: ScriptedRequest): { texts: string[]; tokens: number } {
  const texts: string[] = [];
  const gather = (value: unknown, key = ""): void => {
    if (typeof value === "string" && key !== "type") texts.push(value);
    else if (typeof value === "object" && value !== null)
      for (const [name, one] of Object.entries(value)) gather(one, name);
  };
  for (const { content } of prompt) gather(content);
  const all = [...texts, ...tools.map((tool) => JSON.stringify(tool))];
  return { texts, tokens: all.reduce((sum, text) => sum + estimateText(text), 0) };
}

function lastText(request: ScriptedRequest | undefined): string {
  return JSON.stringify(request?.prompt ?? "");
}

function contexts(events: readonly object[]): Extract<DurableEvent, { type: "context" }>[] {
  return (events as DurableEvent[]).filter((event) => event.type === "context"); // live events have other types
}

async function play(agent: AnyAgent, input: string, engine: Engine, conversation?: Conversation) {
  const stream = agent.stream(input, { engine, ...(conversation === undefined ? {} : { conversation }) });
  const events = await collect(stream);
  const result = await stream.result;
  return { events, result };
}

/**
 * A conversation of six turns, and the agent that goes on with it under some rules. The turns run on the local engine,
 * because they are not what is checked: the engine under test gets them as a conversation.
 */
async function crowded(
  config: Config,
  script: readonly ScriptedStep[] = ["fine"],
  summary?: Parameters<typeof model>[1],
  engine: Engine = localEngine(),
): Promise<{ agent: AnyAgent; talking: Talking; conversation: Conversation }> {
  const before = make(model(Array.from({ length: 6 }, (_, i) => words(60, `answer${i}`))));
  const conversation = await talk(before, engine, 6);
  const talking = model(script, summary);
  const agent = make(talking, config);
  return { agent, talking, conversation };
}

const OVERFLOW = {
  error: Object.assign(new Error("maximum context length exceeded"), { name: "AI_APICallError" }),
};

/** Budgets, and making room (B, H6). */
export const budget = [
  behaviour(
    "B1 without budget awareness there is no advisory, and nothing is stopped",
    async (makeEngine) => {
      const talking = model([{ calls: [{ tool: "fetch", args: { tokens: 10 } }] }, "done"]);
      const { result } = await play(make(talking), words(9_000), await makeEngine());
      assert.equal(result.stopReason, "answered");
      assert.ok(!JSON.stringify(talking.requests).includes("[context:"));
    },
  ),

  behaviour(
    "B2 per-message: what was said and what tools returned carry an advisory, for the model alone, stamped once",
    async (makeEngine) => {
      const seen: unknown[] = [];
      const watch = defineRail(
        { name: "watch", on: ["POST_LLM_CALL", "POST_TOOL_CALL", "START", "FINISHED"] },
        (ctx) => {
          if (ctx.event === "POST_LLM_CALL") seen.push(ctx.inputs.response);
          else if (ctx.event === "POST_TOOL_CALL") seen.push(ctx.inputs.result);
          else if (ctx.event === "START") seen.push(ctx.inputs.messages);
          else if (ctx.event === "FINISHED") seen.push(ctx.inputs.result);
        },
      );
      const hook = preHook({ name: "look" }, (turn) => {
        seen.push(turn.context);
        return cont(turn);
      });
      const talking = model([
        {
          text: "I look",
          calls: [
            { tool: "fetch", args: { tokens: 5 } },
            { tool: "fetch", args: { tokens: 9 } },
          ],
          usage: { input: 70, output: 7 },
        },
        { calls: [{ tool: "gone" }], usage: { input: 100, output: 1 } },
        { text: "done", usage: { input: 130, output: 3 } },
        { text: "again", usage: { input: 150, output: 4 } },
      ]);
      const agent = make(talking, {
        budgetAwareness: "per-message",
        rails: [watch],
        hooks: { pre: [hook] },
      });
      const engine = await makeEngine();
      const first = await play(agent, "Go", engine);
      const second = await play(agent, "More", engine, first.result.conversation);

      const facts = { window: WINDOW, output: 0 };
      const [, one, two, three] = talking.requests;
      // The last of what it said, before its calls; and behind each result.
      const [, said, results] = one?.prompt ?? [];
      assert.deepEqual(
        said?.role === "assistant" &&
          said.content.map((part) => (part.type === "text" ? part.text : part.type)),
        ["I look", `\n\n${advisoryOf(77, facts)}`, "tool-call", "tool-call"],
      );
      const values = results?.role === "tool" ? results.content : [];
      const stamps = values.map((part) => {
        const output = part.type === "tool-result" && part.output.type === "text" ? part.output.value : "";
        return Number(/\n\n\[context: (\d+) of 2000 tokens used; best kept below 1200\]$/.exec(output)?.[1]);
      });
      const [small = 0, large = 0] = stamps;
      assert.ok(small > 77 + 4 && large > small && large < 120, `${stamps}`);
      // A message without text has the advisory as its text; a result that is an error has one too.
      assert.match(
        JSON.stringify(two?.prompt.slice(3)),
        /"text":"\[context: 101 of 2000 .*"error-text","value":"There is no tool.*\[context: 1\d\d of/,
      );
      assert.match(JSON.stringify(three?.prompt.at(-2)), /"done".*\\n\\n\[context: 133 of 2000/);

      // The bytes of what was sent once never change.
      for (const [i, request] of talking.requests.slice(1).entries())
        assert.ok(lastText(request).startsWith(lastText(talking.requests[i]).slice(0, -1)), `request ${i}`);

      const { conversation } = second.result;
      const shown = [
        first.events,
        second.events,
        first.result,
        second.result.messages,
        conversation.messages,
        seen,
      ];
      assert.ok(
        !ADVISORY.test(
          JSON.stringify(
            shown.map((one) =>
              JSON.stringify(one, (key, value) => (key === "conversation" ? undefined : value)),
            ),
          ),
        ),
      );
      assert.deepEqual(contexts(second.events), []);
    },
  ),

  behaviour("B2 where nothing is reported, the advisory says what is estimated", async (makeEngine) => {
    const talking = model([{ calls: [{ tool: "fetch", args: { tokens: 300 } }] }, "done"]);
    const agent = make(talking, { budgetAwareness: "per-message" });
    await play(agent, words(200), await makeEngine());
    const [used = 0, after = 0] = [...lastText(talking.requests[1]).matchAll(/\[context: (\d+) of/g)].map(
      (found) => Number(found[1]),
    );
    const { tokens } = sent(talking.requests[0] as ScriptedRequest);
    assert.ok(used > tokens * 0.9 && used < tokens * 1.3 + 60, `${used} for ${tokens}`);
    assert.ok(after > used + 270 && after < used + 360, `${after} after ${used}`);
  }),

  behaviour(
    "B3 a window that nobody knows is a problem of the definition, in both modes",
    async (makeEngine) => {
      const engine = await makeEngine();
      const informed = await makeEngine({
        modelTable: { "scripted:scripted": { window: WINDOW, output: 100 } },
      });
      for (const budgetAwareness of ["per-message", "limit:50"] as const) {
        const talking = model(["hi"]);
        const agent = new Agent({ name: "a", model: talking, budgetAwareness });
        const error = await rejection(agent.run("Go", { engine }));
        assert.equal(error.name, "AgentConfigError");
        assert.match(error.message, /context_window_tokens/);
        const [problem] = (error as unknown as { issues: { path: string }[] }).issues;
        assert.equal(problem?.path, "context_window_tokens");
        assert.equal(talking.requests.length, 0);
        // A table of the engine's knows it.
        assert.equal((await agent.run("Go", { engine: informed })).text, "hi");
      }
    },
  ),

  behaviour("B3 limit:0 stops every run, and nobody is called", async (makeEngine) => {
    const talking = model(["never"]);
    const engine = await makeEngine();
    const conversation = await talk(make(model([])), engine, 3);
    for (const known of [undefined, conversation]) {
      const agent = make(talking, { budgetAwareness: "limit:0", planningEnabled: true });
      const { events, result } = await play(agent, "Go", engine, known);
      assert.equal(result.stopReason, "budget");
      assert.match(
        result.text,
        /^The token budget of this run is used up: .* 0 are allowed\. Nothing was sent\./,
      );
      assert.equal(result.output, result.text);
      assert.equal(talking.requests.length, 0);
      assert.deepEqual(
        result.messages.map(({ role }) => role),
        ["user", "assistant"],
      );
      assert.equal(result.usage.model_calls, 0);
      assert.deepEqual(trace(events).slice(-3), ["text", "step:1:completed", "status:completed:budget"]);
    }
  }),

  behaviour("B3 above the limit the log is compacted; what is sent is never above it", async (makeEngine) => {
    const talking = model(
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 2 ? { calls: [{ tool: "fetch", args: { tokens: 150 } }] } : words(50),
      ),
    );
    const agent = make(talking, { budgetAwareness: "limit:40", instructions: "Be brief." });
    const engine = await makeEngine();
    let conversation: Conversation | undefined;
    const changes: string[] = [];
    for (let i = 0; i < 8; i++) {
      const { result, events } = await play(agent, words(80, `question${i}`), engine, conversation);
      assert.equal(result.stopReason, "answered");
      conversation = result.conversation;
      for (const { action, tokens_before, tokens_after } of contexts(events)) {
        changes.push(action);
        assert.ok(tokens_after < tokens_before);
      }
    }
    assert.ok(changes.includes("stubbed") && changes.includes("summarised"), changes.join());
    assert.ok(talking.summaries().length > 0);
    for (const request of talking.asked()) {
      assert.ok(sent(request).tokens <= WINDOW * 0.4, `${sent(request).tokens} were sent`);
      assert.equal(request.prompt[0]?.content, "Be brief.");
    }
    for (const request of talking.summaries()) assert.deepEqual(request.tools, []);
    // The log itself is whole.
    assert.equal(conversation?.messages.filter(({ role }) => role === "user").length, 8);
  }),

  behaviour(
    "B3 where no room can be made the run stops, with no call to the provider",
    async (makeEngine) => {
      const talking = model(["fine"]);
      const agent = make(talking, { budgetAwareness: "limit:10" });
      const engine = await makeEngine();
      const own = await talk(make(model([])), engine, 2);
      const { result, events } = await play(agent, words(250), engine, own);
      assert.equal(result.stopReason, "budget");
      assert.match(result.text, /about \d+ tokens, and 200 are allowed/);
      assert.equal(talking.requests.length, 0);
      assert.deepEqual(
        contexts(events).map(({ action }) => action),
        ["skipped", "skipped"],
      );
      // The conversation goes on with who has more room.
      const next = await play(make(model(["ok"])), "And now?", engine, result.conversation);
      assert.equal(next.result.text, "ok");
    },
  ),

  behaviour(
    "B3 in the middle of a turn its own steps make room; the request and the tail stay",
    async (makeEngine) => {
      const calls = Array.from({ length: 7 }, () => ({ calls: [{ tool: "fetch", args: { tokens: 200 } }] }));
      const talking = model([...calls, "done"]);
      const tail = preHook({ name: "tail" }, (turn) => cont(turn.append("TAIL")));
      const agent = make(talking, { budgetAwareness: "limit:40", hooks: { pre: [tail] } });
      const { result, events } = await play(agent, words(60, "wish"), await makeEngine());
      assert.equal(result.stopReason, "answered");
      assert.ok(contexts(events).length > 0);
      for (const request of talking.asked()) {
        const { texts, tokens } = sent(request);
        assert.ok(tokens <= WINDOW * 0.4, `${tokens} were sent`);
        const at = texts.indexOf("TAIL");
        assert.ok(texts[at - 1]?.startsWith("wish") && at <= 2);
      }
      assert.equal(result.messages.length, 16);
    },
  ),

  behaviour(
    "B3 what PRE_LLM rails make of a request is weighed again, and not compacted again",
    async (makeEngine) => {
      let grow = 0;
      const more = defineRail({ name: "more", on: ["PRE_LLM_CALL"] }, (ctx) => {
        if (grow > 0)
          ctx.inputs.messages = [
            ...ctx.inputs.messages,
            { id: "x", role: "user", parts: [{ type: "text", text: words(grow) }] },
          ];
      });
      const engine = await makeEngine();
      const talking = model(["one", "two"]);
      const agent = make(talking, { budgetAwareness: "limit:50", rails: [more] });
      const { result } = await play(agent, words(100), engine);
      assert.equal(result.text, "one");
      grow = 300;
      const within = await play(agent, words(100), engine, result.conversation);
      assert.equal(within.result.text, "two");
      grow = 1_000;
      const over = await play(agent, words(100), engine, within.result.conversation);
      assert.equal(over.result.stopReason, "budget");
      assert.deepEqual(contexts(over.events), []);
      assert.equal(talking.requests.length, 2);
    },
  ),

  behaviour("H6 before a turn the log is compacted to the budget less the reserve", async (makeEngine) => {
    // 6 turns of about 160 tokens each: above 800 - 200, and below 800.
    const reserve = { budgetAwareness: "limit:40", injectionReserveTokens: 200 };
    const idle = preHook({ name: "idle" }, (turn) => cont(turn));
    const engine = await makeEngine();
    for (const hooks of [{}, { pre: [idle] }]) {
      const before = make(model(Array.from({ length: 5 }, () => words(20))));
      const conversation = await talk(before, localEngine(), 5);
      const talking = model(["fine"]);
      const agent = make(talking, { ...reserve, hooks });
      const { events } = await play(agent, "Go", engine, conversation);
      const [change] = contexts(events);
      if (!("pre" in hooks)) {
        assert.equal(change, undefined);
        continue;
      }
      assert.ok(change !== undefined && change.tokens_before > 600 && change.tokens_after <= 600);
      const order = trace(events);
      assert.ok(order.indexOf("context") < order.indexOf("step:1:started"));
    }
  }),

  behaviour(
    "H6 B1 without a limit the log is compacted to what the window leaves beside an answer",
    async (makeEngine) => {
      const engine = await makeEngine();
      const { agent, talking, conversation } = await crowded(SMALL);
      const { result, events } = await play(agent, "Go", engine, conversation);
      assert.equal(result.text, "fine");
      const changes = contexts(events);
      assert.ok((changes[0]?.tokens_before ?? 0) > 800 && (changes.at(-1)?.tokens_after ?? 9_999) <= 800);
      assert.ok(sent(talking.asked()[0] as ScriptedRequest).tokens <= 800);
      assert.match(lastText(talking.asked()[0]), /SUMMARY/);
      assert.equal(result.usage.model_calls, talking.requests.length);
    },
  ),

  behaviour(
    "B5 a request the provider finds too long is compacted and tried once more",
    async (makeEngine) => {
      const engine = await makeEngine({ retry: { retries: 0 } });
      const { agent, talking, conversation } = await crowded({ contextWindowTokens: null }, [
        OVERFLOW,
        "fine",
      ]);
      const { result, events } = await play(agent, "Go", engine, conversation);
      assert.equal(result.text, "fine");
      assert.equal(talking.asked().length, 2);
      const [first, second] = talking.asked().map((request) => sent(request).tokens);
      assert.ok((second ?? 0) <= (first ?? 0) * 0.75, `${second} after ${first}`);
      assert.deepEqual(
        trace(events).filter((one) => one.startsWith("error")),
        ["error:model_failed"],
      );
      assert.ok(contexts(events).length > 0);

      const again = await crowded({ contextWindowTokens: null }, [OVERFLOW, OVERFLOW, "never"]);
      const error = await rejection(again.agent.run("Go", { engine, conversation: again.conversation }));
      assert.match(error.message, /maximum context length/);
      assert.equal(again.talking.asked().length, 2);
    },
  ),

  behaviour("B4 a summary is made once, and the next turn goes on with it", async (makeEngine) => {
    const engine = await makeEngine();
    const { agent, talking, conversation } = await crowded(NARROW, ["fine"], undefined, engine);
    const first = await play(agent, "Go", engine, conversation);
    const next = await play(agent, "More", engine, first.result.conversation);
    assert.equal(talking.summaries().length, 1);
    assert.deepEqual(contexts(next.events), []);
    const [one, two] = talking.asked().map(lastText);
    assert.match(two ?? "", /SUMMARY 1/);
    assert.ok(two?.startsWith(one?.slice(0, -1) ?? "?"), "the prefix is the same");
    // What was said is still there.
    assert.equal(next.result.conversation.messages.length, 16);
    assert.ok(!JSON.stringify(next.result.conversation.messages).includes("SUMMARY"));
  }),

  behaviour("R14 summaries are model calls under the LLM rails", async (makeEngine) => {
    const seen: string[] = [];
    const isSummarising = (messages: readonly Message[]) =>
      JSON.stringify(messages).includes("<conversation>");
    const watch = defineRail({ name: "watch", on: ["PRE_LLM_CALL", "POST_LLM_CALL"] }, (ctx) => {
      const whose = isSummarising(ctx.inputs.messages) ? "summary" : "agent";
      seen.push(`${whose} ${ctx.event}`);
      if (ctx.event === "POST_LLM_CALL" && whose === "summary")
        ctx.inputs.response = { text: "REWRITTEN", toolCalls: [] };
    });
    const engine = await makeEngine();
    const watched = await crowded({ ...NARROW, rails: [watch] });
    const { result } = await play(watched.agent, "Go", engine, watched.conversation);
    assert.equal(result.text, "fine");
    assert.deepEqual(seen, [
      "summary PRE_LLM_CALL",
      "summary POST_LLM_CALL",
      "agent PRE_LLM_CALL",
      "agent POST_LLM_CALL",
    ]);
    assert.match(lastText(watched.talking.asked()[0]), /REWRITTEN/);

    for (const point of ["PRE_LLM_CALL", "POST_LLM_CALL"] as const) {
      const stop = defineRail({ name: "stop", on: [point] }, (ctx) =>
        isSummarising(ctx.inputs.messages) ? abort("not that") : undefined,
      );
      const stopped = await crowded({ ...NARROW, rails: [stop] });
      const error = await rejection(stopped.agent.run("Go", { engine, conversation: stopped.conversation }));
      assert.match(error.message, new RegExp(`"stop" aborted the run at ${point}: not that`));
      assert.equal(stopped.talking.asked().length, 0);

      const withheld = defineRail({ name: "withheld", on: [point] }, (ctx) =>
        isSummarising(ctx.inputs.messages) ? skip("secret") : undefined,
      );
      const dropped = await crowded({ ...NARROW, rails: [withheld] });
      const played = await play(dropped.agent, "Go", engine, dropped.conversation);
      assert.equal(played.result.text, "fine");
      assert.ok(!lastText(dropped.talking.asked()[0]).includes("SUMMARY"));
      assert.ok(contexts(played.events).some(({ action }) => action === "dropped"));

      const broken = await crowded(NARROW);
      broken.agent.hookManager.add(point, function breaks(ctx) {
        if (isSummarising((ctx.inputs as { messages: readonly Message[] }).messages)) throw new Error("oops");
      });
      const failed = await rejection(broken.agent.run("Go", { engine, conversation: broken.conversation }));
      assert.equal(failed.name, "HookError");
      assert.equal(broken.talking.asked().length, 0);
    }
  }),

  behaviour("H8 stream transformers change summaries as they change answers", async (makeEngine) => {
    const hide = streamTransformer("hide", () => {
      let held = ""; // the word may come in pieces
      return {
        push: (chunk) => {
          held += chunk;
          return "";
        },
        flush: () => held.replaceAll("SECRET", "***"),
      };
    });
    const engine = await makeEngine();
    const config = { ...NARROW, hooks: { stream: [hide] } };
    const hidden = await crowded(config, ["fine"], () => "the SECRET of the summary");
    const { result } = await play(hidden.agent, "Go", engine, hidden.conversation);
    assert.equal(result.text, "fine");
    assert.match(lastText(hidden.talking.asked()[0]), /the \*\*\* of the summary/);
    assert.ok(!lastText(hidden.talking.asked()[0]).includes("SECRET"));

    const broken = streamTransformer("broken", () => ({
      push: (chunk) => {
        if (chunk.includes("summary")) throw new Error("cannot read this");
        return chunk;
      },
      flush: () => "",
    }));
    const stopped = await crowded({ ...NARROW, hooks: { stream: [broken] } }, ["fine"], () => "a summary");
    const error = await rejection(stopped.agent.run("Go", { engine, conversation: stopped.conversation }));
    assert.match(error.message, /broken.*cannot read this/);
    assert.equal(stopped.talking.asked().length, 0);
  }),

  behaviour("R2 MODEL_ERROR fires for a summary that its provider refuses", async (makeEngine) => {
    const engine = await makeEngine({ retry: { retries: 0 } });
    const fails = () => ({ error: new Error("down") });
    const seen: string[] = [];
    const watch = defineRail({ name: "watch", on: ["MODEL_ERROR"] }, (ctx) => {
      seen.push(ctx.inputs.error.message);
      return skip("use this", { replacement: "STAND-IN" });
    });
    const replaced = await crowded({ ...NARROW, rails: [watch] }, ["fine"], fails);
    const { result } = await play(replaced.agent, "Go", engine, replaced.conversation);
    assert.equal(result.text, "fine");
    assert.equal(seen.length, 1);
    assert.match(seen[0] ?? "", /down/);
    assert.match(lastText(replaced.talking.asked()[0]), /STAND-IN/);

    const stop = defineRail({ name: "stop", on: ["MODEL_ERROR"] }, () => abort("no summary, no run"));
    const stopped = await crowded({ ...NARROW, rails: [stop] }, ["fine"], fails);
    const error = await rejection(stopped.agent.run("Go", { engine, conversation: stopped.conversation }));
    assert.match(error.message, /"stop" aborted the run at MODEL_ERROR: no summary, no run/);
    assert.equal(stopped.talking.asked().length, 0);
  }),

  behaviour("B4 a summariser that fails or says nothing is done without", async (makeEngine) => {
    const engine = await makeEngine({ retry: { retries: 0 } });
    for (const summary of [{ error: new Error("down") }, "", { hang: false, text: " \n" } as never]) {
      const { agent, talking, conversation } = await crowded(NARROW, ["fine"], () => summary);
      const { result, events } = await play(agent, "Go", engine, conversation);
      assert.equal(result.text, "fine");
      assert.deepEqual(
        contexts(events).map(({ action }) => action),
        ["dropped"],
      );
      assert.ok(sent(talking.asked()[0] as ScriptedRequest).tokens <= 800);
    }
  }),

  behaviour("X5 a cancel reaches the summariser", async (makeEngine) => {
    const engine = await makeEngine();
    let isAsked: () => void = () => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const summary = () => () => {
      isAsked();
      return { hang: true as const };
    };
    const { agent, talking, conversation } = await crowded(NARROW, ["fine"], summary);
    const stream = agent.stream("Go", { engine, conversation });
    const reading = collect(stream);
    await asked;
    stream.cancel("enough");
    const events = await reading;
    assert.equal((await rejection(stream.result)).message, "The run was cancelled: enough");
    assert.equal(trace(events).at(-1), "status:cancelled");
    assert.equal(talking.asked().length, 0);
    // Nothing was decided: the next turn makes room again.
    const next = await play(make(model(["ok"]), NARROW), "Go", engine, conversation);
    assert.ok(contexts(next.events).length > 0);
  }),

  behaviour(
    "R4 R7 R8 CONTEXT_WINDOW rails may refuse, delay, abort or do it their way",
    async (makeEngine) => {
      const on = ["CONTEXT_WINDOW"] as const;
      const engine = await makeEngine();

      const keep = await crowded({
        ...SMALL,
        rails: [defineRail({ name: "keep", on }, () => skip("keep it all"))],
      });
      const kept = await play(keep.agent, "Go", engine, keep.conversation);
      assert.equal(kept.result.text, "fine");
      assert.deepEqual(
        contexts(kept.events).map(({ action, detail }) => [action, detail]),
        [["skipped", "keep has nothing be compacted: keep it all"]],
      );
      assert.equal(keep.talking.summaries().length, 0);
      assert.ok(sent(keep.talking.asked()[0] as ScriptedRequest).tokens > 800);

      let tries = 0;
      const wait = defineRail({ name: "wait", on }, () =>
        ++tries < 3 ? retry({ maxRetries: 2 }) : undefined,
      );
      const waiting = await crowded({ ...NARROW, rails: [wait] });
      const waited = await play(waiting.agent, "Go", engine, waiting.conversation);
      assert.deepEqual([tries, waited.result.text], [3, "fine"]);
      assert.equal(waiting.talking.summaries().length, 1);

      const endless = defineRail({ name: "endless", on }, () => retry({ maxRetries: 1 }));
      const stopper = defineRail({ name: "stopper", on }, () => abort("no"));
      for (const rail of [endless, stopper]) {
        const stopped = await crowded({ ...NARROW, rails: [rail] });
        const error = await rejection(
          stopped.agent.run("Go", { engine, conversation: stopped.conversation }),
        );
        assert.match(error.message, new RegExp(`"${rail.name}" aborted the run at CONTEXT_WINDOW`));
        assert.equal(stopped.talking.requests.length, 0);
      }

      const given: [number, number][] = [];
      const mine = defineRail({ name: "mine", on }, (ctx) => {
        const { messages, estimate, limit } = ctx.inputs;
        given.push([estimate, limit]);
        const note: Message = { id: "note", role: "user", parts: [{ type: "text", text: "MY OWN SUMMARY" }] };
        ctx.inputs.messages = [note, ...messages.slice(-2)];
      });
      const replaced = await crowded({ ...NARROW, rails: [mine] });
      const first = await play(replaced.agent, "Go", engine, replaced.conversation);
      assert.deepEqual(
        contexts(first.events).map(({ action }) => action),
        ["replaced"],
      );
      assert.equal(replaced.talking.summaries().length, 0);
      const [[estimate, limit] = [0, 0]] = given;
      assert.ok(estimate > 800 && limit === 800);
      const [request] = replaced.talking.asked();
      assert.deepEqual(
        request?.prompt.map(({ role }) => role),
        ["user", "user", "assistant", "user"],
      );
      assert.match(lastText(request), /MY OWN SUMMARY/);
      const second = await play(replaced.agent, "More", engine, first.result.conversation);
      assert.deepEqual(contexts(second.events), []);
      assert.match(lastText(replaced.talking.asked()[1]), /MY OWN SUMMARY/);

      const wrong = defineRail({ name: "wrong", on }, (ctx) => {
        ctx.inputs.messages = [...ctx.inputs.messages, { id: "r", role: "tool" } as never];
      });
      const invalid = await crowded({ ...NARROW, rails: [wrong] });
      const error = await rejection(invalid.agent.run("Go", { engine, conversation: invalid.conversation }));
      assert.match(error.message, /"wrong" aborted the run at CONTEXT_WINDOW.*messages/);
      assert.equal(invalid.talking.requests.length, 0);
    },
  ),

  behaviour("R4 CONTEXT_WINDOW fires only where there is something to compact", async (makeEngine) => {
    const fired: string[] = [];
    const watch = defineRail({ name: "watch" }, (ctx) => {
      fired.push(ctx.event);
    });
    const talking = model([{ calls: [{ tool: "fetch", args: { tokens: 5 } }] }, "done", "more"]);
    const agent = make(talking, { budgetAwareness: "limit:90", rails: [watch] });
    const engine = await makeEngine();
    const { result } = await play(agent, "Go", engine);
    await play(agent, "More", engine, result.conversation);
    assert.ok(!fired.includes("CONTEXT_WINDOW") && fired.includes("POST_TOOL_CALL"));
  }),

  behaviour("S6 a sub-agent is measured on its own context", async (makeEngine) => {
    const engine = await makeEngine();
    const talking = scriptedModel(
      [
        (request) => {
          const text = lastText(request);
          const reply = text.includes("Task:")
            ? "child done"
            : text.includes("child done")
              ? "done"
              : undefined;
          const usage = { input: 0, output: 0 };
          return reply === undefined
            ? { calls: [{ tool: "spawn_self", args: { task: "x" } }], usage }
            : { text: reply, usage };
        },
      ],
      { loop: true },
    );
    const agent = make(talking, { budgetAwareness: "per-message", allowSelfSpawn: true });
    const { result } = await play(agent, words(900), engine);
    assert.equal(result.text, "done");
    const child = talking.requests.find((request) => lastText(request).includes("Task:"));
    assert.ok(!lastText(child).includes("[context:"), "a child has a conversation of its own");
    assert.ok(sent(child as ScriptedRequest).tokens < 900);

    const limited = make(talking, { budgetAwareness: "limit:60", allowSelfSpawn: true });
    const { result: second } = await play(limited, words(500), engine);
    assert.equal(second.text, "done");
  }),
];
