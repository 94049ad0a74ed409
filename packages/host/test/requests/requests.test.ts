import {
  Agent,
  cont,
  defineRail,
  defineTool,
  type Message,
  postHook,
  preHook,
  regenerate,
  skip,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { rows } from "../../src/store/index.ts";
import { databaseFile } from "../engine/support/database.ts";
import { hostOf } from "../engine/support/hosts.ts";
import { until } from "../engine/support/until.ts";
import { rebuilt, received } from "./support/compare.ts";
import { anyAgent, isAsSent, placesOf, sentTo } from "./support/stage.ts";

const look = defineTool({
  name: "look",
  description: "Looks something up.",
  input: z.object({ what: z.string() }),
  effect: "none",
  execute: ({ what }) => `found ${what}`,
});

const text = (id: string, words: string): Message => ({
  id,
  role: "user",
  parts: [{ type: "text", text: words }],
});

/** Masks a word, leaves the oldest message out from the second request on, and says something of its own each time. */
const meddler = (word = "Oslo", own = "aside") =>
  defineRail({ name: "meddler", on: ["PRE_LLM_CALL"] }, (ctx) => {
    const masked = ctx.inputs.messages.map((message) =>
      JSON.stringify(message).includes(word)
        ? (JSON.parse(JSON.stringify(message).replaceAll(word, "[city]")) as Message)
        : message,
    );
    const kept = masked.length > 2 ? masked.slice(1) : masked;
    ctx.inputs.messages = [...kept, text("own", `${own} ${ctx.inputs.messages.length}`)];
  });

const call = (what: string) => ({ calls: [{ tool: "look", args: { what } }] });

describe("R4 what was really sent is rebuilt from the run's record", () => {
  test("R4 tools, injected arguments, retries and a second turn: during the run, after it, and in another process", async () => {
    const path = databaseFile();
    const seen: unknown[] = [];
    const overloaded = Object.assign(new Error("overloaded"), { statusCode: 529, isRetryable: true });
    const model = scriptedModel([
      call("a"),
      { error: overloaded },
      async (request) => {
        const [run] = await trackside.runs.list();
        const found = await trackside.runs.requests(run?.id ?? "");
        seen.push(found.at(-1)?.usage, found.map(rebuilt), received(request.options));
        return { text: "so it is", usage: { input: 70, output: 7 } };
      },
      "and so on",
    ]);
    const agent = new Agent({
      name: "clerk",
      model,
      instructions: "Be brief.",
      maxTokens: 500,
      temperature: 0.5,
      tools: [look],
      injectedToolArgs: { why: "Why it is called." },
    });
    const trackside = hostOf(path, [agent]);
    const { conversation, runId } = await trackside.run("clerk", "Look at it");
    // While the answer was on its way, the request was there already.
    const [usage, during, got] = seen;
    expect(usage).toBeNull();
    expect(during).toEqual([...sentTo(model).slice(0, 2), got]);

    const requests = await trackside.runs.requests(runId);
    expect(requests.map(({ key, attempt, step }) => [key, step, attempt])).toEqual([
      ["1/model/1", 1, 1],
      ["2/model/1", 2, 1],
      ["2/model/2", 2, 2],
    ]);
    expect(requests[2]).toMatchObject({
      kind: "step",
      agent: "clerk",
      model: "scripted:scripted",
      system: "Be brief.",
      path: [],
      max_output_tokens: 500,
      usage: { input_tokens: 70, output_tokens: 7 },
      complete: true,
    });
    expect(requests[2]?.cache_prefix?.broken_by).toBeNull();
    expect(requests[0]?.tools[0]?.input_schema).toMatchObject({ properties: { what: {}, why: {} } });

    await isAsSent(trackside, runId, model);
    const { result } = await trackside.conversations.send(conversation.id, "Go on");
    const later = await result();
    const asked = await trackside.runs.requests(later.runId);
    expect(asked.map(rebuilt)).toEqual(sentTo(model).slice(3));
    expect(await trackside.runs.requests(runId, { step: 2 })).toEqual(requests.slice(1));

    const other = hostOf(path, [agent]);
    expect(await other.runs.requests(runId)).toEqual(requests);
    await expect(other.runs.requests(runId, { tenant: "another" })).rejects.toThrow(/no run/);
  });

  test("R4 rails that edit, leave out and add: what they made of it, and nothing of it in the log", async () => {
    const path = databaseFile();
    const model = scriptedModel([call("Oslo"), call("Oslo again"), "done", "more"]);
    const agent = new Agent({
      name: "clerk",
      model,
      tools: [look],
      rails: [meddler()],
      auditTransient: true,
    });
    const trackside = hostOf(path, [agent]);
    const { runId, conversation } = await trackside.run("clerk", "How is Oslo?");
    await isAsSent(trackside, runId, model);
    expect(JSON.stringify(model.requests)).not.toContain("Oslo");
    expect(JSON.stringify(await trackside.conversations.messages(conversation.id))).not.toContain("aside");
    // The user's message was masked three times, and is kept once.
    expect(placesOf(path, "How is [city]?")).toEqual({ commits: 1 });

    const { result } = await trackside.conversations.send(conversation.id, "And now?");
    const later = await result();
    const [request] = await trackside.runs.requests(later.runId);
    expect(request && rebuilt(request)).toEqual(sentTo(model)[3]);
    expect(request?.complete).toBe(true);
  });

  test("R4 a request that nobody changed has nothing more in its row", async () => {
    const path = databaseFile();
    const watching = defineRail({ name: "watching", on: ["PRE_LLM_CALL"] }, (ctx) => {
      if (ctx.inputs.messages.length === 0) throw new Error("there is always something");
    });
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel([call("a"), "done"]),
      tools: [look],
      rails: [watching],
    });
    const trackside = hostOf(path, [agent]);
    const { runId } = await trackside.run("clerk", "Go");
    const requests = await trackside.runs.requests(runId);
    expect(requests.map(({ complete }) => complete)).toEqual([true, true]);
    expect(placesOf(path, '"sent":')).toEqual({});
    expect(placesOf(path, ".sent.")).toEqual({});
  });

  test("R4 what was not sent is not among the requests", async () => {
    const stops = defineRail({ name: "stops", on: ["PRE_LLM_CALL"] }, (ctx) =>
      ctx.inputs.messages.length > 1 ? skip("", { replacement: "enough" }) : undefined,
    );
    const model = scriptedModel([call("a")]);
    const agent = new Agent({ name: "clerk", model, tools: [look], rails: [stops] });
    const trackside = hostOf(databaseFile(), [agent]);
    const { runId, output } = await trackside.run("clerk", "Go");
    expect(output).toBe("enough");
    await isAsSent(trackside, runId, model);
  });

  test("R4 P1 the planner's requests come first, and the plan is there after the run", async () => {
    const planningModel = scriptedModel([call("first"), "1. Look\n2. Answer"], { modelId: "planner" });
    const model = scriptedModel([call("a"), "done"]);
    const agent = new Agent({ name: "clerk", model, planningModel, planningEnabled: true, tools: [look] });
    const trackside = hostOf(databaseFile(), [agent]);
    const { runId } = await trackside.run("clerk", "Go");
    const requests = await isAsSent(trackside, runId, planningModel, model);
    expect(requests.map(({ kind, path }) => [kind, ...path])).toEqual([
      ["planner", "planner"],
      ["planner", "planner"],
      ["step"],
      ["step"],
    ]);
    expect(JSON.stringify(requests[2]?.messages)).toContain("1. Look");
  });

  test("R4 B2 B4 summaries are requests too, advisories are in those they went along with", async () => {
    const reply = (words: string, input: number) => ({ text: words, usage: { input, output: 5 } });
    const long = "word ".repeat(300);
    const model = scriptedModel(
      [({ prompt }) => reply(prompt[0]?.role === "system" ? "A SUMMARY" : long, 0)],
      { loop: true },
    );
    const agent = new Agent({
      name: "clerk",
      model,
      contextWindowTokens: 2500,
      budgetAwareness: "per-message",
      auditTransient: true,
    });
    const trackside = hostOf(databaseFile(), [agent]);
    let { conversation, runId } = await trackside.run("clerk", long);
    const runs = [runId];
    for (let turn = 0; turn < 5; turn++) {
      const sent = await trackside.conversations.send(conversation.id, long);
      ({ conversation, runId } = await (await sent).result());
      runs.push(runId);
    }
    const requests = (await Promise.all(runs.map((id) => trackside.runs.requests(id)))).flat();
    expect(requests.some(({ kind, system }) => kind === "summary" && system !== null)).toBe(true);
    expect(requests.filter(({ complete }) => !complete)).toEqual([]);
    expect(requests.map(rebuilt)).toEqual(sentTo(model));
  });

  test("R4 S7 after a handoff, with an answer that had to be put right", async () => {
    const target = scriptedModel(['{"city":5}', '{"city":"Oslo"}']);
    const billing = new Agent({
      name: "billing",
      model: target,
      instructions: "You do bills.",
      auditTransient: true,
    });
    const model = scriptedModel([{ calls: [{ tool: "handoff_to_billing", args: { reason: "bills" } }] }]);
    const agent = new Agent({
      name: "clerk",
      model,
      instructions: "You are the clerk.",
      handoffs: [billing],
      outputSchema: z.object({ city: z.string() }),
      auditTransient: true,
    });
    const trackside = hostOf(databaseFile(), [anyAgent(agent), anyAgent(billing)]);
    const { runId } = await trackside.run("clerk", "Go");
    const requests = await isAsSent(trackside, runId, model, target);
    expect(requests.map(({ agent: who, system }) => [who, system])).toEqual([
      ["clerk", "You are the clerk."],
      ["billing", "You do bills."],
      ["billing", "You do bills."],
    ]);
    expect(requests[2]?.output_schema).toMatchObject({ properties: { city: { type: "string" } } });
  });

  test("R4 S4 a sub-agent's are with its own run", async () => {
    const model = scriptedModel([
      { calls: [{ tool: "spawn_self", args: { task: "Look at Oslo" } }] },
      call("Oslo"),
      "rain",
      "It rains.",
    ]);
    const agent = new Agent({
      name: "clerk",
      model,
      tools: [look],
      allowSelfSpawn: true,
      rails: [meddler()],
      auditTransient: true,
    });
    const trackside = hostOf(databaseFile(), [agent]);
    const { runId } = await trackside.run("clerk", "Go");
    const [child] = await trackside.runs.list({ parent: runId });
    const own = await trackside.runs.requests(runId);
    const its = await trackside.runs.requests(child?.id ?? "");
    expect([...own, ...its].every(({ complete }) => complete)).toBe(true);
    expect(its[0]?.path).toHaveLength(1);
    const [first, ...rest] = own;
    expect([first, ...its, ...rest].flatMap((one) => (one ? [rebuilt(one)] : []))).toEqual(sentTo(model));
  });

  test("R4 X6 X13 steered, with a note, and retried from a step on another branch", async () => {
    const path = databaseFile();
    const told: Promise<unknown>[] = [];
    const ask = defineTool({
      name: "ask",
      effect: "none",
      execute: (_args, { runId }) => {
        told.push(trackside.steer(runId, "Hurry"), trackside.inject(runId, "A note"));
        return until(async () => ((await queued()) >= 2 ? "asked" : undefined));
      },
    });
    const queued = async () =>
      (await trackside.engine.store.read((db) => rows(db.selectFrom("inbox").select("id")))).length;
    const model = scriptedModel([{ calls: [{ tool: "ask" }] }, call("a"), "done", "done again"]);
    const agent = new Agent({ name: "clerk", model, tools: [ask, look], auditTransient: true });
    const trackside = hostOf(path, [agent]);
    const { runId } = await trackside.run("clerk", "Go");
    await Promise.all(told);
    await isAsSent(trackside, runId, model);
    expect(JSON.stringify(model.requests[1]?.prompt)).toMatch(/Hurry.*A note/);

    const again = await trackside.runs.retry(runId, { fromStep: 3 });
    await trackside.runs.result(again.id);
    const [request, ...others] = await trackside.runs.requests(again.id);
    expect(others).toEqual([]);
    expect(request && rebuilt(request)).toEqual(sentTo(model)[3]);
  });

  test("R4 X3 a call that died with its process is made again: both are there, and what is unknown of the first", async () => {
    const path = databaseFile();
    const stuck = scriptedModel([call("Oslo"), { hang: true }]);
    const config = { name: "clerk", tools: [look], rails: [meddler()], auditTransient: true };
    const first = hostOf(path, [new Agent({ ...config, model: stuck })]);
    const { runId: id } = await first.start("clerk", "Go");
    await until(async () => (stuck.requests.length === 2 ? true : undefined));
    const open = await first.runs.requests(id);
    expect(open.at(-1)).toMatchObject({ key: "2/model/1", complete: false, usage: null });
    expect(open.at(-1)?.missing?.[0]).toMatch(/not known yet/);
    await first.close({ graceMs: 0 });

    const model = scriptedModel(["done"]);
    const second = hostOf(path, [new Agent({ ...config, model })]);
    await second.open();
    await until(async () => ((await second.runs.get(id)).ended_at === null ? undefined : true));
    const found = await second.runs.requests(id);
    expect(found.map(({ key, complete }) => [key, complete])).toEqual([
      ["1/model/1", true],
      ["2/model/1", false],
      ["2/model/2", true],
    ]);
    expect(found[1]?.missing?.[0]).toMatch(/unknown: the process that called the model died/);
    expect(found[2] && rebuilt(found[2])).toEqual(sentTo(model)[0]);
  });

  test("R4 H8 what a provider signed stays sealed", async () => {
    const path = databaseFile();
    const parts = (words: string) => ({
      parts: [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "hm" },
        { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature: "SIGNED" } } },
        { type: "tool-call", toolCallId: "c", toolName: "look", input: JSON.stringify({ what: words }) },
        {
          type: "finish",
          finishReason: { unified: "tool-calls", raw: undefined },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
        },
      ] as const,
    });
    const model = scriptedModel([parts("Oslo"), "done"]);
    const agent = new Agent({
      name: "clerk",
      model,
      tools: [look],
      rails: [meddler()],
      auditTransient: true,
    });
    const trackside = hostOf(path, [agent]);
    const { runId } = await trackside.run("clerk", "Go");
    expect(JSON.stringify(model.requests[1])).toContain("SIGNED");
    const requests = await isAsSent(trackside, runId, model);
    expect(JSON.stringify(requests)).toContain('"signed":true');
    expect(JSON.stringify(requests)).not.toContain("SIGNED");
    expect(placesOf(path, "SIGNED")).toEqual({}); // nor where a rail's change has it
  });

  test("R4 X2 without the agent's code its words are there, and what is missing is said", async () => {
    const path = databaseFile();
    const model = scriptedModel([call("a"), "done"]);
    const rails = [defineRail({ name: "start", on: ["START", "FINISHED"] }, () => undefined)];
    const agent = new Agent({ name: "clerk", model, instructions: "Be brief.", tools: [look], rails });
    const { runId } = await hostOf(path, [agent]).run("clerk", "Go");
    const other = hostOf(path, []);
    const found = await other.runs.requests(runId);
    expect(found.map(({ system, complete, tools }) => [system, complete, tools])).toEqual([
      ["Be brief.", false, []],
      ["Be brief.", false, []],
    ]);
    expect(found[0]?.missing).toEqual([
      'The tools as they were are not known here: there is no agent "clerk" here.',
    ]);
    expect(found.map((one) => rebuilt(one).messages)).toEqual(sentTo(model).map(({ messages }) => messages));
  });
});

