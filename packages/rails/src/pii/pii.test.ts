import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type AgentEvent, defineTool, type HookPoint, RailAbortError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { leaks, samples } from "../../test/pii-samples.ts";
import { sameHoweverCut, streamed, textsOf } from "../../test/streams.ts";
import { builtInHooks, builtInRails, type PiiOptions, pii, piiStream } from "../index.ts";

const clean = (text: string, options: PiiOptions = {}) => streamed(piiStream(options), [text]);

describe("values are found", () => {
  test.each([
    ["e-mail addresses", "Mail O'Neil+x@sub.Example.co.uk, <a_b@c-d.io>.", "Mail [EMAIL], <[EMAIL]>."],
    [
      "e-mail addresses in links",
      "mailto:ann%40example.com ?to=ann@example.com&x",
      "mailto:[EMAIL] ?to=[EMAIL]&x",
    ],
    ["e-mail addresses of a machine", "root@10.1.2.3 and josé@münchen.example", "[EMAIL] and [EMAIL]"],
    ["phone numbers", "Call +46 (0)8 928 571 38 or (602)272-9781x12.", "Call [PHONE] or [PHONE]."],
    ["phone numbers by a word before", "Tel.: 450 0840, fax 99 668472", "Tel.: [PHONE], fax [PHONE]"],
    ["phone numbers by a label after", "416 60 039 office\n28-64-66-98-Fax", "[PHONE] office\n[PHONE]-Fax"],
    ["two in a row", "call 450 0840 or 451 0841", "call [PHONE] or [PHONE]"],
    ["cards", "4111 1111 1111 1111, 378282246310005, 6011-0009-9013-9424", "[CARD], [CARD], [CARD]"],
    ["social security numbers", "219-09-9999; SSN 219 09 9999; ssn=219099999", "[SSN]; SSN [SSN]; ssn=[SSN]"],
    ["IBANs", "DE89370400440532013000 or gb82 west 1234 5698 7654 32!", "[IBAN] or [IBAN]!"],
    ["addresses", "10.0.0.7:80, 2001:db8::ff00:42:8329, fe80::1.", "[IP]:80, [IP], [IP]."],
    ["values in markup", "|86.121.97.248|%20/ **ann@example.com**", "|[IP]|%20/ **[EMAIL]**"],
  ])("%s", (_, text, left) => {
    expect(clean(text)).toBe(left);
  });
});

