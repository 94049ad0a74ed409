import { Agent, cont, defineTool, preHook, regenerate, type Turn } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { injected } from "./injected.ts";
import { ENGINES, failure } from "./stage.ts";

describe("H1 a turn", () => {
  test.each(ENGINES)(
    "H1 carries the conversation, the user's message, the turn's reference and the scope, on the %s engine",
    async (_name, make) => {
      const turns: Turn[] = [];
      const { agent } = injected(
        [
          preHook({ name: "look" }, (turn) => {
            turns.push(turn);
            return cont(turn);
          }),
        ],
        ["one", "two"],
      );
      const first = await agent.run("Hello", { engine: make(), scope: { user: "u1" } });
      const second = await agent.run("Again", { engine: make(), conversation: first.conversation });

      expect(turns[0]).toMatchObject({ context: [], text: "Hello", turnRef: first.turnRef, answer: null });
      expect(turns[0]?.scope).toEqual({ tenant: "default", user: "u1" });
      expect(turns[1]).toMatchObject({ text: "Again", turnRef: second.turnRef });
      expect(turns[1]?.context.map(({ role }) => role)).toEqual(["user", "assistant"]);
    },
  );

  test("H1 the scope reaches tools and is never shown to the model", async () => {
    const scopes: unknown[] = [];
    const tool = defineTool({
      name: "t",
      execute: (_, { scope, turnRef }) => {
        scopes.push(scope, turnRef);
        return "ok";
      },
    });
    const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
    const result = await new Agent({ name: "a", model, tools: [tool] }).run("Go", {
      scope: { user: "WHOEVER" },
    });

    expect(scopes).toEqual([{ tenant: "default", user: "WHOEVER" }, result.turnRef]);
    expect(JSON.stringify(model.requests)).not.toContain("WHOEVER");
  });

  test("H1 is a value: history and scope cannot be changed, and it says what was added", async () => {
    const { agent } = injected([
      preHook({ name: "tamper" }, (turn) => {
        expect(() => (turn.context as unknown[]).push("x")).toThrow(TypeError);
        expect(() => Object.assign(turn.userMessage, { parts: [] })).toThrow(TypeError);
        expect(() => Object.assign(turn.scope, { tenant: "other" })).toThrow(TypeError);
        expect(turn.append("a", "b").added).toEqual([
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ]);
        expect(turn.added).toEqual([]);
        return cont(turn);
      }),
    ]);
    await agent.run("Go");
  });

  test.each([
    ["nothing", () => undefined, "returned undefined; return cont(turn), halt(reason)"],
    ["the bare turn", (turn: Turn) => turn, "returned a bare turn; return cont(turn), halt(reason)"],
    ["true", () => true, "returned boolean; return cont(turn)"],
    ["regenerate", () => regenerate("again"), "returned regenerate(…); return cont(turn) or halt(reason)"],
    [
      "cont without a turn",
      () => cont(undefined as never),
      "returned cont() without a turn; return cont(turn)",
    ],
    [
      "content that is none",
      (turn: Turn) => cont(turn.append(5 as never)),
      "returned something that is no content",
    ],
    [
      "a file that cannot be sent",
      (turn: Turn) =>
        cont(
          turn.append({ type: "file", media_type: "image/png", source: { kind: "url", url: "no address" } }),
        ),
      "returned something that is no content",
    ],
    [
      "a user's message that is none",
      (turn: Turn) => cont(turn.withUserMessage({} as never)),
      "returned something that is no content",
    ],
  ])(
    "H1 a hook that returns %s fails the turn with its name and what to return",
    async (_what, answer, says) => {
      const { agent, model } = injected([preHook({ name: "odd" }, answer as () => never)]);
      const error = await failure(agent.run("Go"));

      expect(error.code).toBe("hook_failed");
      expect(error.message).toContain(`The hook "odd" ${says}`);
      expect(model.requests).toEqual([]);
    },
  );

  test("H1 a turn of another conversation is no answer", async () => {
    let kept: Turn | undefined;
    const { agent } = injected(
      [
        preHook({ name: "mixer" }, (turn) => {
          kept ??= turn;
          return cont(kept);
        }),
      ],
      ["one", "two"],
    );
    await agent.run("First");
    const error = await failure(agent.run("Second"));

    expect(error.message).toContain('The hook "mixer" returned a turn with another history');
  });
});
