import { Agent, cont, defineTool, postHook, preHook, regenerate } from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "./stage.ts";

const TRANSIENT = "~transient~";

/** The bytes of a request without its transient parts, as far as they go before the closing bracket. */
function bytes({ prompt, tools }: ScriptedRequest): string {
  const kept = prompt.filter((message) => !JSON.stringify(message).includes(TRANSIENT));
  return `${JSON.stringify(tools)}${JSON.stringify(kept).slice(0, -1)}`;
}

function transientAt({ prompt }: ScriptedRequest): number {
  return prompt.findIndex((message) => JSON.stringify(message).includes(TRANSIENT));
}

describe.each(ENGINES)("H5 the prefix is stable, on the %s engine", (_name, make) => {
  test("H5 over 50 turns with injections, tools and a regeneration, request N is a byte prefix of request N+1", async () => {
    const look = defineTool({ name: "look", execute: () => ({ found: 3 }) });
    let turn = 0;
    const model = scriptedModel(function* () {
      for (let i = 1; i <= 50; i++) {
        if (i % 3 === 0)
          yield { reasoning: "let me look", text: "looking", calls: [{ tool: "look" }, { tool: "look" }] };
        if (i % 7 === 0) yield `draft ${TRANSIENT} ${i}`;
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
          preHook({ name: "search" }, (given) =>
            cont(given.append(`${TRANSIENT} result ${turn} `.repeat(1 + (turn % 5)))),
          ),
          preHook({ name: "memory", durable: true }, (given) =>
            cont(turn % 4 === 0 ? given.append(`memory ${turn}`) : given),
          ),
        ],
        post: [
          postHook({ name: "tone" }, (given) =>
            given.answer?.startsWith("draft") ? regenerate(`${TRANSIENT} not like this`) : cont(given),
          ),
        ],
      },
    });
    let conversation: Awaited<ReturnType<typeof agent.run>>["conversation"] | undefined;
    for (turn = 1; turn <= 50; turn++) {
      const result = await agent.run(`question ${turn}`, {
        engine: make(),
        ...(conversation ? { conversation } : {}),
      });
      expect(result.output).toBe(`answer ${turn}`);
      conversation = result.conversation;
    }

    const { requests } = model;
    expect(requests).toHaveLength(50 + 16 + 7);
    for (const [i, request] of requests.entries()) {
      const next = requests[i + 1];
      if (next)
        expect(bytes(next).startsWith(bytes(request)), `request ${i} is a prefix of the next`).toBe(true);
    }
  });

  test("H5 the tail is: durable parts, user's message, transient parts; and stays there for all steps", async () => {
    const look = defineTool({ name: "look", execute: () => "found" });
    const model = scriptedModel([
      "first",
      { calls: [{ tool: "look" }] },
      { calls: [{ tool: "look" }] },
      "done",
    ]);
    const agent = new Agent({
      name: "a",
      model,
      tools: [look],
      hooks: {
        pre: [
          preHook({ name: "search" }, (turn) => cont(turn.append(TRANSIENT))),
          preHook({ name: "memory", durable: true }, (turn) => cont(turn.append("durable"))),
        ],
      },
    });
    const first = await agent.run("one", { engine: make() });
    await agent.run("two", { engine: make(), conversation: first.conversation });

    const texts = model.requests.map(({ prompt }) =>
      prompt.map(({ role, content }) =>
        role === "user" ? content.map((p) => ("text" in p ? p.text : "")).join("") : role,
      ),
    );
    const turnTwo = ["durable", "one", "assistant", "durable", "two", TRANSIENT];
    expect(texts).toEqual([
      ["durable", "one", TRANSIENT],
      turnTwo,
      [...turnTwo, "assistant", "tool"],
      [...turnTwo, "assistant", "tool", "assistant", "tool"],
    ]);
    expect(model.requests.slice(1).map(transientAt)).toEqual([5, 5, 5]);
  });
});