describe("what only looks like one is left", () => {
  test.each([
    ["dates and times", "call me on 2026-11-15 at 12:30:45, or 15.11.2026, Phone 2019-2020"],
    ["amounts", "contact: $1,234,567.89 and 1 200 000 people, 100%"],
    ["versions", "version 1.2.3.4, v10.0.0.1, react@18.2.0, 1.2.3.4.5"],
    ["ids", "123e4567-e89b-12d3-a456-426614174000 order 1234567 #98765432"],
    ["numbers with a wrong check digit", "4111 1111 1111 1112, DE89370400440532013001"],
    ["social security numbers that are never given out", "000-12-3456, 666-12-3456, 123-00-4567"],
    ["code", "std::vector a::b 10:20 git@github.com:org/repo @handle foo@bar ::1 127.0.0.1"],
    ["sequences", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1, 3... 2... 1... 0000 0000 0000 0000"],
    ["hashes", "sha256:4111111111111111aabbccddeeff00112233445566778899aabbccddeeff0011"],
    ["postal codes", "Paris 75001-0123, ZIP: 04379-7942"],
    ["timestamps", "1763200000 1763200000123 20261115"],
  ])("%s", (_, text) => {
    expect(clean(text)).toBe(text);
  });
});

test("of values of every kind in sentences of every kind at least 99 in 100 are gone", () => {
  const all = samples(11, 4000);
  const left = all.filter(({ value, text }) => leaks(value, text, clean(text)));
  expect(left.length / all.length, JSON.stringify(left.slice(0, 5))).toBeLessThan(0.01);
});

describe("on the corpus", () => {
  const path = join(import.meta.dirname, "../../../../../shared/corpora/pii-dev.json");
  const missing = existsSync(path) ? false : `no corpus at ${path}`;
  if (missing) console.log(`skipped: ${missing}`);
  type Row = { text: string; spans: { type: string; value: string }[] };
  const rows = (): Row[] => JSON.parse(readFileSync(path, "utf8"));

  test.skipIf(missing).each([
    ["EMAIL_ADDRESS", 0.95],
    ["CREDIT_CARD", 0.95],
    ["US_SSN", 0.95],
    ["IBAN_CODE", 0.95],
    ["IP_ADDRESS", 0.95],
    ["PHONE_NUMBER", 0.9],
  ])("values of %s are gone, all but a few", (type, least) => {
    const spans = rows().flatMap(({ text, spans }) =>
      spans.filter((span) => span.type === type).map(({ value }) => ({ value, text })),
    );
    const gone = spans.filter(({ value, text }) => !leaks(value, text, clean(text)));
    expect(gone.length / spans.length).toBeGreaterThanOrEqual(least);
  });

  test.skipIf(missing)("a sentence without any is not changed", () => {
    const plain = rows().filter(({ spans }) => spans.length === 0);
    expect(plain.length).toBeGreaterThan(20);
    for (const { text } of plain) expect(clean(text)).toBe(text);
  });

  test.skipIf(missing)("character by character it is the same", () => {
    for (const { text } of rows()) expect(streamed(piiStream(), text.split(""))).toBe(clean(text));
  });
});

test("H8 streamed text comes out the same however it is cut", () => {
  const pieces = [
    "EwanDawson@dayrep.com",
    "a%40b.com",
    "git@github.com",
    "416 60 039",
    " office",
    "+46 (0)8 928 571 38",
    "call me on ",
    "450 0840",
    "Phone:\n",
    "259.735.7502x459",
    " ext. 12",
    "001-253-366-9781",
    "(602)272-9781",
    "4111 1111 1111 1111",
    "060426070011",
    "832-13-6314",
    "ssn 832136314",
    "GB56HXDO88167774656119",
    "GB82 WEST 1234 5698 7654 32",
    "86.121.97.248",
    "version 1.2.3.4",
    "2001:db8::ff00:42:8329",
    "2012-10-01 00:46:43",
    "123e4567-e89b-12d3-a456-426614174000",
    "1 1 1 1 1 ",
    "a".repeat(70),
    "1".repeat(30),
    "a.a.a.a.",
    "@",
    "+",
    "((",
    "::",
  ];
  sameHoweverCut(piiStream(), textsOf(pieces), 3000);
  sameHoweverCut(piiStream({ action: "mask" }), textsOf(pieces), 1000);
});

test("a stream holds back what may still become a value, and nothing else", () => {
  const stream = piiStream().create("text");
  expect(stream.push("Write to ann")).toBe("Write to ");
  expect(stream.push("a, or call (6")).toBe("anna, or call ");
  expect(stream.push("02)272-97")).toBe("");
  expect(stream.push("81, thanks")).toBe("[PHONE], ");
  expect(stream.push(". A lone ( stays. ")).toBe("thanks. A lone ( stays. ");
  expect(stream.flush()).toBe("");
});

describe("actions", () => {
  const text = "ann@example.com 4111-1111-1111-1111 219-09-9999 10.11.12.13 call 450 0840";

  test("mask keeps what is among the last four characters, and never six characters in a row", () => {
    expect(clean(text, { action: "mask" })).toBe(
      "***@*******.com ****-****-****-1111 ***-**-9999 **.**.*2.13 call *** *840",
    );
    for (const { value, text } of samples(5, 500))
      expect(leaks(value, text, clean(text, { action: "mask" }))).toBe(false);
  });

  test("hash gives the same for the same value however it is written, and another with a key", () => {
    const card = clean("4111 1111 1111 1111 4111111111111111 4111-1111-1111-1111", { action: "hash" }).split(
      " ",
    );
    expect(card[0]).toMatch(/^\[CARD:[0-9a-f]{8}\]$/);
    expect(new Set(card).size).toBe(1);
    expect(clean("Ann@Example.com", { action: "hash" })).toBe(clean("ann@example.com", { action: "hash" }));
    expect(clean("ann@example.com", { action: "hash", hashKey: "k" })).not.toBe(
      clean("ann@example.com", { action: "hash" }),
    );
  });

  test("only the entities that are named are looked for, and values that are allowed stay", () => {
    expect(clean(text, { entities: ["ssn", "ip"] })).toBe(
      "ann@example.com 4111-1111-1111-1111 [SSN] [IP] call 450 0840",
    );
    expect(clean("ANN@example.com bob@example.com", { allow: ["ann@example.com"] })).toBe(
      "ANN@example.com [EMAIL]",
    );
  });
});

describe("in a run", () => {
  const result = {
    "ann@example.com": { phone: "450 0840", card: 4111111111111111, at: 1763200000123 },
    notes: ["SSN 219-09-9999", null, true],
  };
  const lookup = defineTool({ name: "lookup", input: { type: "object" }, execute: () => result });
  const broken = defineTool({
    name: "broken",
    execute: () => {
      throw new Error("no user ann@example.com");
    },
  });

  async function run(options: PiiOptions, on?: readonly HookPoint[]) {
    const model = scriptedModel([
      { calls: [{ tool: "lookup", args: { who: "bob@example.com" } }, { tool: "broken" }] },
      "Bob is bob@example.com, ann is at 10.0.0.7.",
    ]);
    const rails = [pii(options, on ? { on } : {})];
    const agent = new Agent({ name: "a", model, tools: [lookup, broken], rails });
    const stream = agent.stream("I am ann@example.com");
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    return { events, model, result: stream.result };
  }

  test("R4 input, results, errors and the answer are rewritten before they are logged; arguments only when asked for", async () => {
    const { result, events, model } = await run({});
    const { output, messages } = await result;
    expect(output).toBe("Bob is [EMAIL], ann is at [IP].");
    const log = JSON.stringify(messages);
    expect(log).toContain(
      '{"[EMAIL]":{"phone":"[PHONE]","card":"[CARD]","at":1763200000123},"notes":["SSN [SSN]",null,true]}',
    );
    expect(log).toContain("Its message is withheld: found 1 email in the error of broken.");
    expect(log.replace('{"who":"bob@example.com"}', "")).not.toMatch(/@example|219-09|450 0840|4111/);
    expect(JSON.stringify(model.requests[1]?.prompt).replace("bob@example.com", "")).not.toContain(
      "@example",
    );
    const reasons = events
      .flatMap((event) => (event.type === "rail" ? event.records : []))
      .map(({ reason }) => reason);
    expect(reasons).toContain("redacted 1 email in the input");
    expect(reasons).toContain("redacted 1 phone, 1 card, 1 email, 1 ssn in the result of lookup");
  });

  test("on PRE_TOOL_CALL what the tool gets is rewritten too", async () => {
    const got: unknown[] = [];
    const spy = defineTool({
      name: "spy",
      input: { type: "object" },
      execute: (args) => void got.push(args),
    });
    const model = scriptedModel([{ calls: [{ tool: "spy", args: { to: "bob@example.com" } }] }, "ok"]);
    await new Agent({ name: "a", model, tools: [spy], rails: [pii({}, { on: ["PRE_TOOL_CALL"] })] }).run(
      "go",
    );
    expect(got).toEqual([{ to: "[EMAIL]" }]);
  });

  test("on PRE_LLM_CALL nothing of it is sent to the model, and the log keeps what was said", async () => {
    const { result, model } = await run({}, ["PRE_LLM_CALL"]);
    const { messages } = await result;
    expect(JSON.stringify(model.requests.map(({ prompt }) => prompt))).not.toMatch(
      /@example|219-09|450 0840|4111/,
    );
    expect(JSON.stringify(messages)).toContain("I am ann@example.com");
  });

  test("R9 block ends the run and names what was found, not the value", async () => {
    const { result } = await run({ action: "block" });
    const failed = await result.catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RailAbortError);
    expect(failed).toMatchObject({ railName: "pii", point: "START", reason: "found 1 email in the input" });
    expect(String(failed)).not.toContain("ann@");
  });

  test("R7 block with skip does without the input, the result or the answer", async () => {
    expect(await (await run({ action: "block", onBlock: "skip" })).result).toMatchObject({
      stopReason: "skipped",
      output: "",
    });
    const { messages } = await (
      await run({ action: "block", onBlock: "skip" }, ["POST_TOOL_CALL", "TOOL_ERROR"])
    ).result;
    const results = JSON.stringify(messages.filter(({ role }) => role === "tool"));
    expect(results).not.toMatch(/@example|219-09/);
  });

  test("R15 with the transformer text streams live, and no delta ever holds a value", async () => {
    const model = scriptedModel(["Bob is bob@example.com, call (602) 272-9781 or 450 0840."], { chunk: 1 });
    const agent = new Agent({ name: "a", model, hooks: { stream: [piiStream()] } });
    const stream = agent.stream("who?");
    let shown = "";
    let deltas = 0;
    for await (const event of stream) {
      if (event.type !== "text_delta") continue;
      shown += event.text;
      deltas += 1;
    }
    expect(shown).toBe("Bob is [EMAIL], call [PHONE] or [PHONE].");
    expect(deltas).toBeGreaterThan(5);
    expect((await stream.result).output).toBe(shown);
  });

  test("block on a stream fails the run before the value is shown", async () => {
    const model = scriptedModel(["Bob is bob@example.com."], { chunk: 3 });
    const stream = new Agent({
      name: "a",
      model,
      hooks: { stream: [piiStream({ action: "block" })] },
    }).stream("who?");
    let shown = "";
    for await (const event of stream) if (event.type === "text_delta") shown += event.text;
    expect(shown).not.toContain("bob");
    await expect(stream.result).rejects.toThrow(/"pii" failed: found 1 email/);
  });
});

