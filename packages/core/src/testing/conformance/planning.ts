import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { streamTransformer } from "../../bind-guards.ts";
import { postHook, preHook } from "../../hooks/pipeline-hooks.ts";
import { cont, regenerate } from "../../hooks/turn.ts";
import { PLANNER_PROMPT } from "../../planning/prompt.ts";
import { defineRail } from "../../rails/rail.ts";
import { abort, skip } from "../../rails/verdicts.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import { defineTool } from "../../tools/define-tool.ts";
import {
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "../scripted-model.ts";
import { behaviour, collect, rejection, trace, until } from "./behaviour.ts";

/** Anything the planner says, writes or is told has this in it; nobody else's text does. */
const MARK = "%planner%";
const THOUGHT = `1. Look around ${MARK}kept\n2. Answer`;
const PLAN = { steps: [{ title: `Look around ${MARK}kept` }, { title: "Answer" }] };

const look = defineTool({
  name: "look",
  input: z.object({ at: z.string().default("") }),
  effect: "none",
  execute: ({ at }) => `seen ${at}`,
});

/** A planner with its own model, and an executor that answers at once unless told otherwise. */
function pair(planner: readonly ScriptedStep[], executor: readonly ScriptedStep[] = ["done"]) {
  return { planningModel: scriptedModel(planner), model: scriptedModel(executor) };
}

function systemOf({ prompt }: ScriptedRequest): string {
  const [first] = prompt;
  return first?.role === "system" ? first.content : "";
}

function texts({ prompt }: ScriptedRequest): string[] {
  return prompt.flatMap((message) =>
    message.role === "user"
      ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : []))
      : [],
  );
}

/** How often the planner's words are in what the executor was sent: in the plan, and nowhere else. */
function marks(requests: readonly ScriptedRequest[]): number[] {
  return requests.map(({ prompt }) => JSON.stringify(prompt).split(MARK).length - 1);
}

function planOf(events: readonly object[]): Extract<DurableEvent, { type: "plan" }>[] {
  return (events as DurableEvent[]).filter((event) => event.type === "plan"); // live events have other types
}

/** Every request gives each call its result, right behind it. */
function assertPaired(model: ScriptedModel): void {
  for (const { prompt } of model.requests) {
    for (const [i, message] of prompt.entries()) {
      if (message.role !== "assistant") continue;
      const calls = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
      const next = prompt[i + 1];
      const results =
        next?.role === "tool"
          ? next.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []))
          : [];
      assert.deepEqual(results, calls);
    }
  }
}

