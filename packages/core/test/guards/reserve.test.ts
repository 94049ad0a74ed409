import {
  Agent,
  cont,
  estimateParts,
  estimateText,
  localEngine,
  memberHook,
  type PreHook,
  parallel,
  preHook,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, failure, play } from "./stage.ts";

const text = (tokens: number) => {
  let out = "";
  while (estimateText(out) < tokens) out += "word ";
  return out;
};
const adding = (name: string, content: string, durable = false) =>
  preHook({ name, durable }, (turn) => cont(turn.append(content)));

describe.each(ENGINES)("H6 the injection reserve, on the %s engine", (_name, make) => {
  test("H6 the hook that crosses it is named with the counts, and nothing is truncated or sent", async () => {
    const model = scriptedModel(["hi"]);
    const pre = [adding("memory", text(40), true), adding("search", text(50)), adding("news", text(60))];
    const agent = new Agent({ name: "a", model, injectionReserveTokens: 100, hooks: { pre } });
    const { error, result } = await play(agent, { engine: make() });

    const sizes = [40, 50, 60].map((n) => estimateParts([{ type: "text", text: text(n) }]));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(error?.code).toBe("hook_failed");
    expect(error?.message).toBe(
      `The hook "news" adds ${sizes[2]} tokens, which makes ${total} of at most 100 (injection_reserve_tokens). Add less, or raise the reserve.`,
    );
    expect(model.requests).toEqual([]);
    expect(result.output).toBe("");
  });

  test("H6 in a group it is the first in declared order, whatever finished first", async () => {
    const slow = memberHook({ name: "slow" }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return text(80);
    });
    const quick = memberHook({ name: "quick" }, () => text(30));
    const agent = new Agent({
      name: "a",
      model: scriptedModel(["hi"]),
      injectionReserveTokens: 100,
      hooks: { pre: [parallel(slow, quick)] },
    });
    const error = await failure(agent.run("Go", { engine: make() }));

    expect(error.message).toContain('The hook "quick" adds');
  });
});

describe("H6 what counts", () => {
  const run = (pre: readonly PreHook[], reserve: number, engine = localEngine()) =>
    new Agent({
      name: "a",
      model: scriptedModel(["hi"]),
      injectionReserveTokens: reserve,
      hooks: { pre },
    }).run("Go", { engine });

  test("H6 up to the reserve is allowed, one more is not", async () => {
    const content = text(50);
    const size = estimateParts([{ type: "text", text: content }]);

    await run([adding("a", content)], size);
    const error = await failure(run([adding("a", content)], size - 1));
    expect(error.message).toContain(`adds ${size} tokens, which makes ${size} of at most ${size - 1}`);
  });

  test("H6 files count too", async () => {
    const file = {
      type: "file" as const,
      media_type: "image/png",
      source: { kind: "base64" as const, data: "A".repeat(40_000) },
    };
    const error = await failure(run([preHook({ name: "picture" }, (turn) => cont(turn.append(file)))], 100));

    expect(error.message).toContain('The hook "picture" adds');
  });

  test("H6 a reserve of 0 allows hooks that add nothing", async () => {
    await run([preHook({ name: "quiet" }, (turn) => cont(turn))], 0);
    await failure(run([adding("loud", "word")], 0));
  });

  test("H6 the reserve is never above half of what the model's window leaves", async () => {
    const engine = localEngine({
      models: { "openai:tiny": scriptedModel(["hi"], { loop: true }) },
      modelTable: { "openai:tiny": { window: 400, output: 100 } },
    });
    const agent = (tokens: number) =>
      new Agent({ name: "a", model: "openai:tiny", hooks: { pre: [adding("search", text(tokens))] } }).run(
        "Go",
        { engine },
      );

    await agent(100);
    const error = await failure(agent(200));
    expect(error.message).toMatch(/of at most 150 \(injection_reserve_tokens\)/);
  });
});
