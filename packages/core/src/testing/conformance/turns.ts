import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { RunError } from "../../errors.ts";
import type { RunResult } from "../../local/run-result.ts";
import { durableEvent } from "../../schema/durable-events.ts";
import { liveEvent } from "../../schema/live-events.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, isLive, rejection, shown, trace, until } from "./behaviour.ts";

const add = defineTool({
  name: "add",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const script = () =>
  scriptedModel([{ text: "Let me see.", calls: [{ tool: "add", args: { a: 2, b: 3 } }] }, "It is 5."]);

/** The course of a turn: events, results, conversations (E). */
export const turns = [
  behaviour("E2 the canonical trace of a turn with one tool", async (make) => {
    const agent = new Agent({ name: "a", model: script(), tools: [add] });
    const stream = agent.stream("2 + 3?", { engine: await make() });
    const events = await collect(stream);
    assert.deepEqual(trace(events), [
      "status:starting",
      "step:1:started",
      "usage",
      "text",
      "tool_call:add",
      "tool_result:add:success",
      "step:1:completed",
      "step:2:started",
      "usage",
      "text",
      "step:2:completed",
      "status:completed:answered",
    ]);
    assert.equal(shown(events), "Let me see.It is 5.");
    assert.equal((await stream.result).output, "It is 5.");
  }),

  behaviour("E1 durable events are stamped without gaps, live ones say what they follow", async (make) => {
    const agent = new Agent({ name: "a", model: script(), tools: [add] });
    const stream = agent.stream("2 + 3?", { engine: await make() });
    const events = await collect(stream);
    let seq = 0;
    for (const event of events) {
      if (isLive(event)) {
        assert.equal(liveEvent.parse(event).after_seq, seq);
      } else {
        const durable = durableEvent.parse(event);
        seq += 1;
        assert.equal(durable.seq, seq);
        assert.ok(durable.at > 1_600_000_000_000, "`at` is Unix ms");
      }
      assert.equal(event.run_id, stream.runId);
      assert.equal(event.turn_ref, stream.turnRef);
    }
  }),

  behaviour("E1 the durable text supersedes its deltas, which say where they belong", async (make) => {
    const agent = new Agent({ name: "a", model: scriptedModel(["one two three"], { chunk: 3 }) });
    const events = await collect(agent.stream("go", { engine: await make() }));
    const text = events.find((event) => event.type === "text");
    assert.ok(text?.type === "text");
    let so = "";
    for (const event of events) {
      if (event.type !== "text_delta") continue;
      assert.equal(event.message_id, text.message_id);
      assert.equal(event.offset, so.length);
      so += event.text;
    }
    assert.equal(so, text.text);
  }),

  behaviour("E3 run() and stream() leave the same messages, usage, steps and output", async (make) => {
    const ran = await new Agent({ name: "a", model: script(), tools: [add] }).run("2 + 3?", {
      engine: await make(),
    });
    const stream = new Agent({ name: "a", model: script(), tools: [add] }).stream("2 + 3?", {
      engine: await make(),
    });
    await collect(stream);
    const streamed = await stream.result;
    assert.deepEqual(comparable(streamed), comparable(ran));
    assert.equal(ran.steps, 2);
    assert.equal(ran.usage.input_tokens, 20);
    assert.equal(ran.usage.model_calls, 2);
    assert.equal(ran.messages.length, 4);
  }),

  behaviour(
    "E3 a failed run rejects with its error and what there is; its stream ends and does not throw",
    async (make) => {
      const model = () =>
        scriptedModel([{ calls: [{ tool: "add", args: { a: 1, b: 1 } }] }, { error: new Error("bad key") }]);
      const engine = await make({ retry: { retries: 0 } });
      const error = await rejection(
        new Agent({ name: "a", model: model(), tools: [add] }).run("go", { engine }),
      );
      assert.ok(error instanceof RunError);
      assert.equal(error.code, "model_failed");
      assert.equal((error.result as RunResult).messages.length, 3, "question, call, result");

      const stream = new Agent({ name: "a", model: model(), tools: [add] }).stream("go", { engine });
      const events = await collect(stream);
      assert.deepEqual(trace(events).slice(-3), ["step:2:started", "error:model_failed", "status:error"]);
      assert.equal((await rejection(stream.result)).code, "model_failed");
    },
  ),

  behaviour("E3 a conversation goes on where it was, and is one run's at a time", async (make) => {
    const engine = await make();
    const model = scriptedModel(["Hello Ann.", "Your name is Ann."]);
    const agent = new Agent({ name: "a", model });
    const first = await agent.run("I am Ann.", { engine });
    const second = await agent.run("Who am I?", { engine, conversation: first.conversation });
    assert.equal(second.output, "Your name is Ann.");
    assert.equal(second.conversation.messages.length, 4);
    assert.deepEqual(
      model.requests[1]?.prompt.map((message) => message.role),
      ["user", "assistant", "user"],
    );

    // The run that got the conversation answers after the other one was refused.
    const refused: unknown[] = [];
    const held = scriptedModel([
      async () => {
        await until(() => refused.length > 0, "the second run is refused");
        return "late";
      },
    ]);
    const slow = new Agent({ name: "slow", model: held });
    const { conversation } = first;
    await Promise.all(
      ["one", "two"].map((text) =>
        slow.run(text, { engine, conversation }).catch((error: RunError) => refused.push(error.code)),
      ),
    );
    assert.deepEqual(refused, ["conversation_busy"]);
  }),

  behaviour("E3 at max_steps the last step's calls still run and its text is the output", async (make) => {
    let ran = 0;
    const count = defineTool({ name: "count", execute: () => ++ran });
    const again = { text: "Again.", calls: [{ tool: "count" }] };
    const agent = new Agent({ name: "a", model: scriptedModel([again, again]), tools: [count], maxSteps: 2 });
    const result = await agent.run("go", { engine: await make() });
    assert.equal(result.stopReason, "max_steps");
    assert.equal(result.output, "Again.");
    assert.equal(ran, 2);
    assert.equal(result.messages.at(-1)?.role, "tool");
  }),

  behaviour("E3 a structured answer is parsed; one that does not fit is sent back once", async (make) => {
    const outputSchema = z.object({ city: z.string(), people: z.number() });
    const model = scriptedModel(['{"city": "Ghent"}', '```json\n{"city": "Ghent", "people": 265000}\n```']);
    const agent = new Agent({ name: "a", model, outputSchema });
    const stream = agent.stream("Ghent?", { engine: await make() });
    const events = await collect(stream);
    const result = await stream.result;
    assert.deepEqual(result.output, { city: "Ghent", people: 265000 });
    assert.equal(result.steps, 2);
    assert.ok(trace(events).includes("message_retracted"));
    assert.equal(result.messages.length, 2, "the draft is not in the log");
    const repair = model.requests[1]?.prompt ?? [];
    assert.deepEqual(
      repair.map((message) => message.role),
      ["user", "assistant", "user"],
    );
    assert.match(JSON.stringify(repair.at(-1)), /people/);
  }),

  behaviour("E3 an answer that does not fit twice fails the run with output_invalid", async (make) => {
    const agent = new Agent({
      name: "a",
      model: scriptedModel(["no", "still no"]),
      outputSchema: { type: "object", required: ["x"] },
    });
    const error = await rejection(agent.run("go", { engine: await make() }));
    assert.equal(error.code, "output_invalid");
  }),

  behaviour("E3 at max_steps the output is text and is not validated", async (make) => {
    const noop = defineTool({ name: "noop", execute: () => "ok" });
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ text: "not json", calls: [{ tool: "noop" }] }]),
      tools: [noop],
      outputSchema: z.object({ x: z.number() }),
      maxSteps: 1,
    });
    const result = await agent.run("go", { engine: await make() });
    assert.equal(result.stopReason, "max_steps");
    assert.equal(result.text, "not json");
  }),

  behaviour("E2 an empty answer completes the run", async (make) => {
    const agent = new Agent({ name: "a", model: scriptedModel([{ text: "" }, "second"]) });
    const engine = await make();
    const result = await agent.run("go", { engine });
    assert.equal(result.output, "");
    const next = await agent.run("and?", { engine, conversation: result.conversation });
    assert.equal(next.output, "second");
  }),

  behaviour("E2 reasoning comes before text and is kept for the provider", async (make) => {
    const model = scriptedModel([{ reasoning: "Two and three.", text: "5" }, "yes"]);
    const agent = new Agent({ name: "a", model });
    const engine = await make();
    const stream = agent.stream("2 + 3?", { engine });
    const events = await collect(stream);
    assert.deepEqual(trace(events), [
      "status:starting",
      "step:1:started",
      "usage",
      "reasoning",
      "text",
      "step:1:completed",
      "status:completed:answered",
    ]);
    assert.ok(events.some((event) => event.type === "reasoning_delta"));
    await agent.run("sure?", { engine, conversation: (await stream.result).conversation });
    assert.match(JSON.stringify(model.requests[1]?.prompt), /Two and three/);
  }),

  behaviour("X1 request N is a prefix of request N+1, over many steps and turns", async (make) => {
    const engine = await make();
    const steps = Array.from({ length: 6 }, (_, i) => ({
      text: `t${i}`,
      calls: [{ tool: "add", args: { a: i, b: 1 } }],
    }));
    const model = scriptedModel([...steps, "one", ...steps, "two"]);
    const agent = new Agent({ name: "a", instructions: "Count.", model, tools: [add] });
    const first = await agent.run("first", { engine });
    await agent.run("second", { engine, conversation: first.conversation });
    for (const [i, request] of model.requests.entries()) {
      const next = model.requests[i + 1];
      if (next === undefined) continue;
      const before = JSON.stringify(request.prompt).slice(0, -1);
      assert.ok(
        JSON.stringify(next.prompt).startsWith(before),
        `request ${i + 1} is a prefix of request ${i + 2}`,
      );
    }
  }),

  behaviour("A2 many runs of one agent at once never see each other", async (make) => {
    const engine = await make();
    const seen = defineTool({
      name: "seen",
      input: z.object({ who: z.string() }),
      execute: ({ who }, { scope }) => `${who} is ${scope["who"]}`,
    });
    const model = scriptedModel(
      [
        (request) => {
          const text = JSON.stringify(request.prompt);
          const who = /I am (\w+)/.exec(text)?.[1] ?? "";
          return request.prompt.length === 1
            ? { calls: [{ tool: "seen", args: { who } }] }
            : { text: text.match(/\w+ is \w+/)?.[0] ?? "" };
        },
      ],
      { loop: true },
    );
    const agent = new Agent({ name: "a", model, tools: [seen] });
    const names = Array.from({ length: 16 }, (_, i) => `n${i}`);
    const results = await Promise.all(
      names.map((who) => agent.run(`I am ${who}`, { engine, scope: { who } })),
    );
    assert.deepEqual(
      results.map((result) => result.output),
      names.map((who) => `${who} is ${who}`),
    );
  }),
];

/** What must be the same however a run was read: everything but its ids and times. */
function comparable(result: RunResult): unknown {
  const { output, text, stopReason, steps, usage, messages } = result;
  const plain = JSON.stringify({ output, text, stopReason, steps, usage, messages });
  return JSON.parse(
    plain
      .replaceAll(result.runId, "RUN")
      .replaceAll(/"(started_at|completed_at|execution_time_ms)":\d+/g, '"$1":0'),
  );
}