/** The planning phase (P). */
export const planning = [
  behaviour(
    "P1 P2 P6 E2 the plan comes before the first step, from a lane of its own, and nothing else of it stays",
    async (make) => {
      const { model, planningModel } = pair(
        [{ text: `${MARK} hm`, calls: [{ tool: "look", args: { at: MARK } }] }, THOUGHT],
        [{ calls: [{ tool: "look", args: { at: "here" } }] }, "done"],
      );
      const memory = preHook({ name: "memory" }, (turn) => cont(turn.append("remember")));
      const agent = new Agent({
        name: "a",
        model,
        planningModel,
        planningEnabled: true,
        tools: [look],
        hooks: { pre: [memory] },
      });
      const engine = await make();
      const stream = agent.stream("Go", { engine });
      const events = await collect(stream);
      const result = await stream.result;

      const durable = events.filter((event) => "seq" in event);
      const own = durable.filter((event) => event.path.length === 0);
      const aside = durable.filter((event) => event.path.length > 0);
      assert.deepEqual(
        own.map(({ type }) => type).filter((type) => ["status", "plan", "step"].includes(type)),
        ["status", "plan", "step", "step", "step", "step", "status"],
      );
      assert.deepEqual([...new Set(aside.map(({ path }) => path.join("/")))], ["planner"]);
      assert.deepEqual(trace(aside), [
        "step:1:started",
        "usage",
        "text",
        "tool_call:look",
        "tool_result:look:success",
        "step:1:completed",
        "step:2:started",
        "usage",
        "text",
        "step:2:completed",
      ]);
      // Everything of the planner is between the start and the plan.
      const order = [own[0], aside[0], aside.at(-1), planOf(own)[0]].map((event) => event?.seq ?? 0);
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
      assert.deepEqual(
        durable.map(({ seq }) => seq),
        durable.map((_, i) => i + 1),
      );

      assert.deepEqual(result.plan, PLAN);
      assert.deepEqual(
        planOf(events).map(({ plan }) => plan),
        [PLAN],
      );
      assert.ok(!JSON.stringify([result.messages, result.conversation]).includes(MARK));
      assert.equal(result.steps, 2);
      assert.equal(result.usage.model_calls, 4);

      // Behind the user's message and the transient parts, the same in every request; a later turn has none of it.
      assert.deepEqual(marks(model.requests), [1, 1]);
      for (const request of model.requests) {
        const [go, remember, plan = ""] = texts(request);
        assert.deepEqual([go, remember], ["Go", "remember"]);
        assert.match(plan, /^<plan>[\s\S]*1\. Look around %planner%kept\n2\. Answer\n<\/plan>$/);
      }
      assert.equal(
        texts(model.requests[0] as ScriptedRequest)[2],
        texts(model.requests[1] as ScriptedRequest)[2],
      );
      const plain = scriptedModel(["fine"]);
      const later = new Agent({ name: "a", model: plain, tools: [look] });
      const { messages } = await later.run("More", { engine, conversation: result.conversation });
      assert.equal(messages.length, 2);
      assert.deepEqual(marks(plain.requests), [0]);
    },
  ),

  behaviour("P1 without planning there is no plan, and no planner", async (make) => {
    const { model, planningModel } = pair([THOUGHT]);
    const agent = new Agent({ name: "a", model, planningModel, planningEnabled: false });
    const stream = agent.stream("Go", { engine: await make() });
    const events = await collect(stream);
    assert.equal((await stream.result).plan, null);
    assert.deepEqual(planOf(events), []);
    assert.equal(planningModel.requests.length, 0);
  }),

  behaviour("P1 a plan is made once per turn: not again for an answer that is sent back", async (make) => {
    const { model, planningModel } = pair([THOUGHT, "1. Another"], ["bad", "good", "later"]);
    const strict = postHook({ name: "strict" }, (turn) =>
      turn.answer === "bad" ? regenerate("be good") : cont(turn),
    );
    const agent = new Agent({
      name: "a",
      model,
      planningModel,
      planningEnabled: true,
      hooks: { post: [strict] },
    });
    const engine = await make();
    const { conversation } = await agent.run("Go", { engine });
    assert.equal(planningModel.requests.length, 1);
    assert.deepEqual(marks(model.requests), [1, 1]);

    // The next turn has a plan of its own, and its planner sees what was said, not what was planned.
    const next = await agent.run("And now?", { engine, conversation });
    assert.deepEqual(next.plan, { steps: [{ title: "Another" }] });
    assert.deepEqual(marks([...model.requests.slice(2), ...planningModel.requests.slice(1)]), [0, 0]);
    assert.deepEqual(texts(planningModel.requests[1] as ScriptedRequest), ["Go", "And now?"]);
  }),

  behaviour("P1 S7 X6 steering and handoff do not plan again, and keep the plan", async (make) => {
    const wait = defineTool({
      name: "wait",
      effect: "none",
      execute: () => new Promise<string>((resolve) => setTimeout(() => resolve("waited"), 2)),
    });
    const other = scriptedModel(["theirs"]);
    const member = new Agent({ name: "other", model: other, planningEnabled: true });
    const { planningModel } = pair([THOUGHT]);
    // It waits until it is told to hurry, and then lets somebody else do it.
    const model = scriptedModel(
      [
        ({ prompt }) =>
          JSON.stringify(prompt).includes("Hurry")
            ? { calls: [{ tool: "handoff_to_other", args: { reason: "theirs" } }] }
            : { calls: [{ tool: "wait" }] },
      ],
      { loop: true },
    );
    const agent = new Agent({
      name: "a",
      model,
      planningModel,
      planningEnabled: true,
      tools: [wait],
      handoffs: [member],
      maxSteps: 2_000,
    });
    const stream = agent.stream("Go", { engine: await make() });
    let receipt: Promise<unknown> | undefined;
    const events: object[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === "tool_call") receipt ??= stream.steer("Hurry");
    }
    const result = await stream.result;
    await receipt;
    assert.equal(result.text, "theirs");
    assert.equal(planOf(events).length, 1);
    assert.equal(planningModel.requests.length, 1);
    const requests = [...model.requests, ...other.requests];
    assert.deepEqual(new Set(marks(requests)), new Set([1]));
  }),

  behaviour(
    "P3 the planner's system prompt is the instructions and how to plan; its model is its own",
    async (make) => {
      const ways = [
        { planningInstructions: "", tail: PLANNER_PROMPT },
        { planningInstructions: "Plan like a pirate.", tail: "Plan like a pirate." },
      ];
      const engine = await make();
      for (const { planningInstructions, tail } of ways) {
        const { model, planningModel } = pair([THOUGHT]);
        const agent = new Agent({
          name: "a",
          model,
          planningModel,
          instructions: "Be kind.",
          planningEnabled: true,
          planningInstructions,
        });
        await agent.run("Go", { engine });
        assert.deepEqual(planningModel.requests.map(systemOf), [`Be kind.\n\n${tail}`]);
        assert.deepEqual(model.requests.map(systemOf), ["Be kind."]);
      }
      const both = scriptedModel([THOUGHT, "done"]);
      const agent = new Agent({ name: "a", model: both, planningEnabled: true });
      const result = await agent.run("Go", { engine });
      assert.deepEqual(result.plan, PLAN);
      assert.deepEqual(both.requests.map(systemOf), [PLANNER_PROMPT, ""]);
    },
  ),

  behaviour(
    "P4 T3 the planner has the executor's tools, but none that start or name an agent",
    async (make) => {
      const got: unknown[] = [];
      const note = defineTool({
        name: "note",
        input: z.object({ n: z.number() }),
        effect: "none",
        execute: (args) => {
          got.push(args);
          return "noted";
        },
      });
      const { model, planningModel } = pair([
        {
          calls: [
            { tool: "note", args: { n: 1, why: "to know" } },
            { tool: "spawn_self", args: { task: "x" } },
            { tool: "handoff_to_other" },
          ],
        },
        THOUGHT,
      ]);
      const agent = new Agent({
        name: "a",
        model,
        planningModel,
        planningEnabled: true,
        tools: [note],
        allowSelfSpawn: true,
        allowParallelSubagents: true,
        handoffs: [new Agent({ name: "other", model: scriptedModel([]) })],
        injectedToolArgs: { why: "Why you do this." },
      });
      const stream = agent.stream("Go", { engine: await make() });
      const events = await collect(stream);
      const result = await stream.result;
      assert.deepEqual(result.plan, PLAN);
      assert.deepEqual(got, [{ n: 1 }]);
      for (const { tools } of planningModel.requests)
        assert.deepEqual(
          tools.map(({ name }) => name),
          ["note"],
        );
      assert.match(JSON.stringify(planningModel.requests[0]?.tools), /Why you do this/);
      assert.ok((model.requests[0]?.tools.length ?? 0) > 1);
      const results = events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
      assert.deepEqual(results.map(({ tool, error }) => [tool, error]).toSorted(), [
        ["handoff_to_other", 'There is no tool "handoff_to_other". Known tools: note.'],
        ["note", null],
        ["spawn_self", 'There is no tool "spawn_self". Known tools: note.'],
      ]);
      const noted = results.find(({ tool }) => tool === "note");
      assert.deepEqual(noted?.metadata.injected_args, { why: "to know" });
      assert.deepEqual(
        result.messages.map(({ role }) => role),
        ["user", "assistant"],
      );
      assertPaired(planningModel);
    },
  ),

  behaviour("P4 the planner has five steps; after them the run goes on without a plan", async (make) => {
    const steps = Array.from({ length: 9 }, () => ({ calls: [{ tool: "look" }] }));
    const { model, planningModel } = pair(steps);
    const agent = new Agent({
      name: "a",
      model,
      planningModel,
      planningEnabled: true,
      tools: [look],
      maxSteps: 2,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const events = await collect(stream);
    const result = await stream.result;
    assert.equal(planningModel.requests.length, 5);
    assert.deepEqual([result.text, result.plan, result.usage.model_calls], ["done", null, 6]);
    const [plan] = planOf(events);
    assert.equal(plan?.plan, null);
    assert.match(plan?.failure?.message ?? "", /came to no plan/);
  }),

  behaviour(
    "P4 rails and gates are on the planner's calls; a rejected or skipped one never runs",
    async (make) => {
      let ran = 0;
      const pay = defineTool({
        name: "pay",
        execute: () => {
          ran += 1;
          return "paid";
        },
      });
      const points: string[] = [];
      const seen = defineRail({ name: "seen" }, (ctx) => {
        points.push(ctx.event);
      });
      const guard = defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, (ctx) =>
        ctx.inputs.toolName === "look" ? skip("not now") : undefined,
      );
      const { model, planningModel } = pair([
        { calls: [{ tool: "pay" }, { tool: "look" }] },
        { calls: [{ tool: "pay" }] },
        THOUGHT,
      ]);
      const agent = new Agent({
        name: "a",
        model,
        planningModel,
        planningEnabled: true,
        tools: [pay, look],
        hitlTools: ["pay"],
        rails: [seen, guard],
      });
      const choices = ["reject", "approve"];
      const asked: string[] = [];
      const stream = agent.stream("Go", {
        engine: await make(),
        approve: ({ call_id, tool }) => {
          asked.push(`${tool} ${call_id?.includes(".planner.")}`);
          return { choice: choices.shift() ?? "reject", reason: "because" };
        },
      });
      const events = await collect(stream);
      await stream.result;
      assert.equal(ran, 1);
      assert.deepEqual(asked, ["pay true", "pay true"]);
      const results = events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
      assert.deepEqual(results.map(({ metadata }) => metadata.status).toSorted(), [
        "rejected",
        "rejected",
        "success",
      ]);
      for (const event of events) if (event.type === "approval") assert.deepEqual(event.path, ["planner"]);
      assert.equal(points.filter((point) => point === "PRE_LLM_CALL").length, 4);
      assert.equal(points.filter((point) => point === "START").length, 1);
      assert.equal(points.filter((point) => point === "FINISHED").length, 1);
      assertPaired(planningModel);
    },
  ),

  behaviour("P4 R14 an abort at any point of the planner aborts the run", async (make) => {
    const engine = await make();
    for (const point of ["PRE_LLM_CALL", "POST_LLM_CALL", "PRE_TOOL_CALL", "POST_TOOL_CALL"] as const) {
      const { model, planningModel } = pair([{ calls: [{ tool: "look" }] }, THOUGHT]);
      const stop = defineRail({ name: "stop", on: [point] }, () => abort("no"));
      const agent = new Agent({
        name: "a",
        model,
        planningModel,
        planningEnabled: true,
        tools: [look],
        rails: [stop],
      });
      const stream = agent.stream("Go", { engine });
      const events = await collect(stream);
      const error = await rejection(stream.result);
      assert.match(error.message, new RegExp(`^The rail "stop" aborted the run at ${point}: no`));
      assert.deepEqual(planOf(events), []);
      assert.equal(model.requests.length, 0);
      assert.deepEqual(trace(events).slice(-2), ["error:rail_aborted", "status:error"]);
      const calls = events.filter((event) => event.type === "tool_call").length;
      assert.equal(events.filter((event) => event.type === "tool_result").length, calls);
    }
  }),

  behaviour("P5 a planner that fails says so in its plan event, and the run goes on", async (make) => {
    const ways: { planner: ScriptedStep[]; why: RegExp; config?: object }[] = [
      { planner: [{ error: new Error("down") }], why: /down/ },
      { planner: [""], why: /came to no plan/ },
      { planner: [{ reasoning: "hm", text: "" }], why: /came to no plan/ },
      { planner: [{ text: "1. Lo", errorAfter: 4, error: new Error("cut") }], why: /cut/ },
      {
        planner: [{ error: new Error("maximum context length is 10 tokens") }],
        why: /maximum context length/,
      },
      { planner: [], why: /token budget/, config: { instructions: "word ".repeat(40) } },
    ];
    const engine = await make({
      retry: { retries: 0 },
      modelTable: {
        "scripted:small": { window: 100, output: 10 },
        "scripted:large": { window: 9_000, output: 10 },
      },
    });
    for (const { planner, why, config = {} } of ways) {
      const model = scriptedModel(["done"], { modelId: "large" });
      const planningModel = scriptedModel(planner, { modelId: "small" });
      const agent = new Agent({
        name: "a",
        model,
        planningModel,
        planningEnabled: true,
        ...("instructions" in config ? { budgetAwareness: "limit:50" } : {}),
        ...config,
      });
      const stream = agent.stream("Go", { engine });
      const events = await collect(stream);
      const result = await stream.result;
      assert.deepEqual([result.text, result.plan], ["done", null]);
      const [plan] = planOf(events);
      assert.deepEqual([plan?.plan, plan?.path], [null, []]);
      assert.match(plan?.failure?.message ?? "", why);
      assert.ok(!JSON.stringify(model.requests).includes("<plan>"));
      assert.deepEqual(
        result.messages.map(({ role }) => role),
        ["user", "assistant"],
      );
    }
  }),

  behaviour("X5 a cancel reaches the planner's model, and its tools", async (make) => {
    const engine = await make();
    for (const isCalling of [false, true]) {
      let begin: () => void = () => {};
      let isTold = false;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const wait = defineTool({
        name: "wait",
        effect: "none",
        execute: (_, { signal }) => {
          begin();
          signal.addEventListener("abort", () => {
            isTold = true;
          });
          return new Promise<never>(() => {}); // it never wins a race against its cancel
        },
      });
      const hang = () => {
        begin();
        return { hang: true as const };
      };
      const { model, planningModel } = pair([isCalling ? { calls: [{ tool: "wait" }] } : hang, THOUGHT]);
      const agent = new Agent({ name: "a", model, planningModel, planningEnabled: true, tools: [wait] });
      const stream = agent.stream("Go", { engine });
      const reading = collect(stream);
      await begun;
      stream.cancel("enough");
      const events = await reading;
      const error = await rejection(stream.result);
      assert.equal(error.message, "The run was cancelled: enough");
      assert.deepEqual(planOf(events), []);
      assert.equal(trace(events).at(-1), "status:cancelled");
      assert.equal(model.requests.length, 0);
      const results = events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
      assert.equal(results.length, isCalling ? 1 : 0);
      if (isCalling) await until(() => isTold, "the tool is told");
    }
  }),

  behaviour(
    "H8 P6 the planner's text passes the transformers, and its deltas have its path",
    async (make) => {
      const shout = streamTransformer("shout", () => ({
        push: (chunk) => chunk.toUpperCase(),
        flush: () => "",
      }));
      const { model, planningModel } = pair(["1. look\n2. answer"]);
      const agent = new Agent({
        name: "a",
        model,
        planningModel,
        planningEnabled: true,
        hooks: { stream: [shout] },
      });
      const stream = agent.stream("Go", { engine: await make() });
      const events = await collect(stream);
      const result = await stream.result;
      assert.deepEqual(result.plan, { steps: [{ title: "LOOK" }, { title: "ANSWER" }] });
      assert.equal(result.text, "DONE");
      const shown = (path: string) =>
        events
          .map((event) => (event.type === "text_delta" && event.path.join() === path ? event.text : ""))
          .join("");
      assert.deepEqual([shown("planner"), shown("")], ["1. LOOK\n2. ANSWER", "DONE"]);
    },
  ),

  behaviour("P2 P4 rails may stand in for the planner, or change what it is sent and says", async (make) => {
    const { model, planningModel } = pair([], ["done"]);
    const instead = defineRail({ name: "instead", on: ["PRE_LLM_CALL"] }, (ctx) => {
      const isPlanning = !JSON.stringify(ctx.inputs.messages).includes("<plan>");
      return isPlanning ? skip("known", { replacement: "1. Do as always" }) : undefined;
    });
    const agent = new Agent({ name: "a", model, planningModel, planningEnabled: true, rails: [instead] });
    const result = await agent.run("Go", { engine: await make() });
    assert.deepEqual(result.plan, { steps: [{ title: "Do as always" }] });
    assert.match(texts(model.requests[0] as ScriptedRequest)[1] ?? "", /1\. Do as always/);

    const second = pair(["1. SECRET"]);
    const hide = defineRail({ name: "hide", on: ["POST_LLM_CALL"] }, (ctx) => {
      const { text, toolCalls } = ctx.inputs.response;
      ctx.inputs.response = { text: text.replace("SECRET", "hidden"), toolCalls };
    });
    const hidden = new Agent({ name: "a", ...second, planningEnabled: true, rails: [hide] });
    const stream = hidden.stream("Go", { engine: await make() });
    const events = await collect(stream);
    assert.deepEqual((await stream.result).plan, { steps: [{ title: "hidden" }] });
    assert.ok(!JSON.stringify([events, second.model.requests]).includes("SECRET"));
  }),
];