describe("H4 at the end of a run what was transient is gone from its requests", () => {
  const SECRET = "%secret%";
  const make = (auditTransient: boolean) => {
    const model = scriptedModel([call("Oslo"), "draft", "done"]);
    const agent = new Agent({
      name: "clerk",
      model,
      tools: [look],
      rails: [meddler("Oslo", SECRET)],
      hooks: {
        pre: [preHook({ name: "memory" }, (turn) => cont(turn.append(`remember ${SECRET}`)))],
        post: [
          postHook({ name: "check" }, (turn) =>
            turn.answer === "draft" ? regenerate("not that") : cont(turn),
          ),
        ],
      },
      auditTransient,
    });
    return { model, agent };
  };

  test("R4 H4 with audit_transient everything is there", async () => {
    const { model, agent } = make(true);
    const trackside = hostOf(databaseFile(), [agent]);
    const { runId } = await trackside.run("clerk", "Go");
    await isAsSent(trackside, runId, model);
  });

  test("R4 H4 X12 without it a sentence says what is gone, and the database has nothing of it", async () => {
    const path = databaseFile();
    const { model, agent } = make(false);
    const trackside = hostOf(path, [agent]);
    const { runId, conversation } = await trackside.run("clerk", "Go");
    const requests = await trackside.runs.requests(runId);
    expect(requests.map(({ complete }) => complete)).toEqual([false, false, false]);
    expect(requests.map(({ missing }) => missing?.[0])).toEqual([
      "Gone with the end of the run, since the agent does not have audit_transient: 1 transient part, 1 message that rails or hooks changed or added.",
      "Gone with the end of the run, since the agent does not have audit_transient: 1 transient part, 3 messages that rails or hooks changed or added.",
      "Gone with the end of the run, since the agent does not have audit_transient: 1 transient part, 1 rejected draft, 3 messages that rails or hooks changed or added.",
    ]);
    expect(JSON.stringify(model.requests)).toContain(SECRET);
    expect(JSON.stringify(requests)).not.toContain(SECRET);
    expect(placesOf(path, SECRET)).toEqual({});
    expect(placesOf(path, "[city]")).toEqual({});
    // What is left is as it was sent.
    expect(JSON.stringify(requests[0]?.messages)).toContain("Go");

    await trackside.conversations.delete(conversation.id);
    await expect(trackside.runs.requests(runId)).rejects.toThrow(/no run/);
    expect(placesOf(path, ".sent.")).toEqual({});
  });

  test("R4 H4 a large change is kept beside the rows, and goes with the run too", async () => {
    const path = databaseFile();
    const large = SECRET.repeat(3000);
    const kept: unknown[] = [];
    const model = scriptedModel([
      call("a"),
      () => {
        kept.push(placesOf(path, large));
        return "done";
      },
    ]);
    const agent = new Agent({ name: "clerk", model, tools: [look], rails: [meddler("Oslo", large)] });
    const trackside = hostOf(path, [agent]);
    const { runId: id } = await trackside.run("clerk", "Go");
    expect(kept).toEqual([{ artifacts: 1 }]);
    const requests = await trackside.runs.requests(id);
    expect(requests.map(({ complete }) => complete)).toEqual([false, false]);
    expect(placesOf(path, SECRET)).toEqual({});
  });
});
