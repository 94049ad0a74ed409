import {
  Agent,
  abort,
  cont,
  defineRail,
  localEngine,
  postHook,
  retry,
  skip,
  streamTransformer,
} from "trackside";
import { type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, outputs, play, results, tracked } from "./stage.ts";

const CALL = { calls: [{ tool: "t" }] };
type Replacement = Parameters<typeof skip>[1];

function skipping(
  on: Parameters<typeof defineRail>[0]["on"],
  more: Replacement = {},
  script: Script = ["said"],
) {
  const { tool, ran } = tracked("t");
  const points: string[] = [];
  const model = scriptedModel(script);
  const rails = [
    defineRail({ name: "watch", priority: 1 }, (ctx) => void points.push(ctx.event)),
    defineRail({ name: "no", priority: 2, ...(on ? { on } : {}) }, () => skip("not now", more)),
    defineRail({ name: "after", priority: 3, ...(on ? { on } : {}) }, () => abort("must not run")),
  ];
  return { agent: new Agent({ name: "a", model, tools: [tool], rails }), model, ran, points };
}

describe.each(ENGINES)("R7 skip, on the %s engine", (_name, make) => {
  test("R7 at START the run completes as skipped, with the replacement or nothing, and the model is not called", async () => {
    for (const [more, text] of [
      [{}, ""],
      [{ replacement: "Come back later." }, "Come back later."],
      [{ replacement: { closed: true } }, '{"closed":true}'],
    ] as const) {
      const { agent, model, points } = skipping(["START"], more);
      const { result, events } = await play(agent, { engine: make() });

      expect(result).toMatchObject({ stopReason: "skipped", output: text, reason: "not now", steps: 0 });
      expect(result.messages).toEqual([]);
      expect(model.requests).toEqual([]);
      expect(points).toEqual(["START", "FINISHED"]);
      expect(eventsOf(events, "text").map((event) => event.text)).toEqual(text === "" ? [] : [text]);
      expect(eventsOf(events, "status").at(-1)).toMatchObject({
        status: "completed",
        stop_reason: "skipped",
      });
    }
  });

  test("R7 at PRE_LLM_CALL the model is not called and POST_LLM_CALL does not fire", async () => {
    for (const [more, text] of [
      [{}, ""],
      [{ replacement: "No comment." }, "No comment."],
    ] as const) {
      const { agent, model, points } = skipping(["PRE_LLM_CALL"], more);
      const { result } = await play(agent, { engine: make() });

      expect(result).toMatchObject({ stopReason: "skipped", output: text });
      expect(model.requests).toEqual([]);
      expect(points).toEqual(["START", "PRE_LLM_CALL", "FINISHED"]);
    }
  });

  test("R7 an empty answer is logged but left out of requests", async () => {
    let turn = 0;
    const first = defineRail({ name: "first", on: ["PRE_LLM_CALL"] }, () =>
      turn++ === 0 ? "skip" : undefined,
    );
    const model = scriptedModel(["hello"]);
    const agent = new Agent({ name: "a", model, rails: [first] });
    const one = await agent.run("One", { engine: make() });
    expect(one.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);

    await agent.run("Two", { conversation: one.conversation, engine: make() });
    expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  test("R7 what stands in for the model passes transformers and post-hooks", async () => {
    const reviewed: unknown[] = [];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([]),
      rails: [
        defineRail({ name: "no", on: ["PRE_LLM_CALL"] }, () => skip("", { replacement: "my card is 1234" })),
      ],
      hooks: {
        stream: [
          streamTransformer("digits", () => ({
            push: (text) => text.replaceAll(/\d/g, "*"),
            flush: () => "",
          })),
        ],
        post: [
          postHook({ name: "review" }, (turn) => {
            reviewed.push(turn.answer);
            return cont(turn);
          }),
        ],
      },
    });
    const { result, events } = await play(agent, { engine: make() });

    expect(result.output).toBe("my card is ****");
    expect(reviewed).toEqual(["my card is ****"]);
    expect(eventsOf(events, "text").map(({ text }) => text)).toEqual(["my card is ****"]);
  });

  test("R7 at POST_LLM_CALL the answer is withheld or replaced, its reasoning and calls with it", async () => {
    const script = [{ reasoning: "SECRET thoughts", text: "SECRET words", ...CALL }];
    for (const [more, text] of [
      [{}, ""],
      [{ replacement: "I may not say." }, "I may not say."],
    ] as const) {
      const { agent, ran } = skipping(["POST_LLM_CALL"], more, script);
      const { result, events } = await play(agent, { engine: make() });

      expect(result).toMatchObject({ stopReason: "skipped", output: text });
      expect(JSON.stringify([events, result.messages])).not.toContain("SECRET");
      expect(ran).toEqual([]);
      expect(result.usage.model_calls).toBe(1);
    }
  });

  test("R7 at PRE_TOOL_CALL the tool does not run: rejected, or success with a replacement, and skipped_by says who", async () => {
    const { agent, ran, model } = skipping(["PRE_TOOL_CALL"], {}, [CALL, "done"]);
    const { result } = await play(agent, { engine: make() });
    expect(ran).toEqual([]);
    expect(outputs(result)).toEqual(["rejected"]);
    expect(results(result)[0]?.metadata).toMatchObject({
      status: "rejected",
      skipped_by: "no",
      execution_time_ms: 0,
    });
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Not run: no does not allow it: not now");

    const other = skipping(["PRE_TOOL_CALL"], { replacement: "from the cache" }, [CALL, "done"]);
    const replaced = await play(other.agent, { engine: make() });
    expect(other.ran).toEqual([]);
    expect(outputs(replaced.result)).toEqual(["from the cache"]);
    expect(results(replaced.result)[0]?.metadata).toMatchObject({ status: "success", skipped_by: "no" });
  });

  test("R7 at POST_TOOL_CALL the result is withheld or replaced for the log, the events and the model", async () => {
    for (const [more, left] of [
      [{}, "[withheld by no: not now]"],
      [{ replacement: { rows: 0 } }, { rows: 0 }],
    ] as const) {
      const { agent, ran, model } = skipping(["POST_TOOL_CALL"], more, [CALL, "done"]);
      const { result, events } = await play(agent, { engine: make() });

      expect(ran).toHaveLength(1);
      expect(outputs(result)).toEqual([left]);
      expect(results(result)[0]?.metadata.skipped_by).toBe("no");
      expect(JSON.stringify([events, result.messages, model.requests])).not.toContain("t ran");
    }
  });

  test("R7 at TOOL_ERROR the replacement stands in for the error, else nothing does", async () => {
    for (const [more, left] of [
      [{}, ""],
      [{ replacement: "a guess" }, "a guess"],
    ] as const) {
      const { tool } = tracked("t", { fails: true });
      const rails = [defineRail({ name: "no", on: ["TOOL_ERROR"] }, () => skip("", more))];
      const agent = new Agent({ name: "a", model: scriptedModel([CALL, "done"]), tools: [tool], rails });
      const { result } = await play(agent, { engine: make() });

      expect(outputs(result)).toEqual([left]);
      expect(results(result)[0]?.metadata).toMatchObject({ status: "success", skipped_by: "no" });
    }
  });

  test("R7 at MODEL_ERROR the replacement stands in for the model's answer", async () => {
    const rails = [
      defineRail({ name: "no", on: ["MODEL_ERROR"] }, () => skip("", { replacement: "We are closed." })),
    ];
    const model = scriptedModel([{ error: new Error("dead") }]);
    const { result, error } = await play(new Agent({ name: "a", model, rails }), {
      engine: make({ retry: { retries: 0 } }),
    });

    expect(error).toBeUndefined();
    expect(result).toMatchObject({ stopReason: "skipped", output: "We are closed." });
  });
});

