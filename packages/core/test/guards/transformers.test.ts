import * as fc from "fast-check";
import {
  Agent,
  defineRail,
  defineTool,
  type StreamHook,
  type StreamTransformer,
  streamTransformer,
} from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, type Event, eventsOf, play, seen, shown } from "./stage.ts";

/** Replaces a word, wherever the stream is cut: it holds back what may be the beginning of one. */
function hiding(word: string, by: string): StreamHook {
  return streamTransformer(`hide ${word}`, () => {
    let held = "";
    return {
      push(chunk) {
        held = (held + chunk).replaceAll(word, by);
        let keep = Math.min(held.length, word.length - 1);
        while (keep > 0 && !word.startsWith(held.slice(held.length - keep))) keep -= 1;
        const out = held.slice(0, held.length - keep);
        held = held.slice(held.length - keep);
        return out;
      },
      flush: () => held,
    };
  });
}

const mapping = (name: string, map: (text: string) => string): StreamHook =>
  streamTransformer(name, () => ({ push: map, flush: () => "" }));

function agentOf(
  reply: ScriptedReply | string,
  stream: readonly StreamHook[],
  chunk: number | ((text: string) => string[]) = 1,
  more: object = {},
) {
  const model = scriptedModel([reply, "next"], { chunk });
  return { agent: new Agent({ name: "a", model, hooks: { stream }, ...more }), model };
}

const reasoned = (events: readonly Event[]) =>
  events.map((event) => (event.type === "reasoning_delta" ? event.text : "")).join("");

