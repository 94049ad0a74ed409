import {
  Agent,
  Conversation,
  cont,
  defineRail,
  defineTool,
  postHook,
  preHook,
  type RunResult,
  regenerate,
} from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, play } from "../guards/stage.ts";

const look = defineTool({ name: "look", description: "Looks.", execute: () => "seen" });
const find = defineTool({ name: "find", description: "Finds.", execute: () => "found" });
const LOOK = { calls: [{ tool: "look" }] };

/** What broke each request of a run. */
const broken = ({ promptCache }: RunResult<unknown>) => promptCache.requests.map((one) => one.broken_by);
const prefixes = ({ promptCache }: RunResult<unknown>) =>
  promptCache.requests.map((one) => one.prefix_tokens);

/** Replies with so many input tokens each, so that it shows whose count is reported. */
function counted(...script: (ScriptedStep & (string | object))[]) {
  return script.map((step, i) => {
    const reply = typeof step === "string" ? { text: step } : step;
    return { usage: { input: 100 * (i + 1), output: 5, cachedInput: 10 * i }, ...reply };
  });
}

describe.each(ENGINES)("what a request shares with the one before, on the %s engine", (_name, makeEngine) => {
  const engine = makeEngine({ retry: { retries: 1, baseMs: 0 } });

  test("H5 a request that only adds to the last one has all of it as its prefix, as the provider counted it", async () => {
    const model = scriptedModel(counted(LOOK, LOOK, "Done.", "Again."));
    const agent = new Agent({ name: "a", model, tools: [look] });
    const first = await play(agent, { engine });
    const { conversation } = first.result;
    const second = await agent.run("And now?", { engine, conversation });
    expect(first.result.promptCache).toEqual({
      requests: [
        { step: 1, lane: "main", ...sums(100, 0, 0), broken_by: null },
        { step: 2, lane: "main", ...sums(200, 100, 10), broken_by: null },
        { step: 3, lane: "main", ...sums(300, 200, 20), broken_by: null },
      ],
      input_tokens: 600,
      prefix_tokens: 300,
      cached_tokens: 30,
    });
    expect(second.promptCache.requests).toMatchObject([{ prefix_tokens: 300, broken_by: null }]);
    const events = first.events.flatMap((event) => (event.type === "usage" ? [event.prefix] : []));
    expect(events).toEqual([
      { tokens: 0, broken_by: null },
      { tokens: 100, broken_by: null },
      { tokens: 200, broken_by: null },
    ]);
  });

  test("H5 transient parts of the turn before are what breaks the next one's prefix, named by their hook", async () => {
    const model = scriptedModel(counted(LOOK, "One.", LOOK, "Two."));
    const weather = preHook({ name: "weather" }, (turn) => cont(turn.append(`It rains: ${turn.turnRef}.`)));
    const agent = new Agent({ name: "a", model, tools: [look], hooks: { pre: [weather] } });
    const first = await agent.run("Go.", { engine });
    const second = await agent.run("On.", { engine, conversation: first.conversation });
    expect(broken(first)).toEqual([null, null]);
    expect(broken(second)).toEqual(["hook weather", null]);
    const [shared = 0] = prefixes(second);
    expect(shared).toBeGreaterThan(0);
    expect(shared).toBeLessThan(200);
  });

  test("H5 durable parts break nothing", async () => {
    const model = scriptedModel(counted("One.", "Two."));
    const facts = preHook({ name: "facts", durable: true }, (turn) => cont(turn.append("A fact.")));
    const agent = new Agent({ name: "a", model, hooks: { pre: [facts] } });
    const { conversation } = await agent.run("Go.", { engine });
    expect(broken(await agent.run("On.", { engine, conversation }))).toEqual([null]);
  });

  test("R4 a rail that changes requests is named, and one that changes them alike each time breaks nothing", async () => {
    let requests = 0;
    const stamp = defineRail({ name: "stamp", on: ["PRE_LLM_CALL"] }, (ctx) => {
      requests += 1;
      if (requests !== 2) return;
      const note = { id: "n", role: "user" as const, parts: [{ type: "text" as const, text: "Psst." }] };
      ctx.inputs.messages = [note, ...ctx.inputs.messages];
    });
    const redact = defineRail({ name: "redact", on: ["PRE_LLM_CALL"], priority: 1 }, (ctx) => {
      ctx.inputs.messages = JSON.parse(JSON.stringify(ctx.inputs.messages).replaceAll("secret", "[gone]"));
    });
    const script = counted(LOOK, LOOK, LOOK, LOOK, "Done.");
    const both = new Agent({
      name: "a",
      model: scriptedModel(script),
      tools: [look],
      rails: [stamp, redact],
    });
    const was = "rail stamp changed the request";
    expect(broken(await both.run("The secret.", { engine }))).toEqual([null, was, was, null, null]);
    const one = new Agent({ name: "a", model: scriptedModel(script), tools: [look], rails: [redact] });
    const result = await one.run("The secret.", { engine });
    expect(broken(result)).toEqual([null, null, null, null, null]);
    expect(prefixes(result)).toEqual([0, 100, 200, 300, 400]);
  });

  test("R4 what broke a request that rails changed too is what would have broken it without them", async () => {
    const redact = defineRail({ name: "redact", on: ["PRE_LLM_CALL"] }, (ctx) => {
      ctx.inputs.messages = JSON.parse(JSON.stringify(ctx.inputs.messages).replaceAll("secret", "[gone]"));
    });
    const news = preHook({ name: "news" }, (turn) => cont(turn.append("News.")));
    const model = scriptedModel(counted("One.", "Two."));
    const agent = new Agent({ name: "a", model, rails: [redact], hooks: { pre: [news] } });
    const { conversation } = await agent.run("The secret.", { engine });
    expect(broken(await agent.run("On.", { engine, conversation }))).toEqual(["hook news"]);
  });

  test("R4 a plain hook that changes a request is named as one", async () => {
    const model = scriptedModel(counted("One.", "Two."));
    const agent = new Agent({ name: "a", model });
    let requests = 0;
    agent.hookManager.add("PRE_LLM_CALL", function shorten(ctx) {
      requests += 1;
      if (requests === 2) ctx.inputs.messages = ctx.inputs.messages.slice(-1);
    });
    const { conversation } = await agent.run("Go.", { engine });
    const result = await agent.run("On.", { engine, conversation });
    expect(broken(result)).toEqual(["hook shorten changed the request"]);
    expect(prefixes(result)).toEqual([0]);
  });

  test("H9 tools that came, went or changed are named; what stands before them is still shared", async () => {
    const other = defineTool({ name: "look", description: "Looks again.", execute: () => "seen" });
    const conversation = new Conversation();
    const names: (string | null)[] = [];
    let shared = 0;
    for (const tools of [[look], [look, find], [find], [other]]) {
      const agent = new Agent({ name: "a", model: scriptedModel(counted("Done.")), tools });
      const result = await agent.run("Go.", { engine, conversation });
      names.push(...broken(result));
      if (tools.length === 2) [shared = 0] = prefixes(result);
    }
    expect(names).toEqual([
      null,
      "tools changed: +find",
      "tools changed: -look",
      "tools changed: +look -find",
    ]);
    expect(shared).toBeGreaterThan(0);
    expect(shared).toBeLessThan(100);
  });

  test("H9 the tool that reads artifacts breaks a conversation's prefix once", async () => {
    const long = defineTool({ name: "long", execute: () => "word ".repeat(5_000) });
    const call = { calls: [{ tool: "long" }] };
    const model = scriptedModel(counted(call, call, "Done."));
    const agent = new Agent({ name: "a", model, tools: [long], offloadAboveBytes: 1_000 });
    expect(broken(await agent.run("Go.", { engine }))).toEqual([null, "tools changed: +read_artifact", null]);
  });

  test("other instructions, another model and another agent are named", async () => {
    const conversation = new Conversation();
    const one = scriptedModel(counted("Done."), { loop: true });
    const two = scriptedModel(counted("Done."), { modelId: "two" });
    const results: (string | null)[] = [];
    for (const config of [
      { name: "a", model: one, instructions: "Be kind." },
      { name: "a", model: one, instructions: "Be brief." },
      { name: "a", model: two, instructions: "Be brief." },
      { name: "b", model: one, instructions: "Be kind." },
    ])
      results.push(...broken(await new Agent(config).run("Go.", { engine, conversation })));
    expect(results).toEqual([null, "instructions changed", "model changed", "agent changed to b"]);
  });

  test("a fallback is another model, and so is the way back", async () => {
    const error = Object.assign(new Error("down"), { statusCode: 400 });
    const model = scriptedModel([{ error }, "Done."]);
    const spare = scriptedModel(counted(LOOK), { modelId: "spare" });
    const agent = new Agent({ name: "a", model, fallbackModels: [spare], tools: [look] });
    expect(broken(await agent.run("Go.", { engine }))).toEqual(["model changed", "model changed"]);
  });

  test("S7 a handoff is named", async () => {
    const expert = new Agent({
      name: "expert",
      instructions: "You know.",
      model: scriptedModel(counted("Done.")),
    });
    const model = scriptedModel(
      counted({ calls: [{ tool: "handoff_to_expert", args: { reason: "hard" } }] }),
    );
    const agent = new Agent({ name: "triage", model, handoffs: [expert] });
    expect(broken(await agent.run("Go.", { engine }))).toEqual([null, "handoff to expert"]);
  });

  test("B4 a compaction is named, and only where it was made", async () => {
    const page = defineTool({ name: "page", execute: () => "word ".repeat(400) });
    const call = { calls: [{ tool: "page" }], usage: { input: 0, output: 0 } }; // by our own count
    const model = scriptedModel([call, call, call, call, call, "Done."]);
    const agent = new Agent({
      name: "a",
      model,
      tools: [page],
      contextWindowTokens: 2_000,
      budgetAwareness: "limit:70",
    });
    const { result, events } = await play(agent, { engine });
    const room = events.filter(({ type }) => type === "context").length;
    const all = broken(result);
    expect(room).toBeGreaterThan(0);
    expect(all).toContain("compaction");
    expect(new Set(all)).toEqual(new Set([null, "compaction"]));
  });

  test("H7 a draft and the feedback on it, and a note, are in one request: the next is broken by them", async () => {
    let inject: ((note: string) => Promise<unknown>) | undefined;
    const noting = defineTool({
      name: "noting",
      execute: async () => {
        void inject?.("Mind the gap.");
        inject = undefined;
        return "noted";
      },
    });
    const call = { calls: [{ tool: "noting" }] };
    const model = scriptedModel(counted(call, call, "Draft.", call, "Better."));
    const judge = postHook({ name: "judge" }, (turn) =>
      turn.answer === "Draft." ? regenerate("Make it better.") : cont(turn),
    );
    const agent = new Agent({
      name: "a",
      model,
      tools: [noting],
      hooks: { post: [judge] },
      maxRegenerations: 2,
    });
    const run = agent.stream("Go.", { engine });
    inject = (note) => run.inject(note);
    const result = await run.result;
    expect(broken(result)).toEqual([null, null, "note", null, "feedback"]);
  });

  test("P1 the planner has a prefix of its own; its plan is what breaks the executor's next turn", async () => {
    const planner = scriptedModel(counted(LOOK, "1. Go", LOOK, "1. On"));
    const model = scriptedModel(counted(LOOK, "One.", LOOK, "Two."), { modelId: "executor" });
    const agent = new Agent({
      name: "a",
      model,
      planningEnabled: true,
      planningModel: planner,
      tools: [look],
    });
    const first = await agent.run("Go.", { engine });
    const second = await agent.run("On.", { engine, conversation: first.conversation });
    const lanes = ({ promptCache }: RunResult<unknown>) =>
      promptCache.requests.map(({ lane, broken_by }) => `${lane} ${broken_by}`);
    expect(lanes(first)).toEqual(["planner null", "planner null", "main null", "main null"]);
    expect(lanes(second)).toEqual(["planner planner", "planner null", "main planner", "main null"]);
  });

  test("S1 a child's requests are compared with its own only", async () => {
    const model = scriptedModel(
      counted({ calls: [{ tool: "spawn_self", args: { task: "Look." } }] }, LOOK, "Seen.", "Done."),
    );
    const agent = new Agent({ name: "a", model, tools: [look], allowSelfSpawn: true });
    const { result, events } = await play(agent, { engine });
    const usage = events.filter((event) => event.type === "usage").filter(({ prefix }) => prefix);
    expect(usage.map(({ path, prefix }) => [path.length, prefix?.tokens, prefix?.broken_by])).toEqual([
      [0, 0, null],
      [1, 0, null],
      [1, 200, null],
      [0, 100, null],
    ]);
    expect(result.promptCache.requests).toHaveLength(2);
  });
});

function sums(input_tokens: number, prefix_tokens: number, cached_tokens: number) {
  return { model: "scripted:scripted", input_tokens, prefix_tokens, cached_tokens };
}
