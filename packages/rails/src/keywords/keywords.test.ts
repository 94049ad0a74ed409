import { Agent, type AgentEvent, defineTool, RailAbortError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { sameHoweverCut, streamed, textsOf } from "../../test/streams.ts";
import { builtInHooks, builtInRails, type KeywordsOptions, keywords, keywordsStream } from "../index.ts";

const words = [
  "secret",
  "Project Titan",
  "project titan two",
  "naïve",
  "Straße",
  "内部",
  "#tag",
  "C++",
  "ملف",
];
const clean = (text: string, options: { wholeWord?: boolean; caseSensitive?: boolean } = {}) =>
  streamed(keywordsStream({ words, replacement: "X", ...options }), [text]);

describe("words are found", () => {
  test.each([
    ["whole, in any case", "A Secret, SECRET or secret.", "A X, X or X."],
    ["as phrases with any space between", "project   titan, PROJECT\n\tTITAN", "X, X"],
    ["the longest one of several", "project titan two", "X"],
    ["in another Unicode form", "nai\u0308ve ＳＥＣＲＥＴ 𝐬𝐞𝐜𝐫𝐞𝐭", "X X X"],
    ["with something invisible in them", "se\u200bcr\u00adet", "X"],
    ["ß as SS", "STRASSE straße", "X X"],
    ["in scripts without spaces", "这是内部文件", "这是X文件"],
    ["next to such scripts", "的secret的", "的X的"],
    ["with signs at their ends", "a#tag C++, C++x", "aX X, Xx"],
    ["in scripts from right to left", "هذا ملف.", "هذا X."],
    ["between signs", "(secret) 'secret' secret-ish", "(X) 'X' X-ish"],
  ])("%s", (_, text, left) => {
    expect(clean(text)).toBe(left);
  });

  test.each([
    ["as a part of another word", "secretary, nonsecret, secret_x, secret2"],
    ["with an accent that is not theirs", "secre\u0301t naive"],
    ["with a word between", "project of titan"],
    ["half of a phrase", "project tita"],
  ])("but not %s", (_, text) => {
    expect(clean(text)).toBe(text);
  });
});

test("parts of words count, and case counts, where that is asked for", () => {
  expect(clean("secretary", { wholeWord: false })).toBe("Xary");
  expect(clean("Secret secret project titan Project Titan", { caseSensitive: true })).toBe(
    "Secret X project titan X",
  );
});

test("H8 streamed text comes out the same however it is cut", () => {
  const pieces = [
    "secret",
    "Secret",
    " ",
    "project",
    "titan",
    " two",
    "nai\u0308ve",
    "naïve",
    "strasse",
    "内部",
    "#tag",
    "C++",
    "ملف",
    "\u200b",
    "\u0301",
    "s",
    "x",
    "\n",
    "project  titan t",
    "secre",
  ];
  sameHoweverCut(keywordsStream({ words, replacement: "X" }), textsOf(pieces), 3000);
  sameHoweverCut(
    keywordsStream({ words: [...words, "ecr", "t t"], wholeWord: false }),
    textsOf(pieces),
    3000,
  );
});

test("a stream holds back what may still become a word, and nothing else", () => {
  const stream = keywordsStream({ words }).create("text");
  expect(stream.push("Tell me the sec")).toBe("Tell me the ");
  expect(stream.push("ond thing, a secretary wa")).toBe("second thing, a secretary wa");
  expect(stream.push(" projec")).toBe(" ");
  expect(stream.push("ts")).toBe("projects");
  expect(stream.push("")).toBe("");
  expect(stream.flush()).toBe("");
});

describe("in a run", () => {
  const run = async (options: KeywordsOptions, input = "hello") => {
    const lookup = defineTool({ name: "lookup", execute: () => ["the SECRET plan"] });
    const model = scriptedModel([{ calls: [{ tool: "lookup" }] }, "The secret is out."]);
    const agent = new Agent({ name: "a", model, tools: [lookup], rails: [keywords(options)] });
    const stream = agent.stream(input);
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    return { events, result: stream.result };
  };

  test("redact rewrites input, results and answers", async () => {
    const { result } = await run({ words }, "My secret");
    const { output, messages } = await result;
    expect(output).toBe("The [REDACTED] is out.");
    expect(JSON.stringify(messages)).not.toMatch(/secret/i);
  });

  test("alert changes nothing and says so in an event", async () => {
    const { result, events } = await run({ words, action: "alert" });
    expect((await result).output).toBe("The secret is out.");
    const alerts = events.flatMap((event) => (event.type === "rail" ? event.records : []));
    expect(alerts.map(({ rail, alert }) => `${rail}: ${alert}`)).toEqual([
      "keywords: found 1 keyword in the result of lookup",
      "keywords: found 1 keyword in the answer",
    ]);
  });

  test("block ends the run, or with skip does without", async () => {
    const failed = await (await run({ words, action: "block" }, "My secret")).result.catch(
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(RailAbortError);
    expect(failed).toMatchObject({ reason: "found 1 keyword in the input", point: "START" });
    const skipped = await (await run({ words, action: "block", onBlock: "skip" }, "My secret")).result;
    expect(skipped).toMatchObject({ stopReason: "skipped", output: "" });
  });
});

test("a serialized agent uses it by name, and on a stream alert is refused", () => {
  const load = (options: object, stream: object = options) =>
    Agent.fromJSON(
      {
        name: "a",
        model: "openai:gpt-4o",
        rails: [{ use: "keywords", options: { ...options } }],
        hooks: { stream: [{ use: "keywords", options: { ...stream } }] },
      },
      { rails: builtInRails, hooks: builtInHooks },
    );
  expect(load({ words: ["a"] }).toJSON()).toMatchObject({
    rails: [{ use: "keywords", options: { words: ["a"] } }],
  });
  expect(() => load({ words: ["a"] }, { words: ["a"], action: "alert" })).toThrow(/only the rail can alert/);
  expect(() => load({ words: [] })).toThrow(/words/);
  expect(() => load({ words: [" "] })).toThrow(/words\[0\].*a word or a phrase/s);
});
