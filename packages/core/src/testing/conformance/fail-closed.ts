import assert from "node:assert/strict";
import { Agent } from "../../agent.ts";
import { memberHook, parallel, postHook, preHook } from "../../hooks/pipeline-hooks.ts";
import { cont, halt, regenerate } from "../../hooks/turn.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail, Rail } from "../../rails/rail.ts";
import { RailManager } from "../../rails/rail-manager.ts";
import { abort, retry } from "../../rails/verdicts.ts";
import type { HookPoint } from "../../schema/points.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, rejection, shown, trace } from "./behaviour.ts";

const look = () => defineTool({ name: "look", effect: "none", execute: () => "seen" });

const RETRIED: readonly HookPoint[] = [
  "START",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
];

/** A guard that fails, or that is asked too late, never lets anything through. */
export const failClosed = [
  behaviour("R10 a hook that fails fails the run, though a rail asked for a retry", async (make) => {
    for (const point of RETRIED) {
      const model = scriptedModel([{ calls: [{ tool: "look" }] }, "done", "done"]);
      const again = defineRail({ name: "again", on: [point] }, () => retry({ maxRetries: 3 }));
      const agent = new Agent({ name: "a", model, tools: [look()], rails: [again] });
      let failures = 0;
      agent.hookManager.add(point, function breaks() {
        if (failures++ === 0) throw new Error("broken once");
      });
      const error = await rejection(agent.run("Go", { engine: await make() }));
      assert.equal(error.name, "HookError", point);
      assert.match(error.message, /breaks.*broken once/, point);
      assert.equal(failures, 1, `${point} is not tried again`);
    }
  }),

  behaviour("H7 E3 post-hooks see the text that is the output at max_steps", async (make) => {
    const run = async (hook: Parameters<typeof postHook>[1]) => {
      const model = scriptedModel([{ text: "the code is SECRET", calls: [{ tool: "look" }] }]);
      const hooks = { post: [postHook({ name: "review" }, hook)] };
      const agent = new Agent({ name: "a", model, tools: [look()], maxSteps: 1, hooks });
      const stream = agent.stream("Go", { engine: await make() });
      const events = await collect(stream);
      return { events, result: await stream.result };
    };
    const isSecret = (answer: string | null) => answer?.includes("SECRET") === true;

    const halted = await run((turn) => (isSecret(turn.answer) ? halt("a secret") : cont(turn)));
    assert.equal(halted.result.output, "");
    assert.equal(trace(halted.events).at(-1), "status:completed:halted");
    assert.ok(trace(halted.events).includes("tool_result:look:success"), "its calls have run");

    const sentBack = await run((turn) => (isSecret(turn.answer) ? regenerate("leave it out") : cont(turn)));
    assert.equal(sentBack.result.output, "");
    assert.equal(trace(sentBack.events).at(-1), "status:completed:halted");

    const passed = await run((turn) => cont(turn.append("reviewed")));
    assert.equal(passed.result.output, "the code is SECRET");
    assert.equal(trace(passed.events).at(-1), "status:completed:max_steps");
    assert.match(JSON.stringify(passed.result.messages.at(-1)), /reviewed/);
  }),

  behaviour("R15 X5 an abort at MODEL_ERROR keeps the text that was shown", async (make) => {
    const error = Object.assign(new Error("down"), { statusCode: 503 });
    const model = scriptedModel([{ text: "Half an answer", errorAfter: 6, error }], { chunk: 3 });
    const stop = defineRail({ name: "stop", on: ["MODEL_ERROR"] }, () => abort("no more"));
    const agent = new Agent({ name: "a", model, rails: [stop] });
    const stream = agent.stream("Go", { engine: await make() });
    const events = await collect(stream);
    const failed = await rejection(stream.result);
    assert.match(failed.message, /"stop" aborted the run at MODEL_ERROR: no more/);
    const text = events.find((event) => event.type === "text");
    assert.ok(text?.type === "text" && text.partial === true, "what was shown is kept");
    assert.equal(text.text, shown(events));
    assert.equal((failed.result as RunResult).messages.at(-1)?.role, "assistant");
  }),

  behaviour(
    "R13 R10 what a shadow or failed rail wrote into ctx.extra is undone, nested too",
    async (make) => {
      const seen: unknown[] = [];
      const on = ["PRE_TOOL_CALL"] as const;
      type Extra = { list?: number[]; nested?: { hits: number } };
      const write = (extra: Extra) => {
        extra.list?.push(1);
        if (extra.nested) extra.nested.hits += 1;
      };
      const rails = [
        defineRail({ name: "first", on, priority: 1 }, (ctx) => {
          ctx.extra["list"] = [];
          ctx.extra["nested"] = { hits: 0 };
        }),
        defineRail({ name: "shadow", on, priority: 2, mode: "shadow" }, (ctx) => write(ctx.extra)),
        defineRail({ name: "failed", on, priority: 3, onError: "continue" }, (ctx) => {
          write(ctx.extra);
          throw new Error("after it wrote");
        }),
        defineRail({ name: "last", on, priority: 4 }, (ctx) => {
          seen.push({ list: ctx.extra["list"], nested: ctx.extra["nested"] });
        }),
      ];
      const model = scriptedModel([{ calls: [{ tool: "look" }] }, "done"]);
      await new Agent({ name: "a", model, tools: [look()], rails }).run("Go", { engine: await make() });
      assert.deepEqual(JSON.parse(JSON.stringify(seen)), [{ list: [], nested: { hits: 0 } }]);
    },
  ),

  behaviour(
    "R5 parallel calls cannot grow ctx.state past its limit, and its writer is named",
    async (make) => {
      const calls = Array.from({ length: 6 }, () => ({ tool: "look" }));
      const model = scriptedModel([{ calls }, "done"]);
      const finished: number[] = [];
      const rails = [
        defineRail({ name: "greedy", on: ["PRE_TOOL_CALL"] }, (ctx) => {
          ctx.state.append("kept", "x".repeat(3_000));
        }),
        defineRail({ name: "innocent", on: ["FINISHED"] }, (ctx) => {
          finished.push(1);
          ctx.state.add("runs", 1);
        }),
      ];
      const agent = new Agent({ name: "a", model, tools: [look()], rails });
      const error = await rejection(agent.run("Go", { engine: await make() }));
      assert.match(error.message, /"greedy" aborted the run at PRE_TOOL_CALL: ctx\.state would be \d+ bytes/);
      assert.deepEqual(finished, []);
    },
  ),

  behaviour("H2 a hook adds no empty content, and cannot empty the user's message", async (make) => {
    const sent = async (pre: readonly (ReturnType<typeof preHook> | ReturnType<typeof parallel>)[]) => {
      const model = scriptedModel(["done"]);
      const ended = await new Agent({ name: "a", model, hooks: { pre } })
        .run("Go", { engine: await make() })
        .then(
          () => undefined,
          (error: Error) => error,
        );
      const users = model.requests.flatMap(({ prompt }) => prompt.filter(({ role }) => role === "user"));
      return { ended, users };
    };
    const blank = [
      preHook({ name: "blank" }, (turn) => cont(turn.append("", " \n"))),
      preHook({ name: "durable", durable: true }, (turn) => cont(turn.append(""))),
      parallel(memberHook({ name: "member" }, () => "")),
    ];
    const { ended, users } = await sent(blank);
    assert.equal(ended, undefined);
    assert.deepEqual(
      users.map(({ content }) => content),
      [[{ type: "text", text: "Go" }]],
    );

    const emptied = await sent([preHook({ name: "eraser" }, (turn) => cont(turn.withUserMessage()))]);
    assert.match(emptied.ended?.message ?? "", /"eraser" returned a turn with an empty user message/);
    assert.deepEqual(emptied.users, []);

    const hooks = { post: [postHook({ name: "mute" }, () => regenerate(""))] };
    const agent = new Agent({ name: "a", model: scriptedModel(["done"]), hooks });
    const error = await rejection(agent.run("Go", { engine: await make() }));
    assert.match(error.message, /"mute" returned regenerate\(\) without feedback/);
  }),

  behaviour("H6 a longer user message counts against the injection reserve", async (make) => {
    const longer = preHook({ name: "longer" }, (turn) => cont(turn.withUserMessage("word ".repeat(500))));
    const model = scriptedModel(["never"]);
    const agent = new Agent({ name: "a", model, hooks: { pre: [longer] }, injectionReserveTokens: 100 });
    const error = await rejection(agent.run("Go", { engine: await make() }));
    assert.match(error.message, /"longer" adds \d+ tokens, which makes \d+ of at most 100/);
    assert.equal(model.requests.length, 0);
  }),

  behaviour("R1 two rails of one agent cannot share a name, whichever manager holds them", async (make) => {
    const model = scriptedModel([{ calls: [{ tool: "look" }] }, "done"]);
    const same = () => defineRail({ name: "same", on: ["PRE_LLM_CALL"] }, () => {});
    const agent = new Agent({ name: "a", model, tools: [look()], rails: [same()] });
    const mine = new RailManager().add(same());
    agent.hookManager.add("PRE_LLM_CALL", mine.hookFor("PRE_LLM_CALL"));
    const engine = await make();
    const error = await rejection(agent.run("Go", { engine }));
    assert.match(error.message, /has two rails named "same"/);
    assert.equal(model.requests.length, 0);

    agent.hookManager.remove("PRE_LLM_CALL", mine.hookFor("PRE_LLM_CALL"));
    assert.equal((await agent.run("Go", { engine })).output, "done");
  }),

  behaviour("A2 an agent's guards cannot be changed after it was made", async (make) => {
    class Guard extends Rail {
      override handle() {
        return abort("guarded");
      }
    }
    const guard = new Guard("guard", { on: ["PRE_LLM_CALL"] });
    const model = scriptedModel(["never"]);
    const agent = new Agent({ name: "a", model, rails: [guard], tools: [look()] });
    for (const change of [
      () => Object.assign(guard, { mode: "shadow" }),
      () => Object.assign(guard, { handle: () => undefined }),
      () => (guard.on as HookPoint[]).pop(),
      () => (agent.pipeline.pre as unknown[]).push(preHook({ name: "late" }, (turn) => cont(turn))),
      () => (agent.pipeline.post as unknown[]).push(postHook({ name: "late" }, (turn) => cont(turn))),
      () => (agent.pipeline.stream as unknown[]).push({}),
      () => (agent.tools as unknown[]).pop(),
      () => (agent.models as unknown[]).pop(),
    ])
      assert.throws(change, TypeError);
    const error = await rejection(agent.run("Go", { engine: await make() }));
    assert.match(error.message, /"guard" aborted the run at PRE_LLM_CALL: guarded/);
  }),
];