describe("R7 skip at the end of a run", () => {
  test("R7 at FINISHED and ERROR later rails do not run, and nothing else changes", async () => {
    const ran: string[] = [];
    const rails = [
      defineRail({ name: "no", on: ["FINISHED", "ERROR"], priority: 1 }, () => skip("enough")),
      defineRail({ name: "late", on: ["FINISHED", "ERROR"], priority: 2 }, (ctx) => void ran.push(ctx.event)),
    ];
    const good = await play(new Agent({ name: "a", model: scriptedModel(["hi"]), rails }));
    expect(good.result.stopReason).toBe("answered");

    const engine = localEngine({ retry: { retries: 0 } });
    const bad = await play(
      new Agent({ name: "a", model: scriptedModel([{ error: new Error("dead") }]), rails }),
      { engine },
    );
    expect(bad.error?.code).toBe("model_failed");
    expect(ran).toEqual([]);
  });

  test("R8 a retry there is a wrong return, and aborts", async () => {
    const rails = [defineRail({ name: "again", on: ["FINISHED"] }, () => retry())];
    const { error, result } = await play(new Agent({ name: "a", model: scriptedModel(["hi"]), rails }));

    expect(error).toMatchObject({ railName: "again", point: "FINISHED" });
    expect(error?.message).toContain("returned retry() at FINISHED, where nothing can be repeated");
    expect(result.messages).toHaveLength(2);
  });
});
