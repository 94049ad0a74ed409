import assert from "node:assert/strict";
import { Agent } from "../../agent.ts";
import { streamTransformer } from "../../bind-guards.ts";
import { memberHook, parallel, postHook, preHook } from "../../hooks/pipeline-hooks.ts";
import { cont, halt, regenerate } from "../../hooks/turn.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { type ScriptedRequest, scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, rejection, shown, until } from "./behaviour.ts";

const TRANSIENT = "~transient~";
const look = defineTool({ name: "look", execute: () => "found" });
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function userTexts({ prompt }: ScriptedRequest): string[] {
  return prompt.flatMap((message) =>
    message.role === "user"
      ? message.content.map((part) => (part.type === "text" ? part.text : part.type))
      : [],
  );
}

/** The bytes of a request without its transient parts, before the closing bracket. */
function bytes({ prompt }: ScriptedRequest): string {
  return JSON.stringify(prompt.filter((message) => !JSON.stringify(message).includes(TRANSIENT))).slice(
    0,
    -1,
  );
}

/** The turn pipeline and transformers (H). */
export const guardsPipeline = [
  behaviour("H2 pre-hooks run once per turn, in order; a group is merged in declared order", async (make) => {
    let runs = 0;
    const slow = memberHook({ name: "slow" }, async () => {
      await wait(10);
      return "slow";
    });
    const model = scriptedModel([{ calls: [{ tool: "look" }] }, "done"]);
    const agent = new Agent({
      name: "a",
      model,
      tools: [look],
      hooks: {
        pre: [
          preHook({ name: "first" }, (turn) => {
            runs += 1;
            return cont(turn.withUserMessage(`${turn.text}!`).append("first"));
          }),
          parallel(
            slow,
            memberHook({ name: "quick" }, () => "quick"),
          ),
          preHook({ name: "memory", durable: true }, (turn) => cont(turn.append("memory"))),
        ],
      },
    });
    const result = await agent.run("Go", { engine: await make() });
    assert.equal(runs, 1);
    for (const request of model.requests)
      assert.deepEqual(userTexts(request), ["memory", "Go!", "first", "slow", "quick"]);
    const logged = result.messages.map((message) => ("by_hook" in message ? message.by_hook : message.role));
    assert.deepEqual(logged, ["memory", "user", "assistant", "tool", "assistant"]);
  }),

  behaviour(
    "H3 a hook that halts or throws ends the turn as halted, before and after the answer",
    async (make) => {
      const ways = [
        { pre: [preHook({ name: "gate" }, () => halt("closed"))] },
        { pre: [preHook({ name: "gate" }, () => Promise.reject(new Error("closed")))] },
        { post: [postHook({ name: "gate" }, () => halt("closed"))] },
        { post: [postHook({ name: "gate" }, () => Promise.reject(new Error("closed")))] },
      ];
      const engine = await make();
      for (const hooks of ways) {
        const model = scriptedModel([{ calls: [{ tool: "look" }] }, "SECRET"]);
        const agent = new Agent({ name: "a", model, tools: [look], hooks });
        const result = await agent.run("Go", { engine });
        assert.deepEqual([result.stopReason, result.reason, result.output], ["halted", "gate: closed", ""]);
        assert.ok(!JSON.stringify(result.messages).includes("SECRET"));
      }
    },
  ),

  behaviour("H5 without its transient parts, every request is a byte prefix of the next", async (make) => {
    const model = scriptedModel(function* () {
      for (let i = 0; i < 6; i++) {
        if (i % 2 === 0) yield { calls: [{ tool: "look" }, { tool: "look" }] };
        if (i % 3 === 0) yield `draft ${TRANSIENT}`;
        yield `answer ${i}`;
      }
    });
    const agent = new Agent({
      name: "a",
      model,
      instructions: "Be kind.",
      tools: [look],
      hooks: {
        pre: [
          preHook({ name: "search" }, (turn) => cont(turn.append(TRANSIENT.repeat(turn.context.length + 1)))),
          preHook({ name: "memory", durable: true }, (turn) =>
            cont(turn.append(`memory ${turn.context.length}`)),
          ),
        ],
        post: [
          postHook({ name: "tone" }, (turn) =>
            turn.answer?.startsWith("draft") ? regenerate(`${TRANSIENT} no`) : cont(turn),
          ),
        ],
      },
    });
    const engine = await make();
    let conversation = (await agent.run("question 0", { engine })).conversation;
    for (let i = 1; i < 6; i++)
      conversation = (await agent.run(`question ${i}`, { engine, conversation })).conversation;
    const { requests } = model;
    for (const [i, request] of requests.slice(1).entries())
      assert.ok(
        bytes(request).startsWith(bytes(requests[i] as ScriptedRequest)),
        `request ${i} is a prefix of the next`,
      );
    assert.equal(requests.length, 11);
  }),

  behaviour("H6 the hook that crosses the injection reserve is named, and nothing is sent", async (make) => {
    const model = scriptedModel(["hi"]);
    const add = (name: string, words: number) =>
      preHook({ name }, (turn) => cont(turn.append("word ".repeat(words))));
    const hooks = { pre: [add("small", 20), add("large", 400), add("never", 1)] };
    const agent = new Agent({ name: "a", model, injectionReserveTokens: 100, hooks });
    const error = await rejection(agent.run("Go", { engine: await make() }));
    assert.match(error.message, /^The hook "large" adds \d+ tokens, which makes \d+ of at most 100/);
    assert.equal(model.requests.length, 0);
  }),

  behaviour(
    "H7 an answer is sent back at most max_regenerations times, its drafts retracted",
    async (make) => {
      const engine = await make();
      for (const [max, answers, stop] of [
        [2, ["bad", "bad", "good"], "answered"],
        [1, ["bad", "bad", "good"], "halted"],
      ] as const) {
        const model = scriptedModel(answers);
        const strict = postHook({ name: "strict" }, (turn) =>
          turn.answer === "bad" ? regenerate("be good") : cont(turn),
        );
        const agent = new Agent({ name: "a", model, maxRegenerations: max, hooks: { post: [strict] } });
        const stream = agent.stream("Go", { engine });
        const events = await collect(stream);
        const result = await stream.result;
        assert.equal(result.stopReason, stop);
        assert.equal(events.filter((event) => event.type === "message_retracted").length, 2);
        assert.equal(model.requests.length, max + 1);
        assert.match(JSON.stringify(model.requests[1]?.prompt), /bad.*be good/);
        assert.ok(!JSON.stringify(result.messages).includes("be good"));
      }
    },
  ),

  behaviour(
    "H7 deferred work runs once, after the terminal status, and its failures are its own",
    async (make) => {
      const order: string[] = [];
      const task = {
        name: "summary",
        run: (input: unknown) => {
          order.push(`task ${input}`);
          throw new Error("no luck");
        },
      };
      const later = postHook({ name: "later" }, (turn, { defer }) => {
        defer(task, turn.answer);
        return cont(turn);
      });
      const model = scriptedModel([{ calls: [{ tool: "look" }] }, "done"]);
      const agent = new Agent({ name: "a", model, tools: [look], hooks: { post: [later] } });
      const stream = agent.stream("Go", { engine: await make({ tasks: [task] }) });
      for await (const event of stream) if (event.type === "status") order.push(event.status);
      await stream.result;
      await until(() => order.length === 3, "the deferred work");
      assert.deepEqual(order, ["starting", "completed", "task done"]);
    },
  ),

  behaviour("H7 a task that is not registered, or whose input is no JSON, is not deferred", async (make) => {
    const task = { name: "save", run: () => {} };
    const closure = { name: "save", run: () => {} };
    const halted = async (deferred: typeof task, input?: unknown) => {
      const later = postHook({ name: "later" }, (turn, { defer }) => {
        defer(deferred, input);
        return cont(turn);
      });
      const agent = new Agent({ name: "a", model: scriptedModel(["done"]), hooks: { post: [later] } });
      const { stopReason, reason } = await agent.run("Go", { engine: await make({ tasks: [task] }) });
      return `${stopReason} ${reason}`;
    };
    assert.match(
      await halted({ ...task, name: "other" }),
      /halted later: defer: the task "other" is not registered/,
    );
    assert.match(await halted(closure), /halted later: defer: another task is registered as "save"/);
    for (const input of [1n, new Map(), { when: new Date(0) }, Number.NaN])
      assert.match(await halted(task, input), /halted later: defer: the input of "save" must be JSON/);
  }),

  behaviour(
    "H8 what is streamed, stored and returned is the transformed text, however it was cut",
    async (make) => {
      const hide = streamTransformer("hide", () => {
        let held = "";
        return {
          push(chunk) {
            held = (held + chunk).replaceAll("SECRET", "***");
            const out = held.slice(0, Math.max(0, held.length - 5));
            held = held.slice(out.length);
            return out;
          },
          flush: () => ({ text: held, annotations: [{ type: "checked" }] }),
        };
      });
      const engine = await make();
      for (const chunk of [1, 3, "whole"] as const) {
        const model = scriptedModel([{ text: "a SECRET", calls: [{ tool: "look" }] }, "the SECRET is out"], {
          chunk,
        });
        const agent = new Agent({ name: "a", model, tools: [look], hooks: { stream: [hide] } });
        const stream = agent.stream("Go", { engine });
        const events = await collect(stream);
        const result = await stream.result;
        assert.equal(result.output, "the *** is out");
        assert.equal(shown(events), "a ***the *** is out");
        assert.ok(!JSON.stringify([events, result.messages, model.requests]).includes("SECRET"));
        assert.deepEqual(result.messages.at(-1)?.role === "assistant" && result.messages.at(-1), {
          ...result.messages.at(-1),
          annotations: [{ type: "checked" }],
        });
      }
    },
  ),

  behaviour("H8 a transformer that throws fails the step closed", async (make) => {
    const bad = streamTransformer("bad", () => ({
      push(chunk) {
        if (chunk.includes("SECRET")) throw new Error("no luck");
        return chunk;
      },
      flush: () => "",
    }));
    const model = scriptedModel([{ calls: [{ tool: "look" }] }, "my SECRET", "again"]);
    const agent = new Agent({ name: "a", model, tools: [look], hooks: { stream: [bad] } });
    const stream = agent.stream("Go", { engine: await make() });
    const events = await collect(stream);
    const error = await rejection(stream.result);
    assert.equal(error.message, 'The stream transformer "bad" failed: no luck');
    assert.ok(!JSON.stringify(events).includes("SECRET"));
    assert.equal(model.requests.length, 2);
  }),
];