describe.each(ENGINES)("H8 transformers, on the %s engine", (_name, make) => {
  test("H8 what is streamed, seen by POST_LLM_CALL, stored, returned and sent again is the transformed text", async () => {
    const guarded: string[] = [];
    const rail = defineRail(
      { name: "look", on: ["POST_LLM_CALL"], onError: "continue" },
      (ctx) => void guarded.push(ctx.inputs.response.text),
    );
    const { agent, model } = agentOf("my SECRET is out", [hiding("SECRET", "***")], 2, { rails: [rail] });
    const { events, result } = await play(agent, { engine: make() });
    await agent.run("Next", { engine: make(), conversation: result.conversation });

    const text = "my *** is out";
    expect(shown(events)).toBe(text);
    expect(eventsOf(events, "text")[0]?.text).toBe(text);
    expect(guarded[0]).toBe(text);
    expect(result.output).toBe(text);
    expect(result.messages.at(-1)).toMatchObject({ parts: [{ type: "text", text }] });
    expect(JSON.stringify([events, result.messages, model.requests])).not.toContain("SECRET");
  });

  test("H8 run in order, each fed with what the one before gave on, also when it comes at the end", async () => {
    const late = streamTransformer("late", () => {
      let all = "";
      return {
        push(chunk) {
          all += chunk;
          return "";
        },
        flush: () => `${all} aab`,
      };
    });
    const { agent } = agentOf("say aab", [
      late,
      hiding("aab", "#"),
      mapping("shout", (text) => text.toUpperCase()),
    ]);
    const { events, result } = await play(agent, { engine: make() });

    expect(result.output).toBe("SAY # #");
    expect(shown(events)).toBe("SAY # #");
  });

  test("H8 text and reasoning each have a transformer of their own, and every message a new one", async () => {
    const made: string[] = [];
    const count = streamTransformer("count", (kind) => {
      made.push(kind);
      let n = 0;
      return { push: (text) => text.replaceAll(/x/g, () => String(++n)), flush: () => "" };
    });
    const tool = defineTool({ name: "t", execute: () => "ok" });
    const model = scriptedModel([{ reasoning: "xx", text: "x x", calls: [{ tool: "t" }] }, { text: "x" }], {
      chunk: 1,
    });
    const { events, result } = await play(
      new Agent({ name: "a", model, tools: [tool], hooks: { stream: [count] } }),
      { engine: make() },
    );

    expect(made.toSorted()).toEqual(["reasoning", "text", "text"]);
    expect(reasoned(events)).toBe("12");
    expect(shown(events)).toBe("1 21");
    expect(result.output).toBe("1");
  });

  test("H8 cut at every point, the result is the same, and nothing that is removed is ever shown", async () => {
    const text = "a SEC, a SECRET, SECSECRETS";
    for (let cut = 0; cut <= text.length; cut++) {
      const { agent } = agentOf(text, [hiding("SECRET", "[x]")], () =>
        [text.slice(0, cut), text.slice(cut)].filter((part) => part !== ""),
      );
      const { events, result } = await play(agent, { engine: make() });

      expect(result.output).toBe("a SEC, a [x], SEC[x]S");
      expect(shown(events)).toBe(result.output);
      expect(seen(events)).not.toContain("SECRET");
    }
  });

  test("H8 for any text in any pieces: shown, stored and returned are one text, the transformed one", async () => {
    const words = fc.array(fc.constantFrom("SECRET", "SEC", "RET", " ", "é", "SECSECRET", "a", "🙂"), {
      maxLength: 12,
    });
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(words, sizes, async (list, pieces) => {
        const text = list.join("");
        const cut = (whole: string) => {
          const letters = Array.from(whole);
          const out: string[] = [];
          for (let i = 0, at = 0; at < letters.length; i++) {
            const size = pieces[i % pieces.length] ?? 1;
            out.push(letters.slice(at, at + size).join(""));
            at += size;
          }
          return out;
        };
        const { agent } = agentOf({ reasoning: text, text: `${text}.` }, [hiding("SECRET", "*")], cut);
        const { events, result } = await play(agent, { engine: make() });
        const expected = text.replaceAll("SECRET", "*");
        expect(result.output).toBe(`${expected}.`);
        expect(shown(events)).toBe(`${expected}.`);
        expect(reasoned(events)).toBe(expected);
        expect(JSON.stringify([events, result.messages])).not.toContain("SECRET");
      }),
      { numRuns: 60 },
    );
  });

  test("H8 annotations are emitted and stored with the message", async () => {
    const cite = streamTransformer("cite", () => ({
      push: (text) => {
        const found = [...text.matchAll(/\[(\d)\]/g)];
        return found.length === 0
          ? text
          : {
              text: text.replaceAll(/\[\d\]/g, ""),
              annotations: found.map(([, n]) => ({ type: "citation", source: Number(n) })),
            };
      },
      flush: () => ({ text: "", annotations: [{ type: "end" }] }),
    }));
    const { agent } = agentOf("It rains[1] in Ghent[2].", [cite], (text) => text.split(/(?<=\])/));
    const { events, result } = await play(agent, { engine: make() });
    const annotations = [{ type: "citation", source: 1 }, { type: "citation", source: 2 }, { type: "end" }];

    expect(result.output).toBe("It rains in Ghent.");
    expect(eventsOf(events, "text")[0]?.annotations).toEqual(annotations);
    expect(result.messages.at(-1)).toMatchObject({ annotations });
  });

  test("H8 one that throws fails the step closed: what it had not cleared is neither shown nor kept", async () => {
    const failing: [string, () => StreamTransformer][] = [
      ["push", () => ({ push: (text) => (text.includes("S") ? boom() : text), flush: () => "" })],
      ["flush", () => ({ push: () => "", flush: boom })],
      ["create", boom],
      ["no text", () => ({ push: () => undefined as never, flush: () => "" })],
      ["a promise", () => ({ push: () => Promise.resolve("x") as never, flush: () => "" })],
      ["half an answer", () => ({ push: () => ({ text: 5 }) as never, flush: () => "" })],
      [
        "annotations that are none",
        () => ({ push: () => ({ text: "", annotations: "x" }) as never, flush: () => "" }),
      ],
    ];
    for (const [what, create] of failing) {
      const { agent, model } = agentOf("all right SECRET", [streamTransformer("bad", create)], 4);
      const { events, result, error } = await play(agent, { engine: make() });

      expect(error?.code, what).toBe("hook_failed");
      expect(error?.message, what).toContain('The stream transformer "bad" failed: ');
      expect(JSON.stringify([events, result.messages]), what).not.toContain("SECRET");
      expect(model.requests, what).toHaveLength(1);
    }
  });

  test("H8 a failure or a cancel drops what a transformer holds back", async () => {
    const hold = streamTransformer("hold", () => {
      let all = "";
      return {
        push(chunk) {
          all += chunk;
          return "";
        },
        flush: () => all,
      };
    });
    const { agent } = agentOf({ text: "my SECRET", errorAfter: 9, error: new Error("broke") }, [hold]);
    const { events, result } = await play(agent, { engine: make({ retry: { retries: 0 } }) });

    expect(JSON.stringify([events, result.messages])).not.toMatch(/SEC|"my/);
  });

  test("H8 reasoning that was changed is not sent back to the provider, what was not is", async () => {
    const signed = { openai: { signature: "abc" } };
    const parts = (delta: string) => [
      { type: "reasoning-start" as const, id: "r" },
      { type: "reasoning-delta" as const, id: "r", delta },
      { type: "reasoning-end" as const, id: "r", providerMetadata: signed },
      { type: "text-delta" as const, id: "t", delta: "hello" },
      {
        type: "finish" as const,
        finishReason: { unified: "stop" as const, raw: "stop" },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
      },
    ];
    for (const [delta, sent] of [
      ["plain thoughts", true],
      ["SECRET thoughts", false],
    ] as const) {
      const model = scriptedModel([{ parts: parts(delta) }, "next"]);
      const agent = new Agent({ name: "a", model, hooks: { stream: [hiding("SECRET", "***")] } });
      const { result, events } = await play(agent, { engine: make() });
      await agent.run("Two", { engine: make(), conversation: result.conversation });
      expect(JSON.stringify(model.requests[1]?.prompt).includes("signature")).toBe(sent);
      expect(eventsOf(events, "context").map(({ action }) => action)).toEqual(sent ? [] : ["withheld"]);
    }
  });
});

describe("H8 transformers and tools", () => {
  test("R4 arguments are not shown while they stream when there are transformers", async () => {
    const tool = defineTool({ name: "t", execute: () => "ok" });
    const { agent } = agentOf({ calls: [{ tool: "t" }] }, [mapping("same", (text) => text)], 1, {
      tools: [tool],
    });
    const { events } = await play(agent);

    expect(events.some(({ type }) => type === "tool_input_delta")).toBe(false);
  });
});

function boom(): never {
  throw new Error("no luck");
}