test("a long text leaves the event loop to others", async () => {
  const text = "Call +46 8 928 571 38 now, or 4111 1111 1111 1111. ".repeat(20_000);
  let turns = 0;
  let watching = true;
  const tick = () => {
    turns += 1;
    if (watching) setImmediate(tick);
  };
  setImmediate(tick);
  const agent = new Agent({ name: "a", model: scriptedModel([text], { chunk: "whole" }), rails: [pii()] });
  const { output } = await agent.run("go");
  watching = false;
  expect(output).toBe("Call [PHONE] now, or [CARD]. ".repeat(20_000));
  expect(turns).toBeGreaterThan(10);
});

test("a serialized agent uses it by name, and every problem with its options is told", () => {
  const load = (options: object) =>
    Agent.fromJSON(
      {
        name: "a",
        model: "openai:gpt-4o",
        rails: [{ use: "pii", options: { ...options }, priority: 11, on: ["START"] }],
        hooks: { stream: [{ use: "pii", options: { action: "mask" } }] },
      },
      { rails: builtInRails, hooks: builtInHooks },
    );
  const agent = load({ action: "redact" });
  expect(agent.railManager?.rails[0]).toMatchObject({ name: "pii", priority: 11, on: ["START"] });
  expect(agent.toJSON()).toMatchObject({ rails: [{ use: "pii" }], hooks: { stream: [{ use: "pii" }] } });
  expect(() => load({ action: "delete", entity: [] })).toThrow(/(?=.*action)(?=.*entity)/s);
  expect(() => pii({}, { on: ["FINISHED"] })).toThrow(/points of START/);
});
