import { describe, expect, test, vi } from "vitest";
import { Backoff } from "../../src/mcp/backoff.ts";
import { CallDeadline } from "../../src/mcp/deadline.ts";
import { FloodGate } from "../../src/mcp/flood-gate.ts";
import { headerProblem } from "../../src/mcp/header-arguments.ts";
import { LineReader } from "../../src/mcp/line-reader.ts";
import { ProgressPace, readProgress } from "../../src/mcp/progress.ts";
import { serverEnvironment } from "../../src/mcp/server-environment.ts";
import { StderrTail } from "../../src/mcp/stderr-tail.ts";
import { problemOfJson } from "../../src/mcp/untrusted-json.ts";
import { isCalm, readSchema } from "../../src/mcp/untrusted-schema.ts";

describe("lines", () => {
  const feed = (reader: LineReader, ...chunks: string[]) =>
    chunks.flatMap((chunk) => [...reader.add(Buffer.from(chunk))]);

  test("are put together from pieces, characters cut in two included", () => {
    const reader = new LineReader(100);
    const bytes = Buffer.from("été\nb\n");
    const lines = [...bytes].flatMap((byte) => [...reader.add(Buffer.from([byte]))]);
    expect(lines).toEqual(["été", "b"]);
    expect(feed(new LineReader(100), "a\n\nb\nc", "d\n")).toEqual(["a", "", "b", "cd"]);
  });

  test("longer than allowed are refused, whether they come in one piece or in many", () => {
    expect(() => feed(new LineReader(4), "12345")).toThrow("more than 4 bytes");
    expect(() => feed(new LineReader(4), "123", "45")).toThrow("more than 4 bytes");
    expect(() => feed(new LineReader(4), "12345\n")).toThrow("more than 4 bytes");
    expect(feed(new LineReader(4), "1234\n1234\n12", "34\n")).toEqual(["1234", "1234", "1234"]);
  });
});

test("the tail of stderr is the last lines, each of bounded length", () => {
  const tail = new StderrTail();
  for (let i = 0; i < 1000; i++) tail.add(Buffer.from(`line ${i}\n`));
  tail.add(Buffer.from("x".repeat(100_000)));
  tail.add(Buffer.from("x".repeat(100_000)));
  expect(tail.lines).toHaveLength(10);
  expect(tail.lines.at(0)).toBe("line 991");
  expect(tail.lines.at(-1)?.length).toBeLessThanOrEqual(500);
});

describe("the flood gate", () => {
  test("lets a burst pass and what is slow for ever, and stops the rest", () => {
    let now = 0;
    const gate = new FloodGate(() => now);
    for (let i = 0; i < 10_000; i++) expect(gate.unasked()).toBeUndefined();
    expect(gate.unasked()).toContain("floods");
    const patient = new FloodGate(() => now);
    for (let i = 0; i < 100_000; i++) {
      now += 1;
      expect(patient.unasked()).toBeUndefined();
    }
  });

  test("counts bytes while there is a limit", () => {
    const gate = new FloodGate();
    expect(gate.received(1e9)).toBeUndefined();
    gate.allow(10);
    expect(gate.received(10)).toBeUndefined();
    expect(gate.received(1)).toContain("more than");
  });
});

describe("M4 the deadline of a call", () => {
  const begin = (idleMs: number, totalMs: number, outer = new AbortController()) => ({
    outer,
    deadline: new CallDeadline({ idleMs, totalMs }, outer.signal),
  });
  const clock = () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    return { [Symbol.dispose]: () => vi.useRealTimers() };
  };

  test("is moved by progress, but not beyond the total", () => {
    using _ = clock();
    const { deadline } = begin(100, 250);
    for (const step of [90, 90]) {
      vi.advanceTimersByTime(step);
      deadline.touch();
    }
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(69);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.expired).toContain("longer than 0.25 s");
    expect(deadline.signal.aborted).toBe(true);
  });

  test("comes when nothing is heard", () => {
    using _ = clock();
    const { deadline } = begin(100, 250);
    vi.advanceTimersByTime(100);
    expect(deadline.expired).toContain("nothing was heard of it for 0.1 s");
  });

  test("stands still while somebody is asked, twice at once too", () => {
    using _ = clock();
    const { deadline } = begin(100, 250);
    vi.advanceTimersByTime(50);
    deadline.pause();
    deadline.pause();
    vi.advanceTimersByTime(10_000);
    deadline.resume();
    deadline.touch();
    vi.advanceTimersByTime(10_000);
    deadline.resume();
    vi.advanceTimersByTime(99);
    expect(deadline.signal.aborted).toBe(false);
    deadline.touch();
    vi.advanceTimersByTime(100);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("leaves no timer and no listener behind", () => {
    using _ = clock();
    const { deadline, outer } = begin(100, 250);
    deadline.end();
    deadline.resume();
    expect(vi.getTimerCount()).toBe(0);
    outer.abort();
    expect(deadline.signal.aborted).toBe(false);
  });

  test("comes at once with a cancellation", () => {
    const { deadline, outer } = begin(100, 250);
    outer.abort(new Error("stop"));
    expect(deadline.signal.reason).toEqual(new Error("stop"));
    expect(deadline.expired).toBeUndefined();
    deadline.end();
  });
});

test("M4 a server that keeps failing is left alone for ever longer, up to half a minute, until it does well", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const backoff = new Backoff();
    const failAndWait = () => {
      backoff.failed();
      let waited = 0;
      for (; backoff.isWaiting; waited += 50) vi.advanceTimersByTime(50);
      return waited;
    };
    expect(failAndWait()).toBe(0); // once is tried again at once
    for (const most of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const waited = failAndWait();
      expect(waited).toBeGreaterThanOrEqual(most / 2);
      expect(waited).toBeLessThanOrEqual(most + 50);
    }
    backoff.failed();
    backoff.succeeded();
    expect(backoff.isWaiting).toBe(false);
    expect(failAndWait()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

describe("M2 the pace of progress", () => {
  test("is the server's own, until it is a torrent: then the newest counts, and the last is heard", () => {
    let now = 0;
    const heard: number[] = [];
    const pace = new ProgressPace(
      ({ progress }) => heard.push(progress),
      () => now,
    );
    for (let i = 0; i < 1_000; i++) pace.offer({ progress: i });
    expect(heard).toEqual(Array.from({ length: 200 }, (_, i) => i));
    pace.flush();
    pace.flush();
    expect(heard.slice(200)).toEqual([999]);
    now = 1_000;
    for (let i = 1_000; i < 2_000; i++) pace.offer({ progress: i });
    expect(heard.slice(201)).toEqual(Array.from({ length: 50 }, (_, i) => 1_000 + i));
  });

  test("keeps fractions and drops what is no number", () => {
    expect(readProgress({ progress: 1 / 3, total: 0.5, message: "m", more: 1 })).toEqual({
      progress: 1 / 3,
      total: 0.5,
      message: "m",
    });
    for (const wrong of [null, {}, { progress: "1" }, { progress: Number.NaN }])
      expect(readProgress(wrong)).toBeNull();
    expect(readProgress({ progress: 1, total: "x", message: 5 })).toEqual({ progress: 1 });
  });
});

test("a server sees of our environment what it needs and what it is given", () => {
  const ours = {
    PATH: "/bin",
    LC_ALL: "C",
    HOME: "/home",
    OPENAI_API_KEY: "k",
    SHELL: "/bin/sh",
    LANG: "() { :; }",
  };
  expect(serverEnvironment({ GIVEN: "yes", HOME: "/other" }, ours)).toEqual({
    PATH: "/bin",
    LC_ALL: "C",
    HOME: "/other",
    GIVEN: "yes",
  });
});

describe("what strangers send", () => {
  const limits = { depth: 5, nodes: 100, chars: 100 };

  test.for<[unknown, RegExp | null]>([
    [{ a: [1, "two", null, { b: true }] }, null],
    [JSON.parse('{ "a": { "__proto__": 1 } }'), /__proto__/],
    [JSON.parse("[1e999]"), /not finite/],
    [[[[[[[[]]]]]]], /deeper/],
    [Array.from({ length: 200 }, () => 0), /more than 100 parts/],
    [{ ["k".repeat(60)]: "v".repeat(60) }, /larger/],
  ])("is looked at all through: %j", ([value, problem]) => {
    if (problem === null) expect(problemOfJson(value, limits)).toBeNull();
    else expect(problemOfJson(value, limits)).toMatch(problem);
  });

  test("schemas keep what can be checked, and lose patterns that may take for ever", () => {
    const schema = {
      type: "object",
      properties: {
        pattern: { type: "string", pattern: "^(a+)+$" },
        host: { type: "string", pattern: "^[a-z.]+$", enum: [{ pattern: "(a+)+" }] },
        more: { $ref: "#/$defs/a~1b" },
      },
      $defs: { "a/b": { type: "null" } },
    };
    expect(readSchema(schema)).toEqual({
      ok: true,
      schema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          host: { type: "string", pattern: "^[a-z.]+$", enum: [{ pattern: "(a+)+" }] },
          more: { $ref: "#/$defs/a~1b" },
        },
        $defs: { "a/b": { type: "null" } },
      },
    });
  });

  test.for<[unknown, RegExp]>([
    [null, /not an object/],
    [{ $ref: "https://elsewhere/schema" }, /outside/],
    [{ properties: { a: { $ref: "#/$defs/none" } } }, /does not have/],
    [{ patternProperties: { "^(a|b)*$": {} } }, /for ever/],
    [{ properties: { a: { pattern: 5 } } }, /not a string/],
  ])("schemas that cannot be used are refused: %j", ([schema, problem]) => {
    expect(readSchema(schema)).toMatchObject({ ok: false, problem: expect.stringMatching(problem) });
  });

  test.for([
    ["^[^@]+@[^@]+$", true],
    ["^(?:[a-z]{2})?$", true],
    ["(abc)+", true],
    ["(a+)+", false],
    ["(a|aa)*", false],
    ["((a)*b)*", false],
    ["(.*a){10,}", false],
    ["(a)\\1", false],
    ["[(]a+[)]+", true],
    ["(", false],
  ] as const)("a pattern is sure to end: %s %s", ([pattern, calm]) => {
    expect(isCalm(pattern)).toBe(calm);
  });

  test.for<[object, RegExp | null]>([
    [{ properties: { a: { type: "string", "x-mcp-header": "A" } } }, null],
    [
      { properties: { o: { type: "object", properties: { a: { type: "integer", "x-mcp-header": "A" } } } } },
      null,
    ],
    [{ "x-mcp-header": "A" }, /not a property/],
    [{ properties: { a: { items: { type: "string", "x-mcp-header": "A" } } } }, /not a property/],
    [{ anyOf: [{ properties: { a: { type: "string", "x-mcp-header": "A" } } }] }, /not a property/],
    [{ properties: { a: { type: "string", "x-mcp-header": "A\r\nB: c" } } }, /not one/],
    [{ properties: { a: { type: "number", "x-mcp-header": "A" } } }, /no text/],
    [
      {
        properties: {
          a: { type: "string", "x-mcp-header": "A" },
          b: { type: "string", "x-mcp-header": "a" },
        },
      },
      /twice/,
    ],
  ])("arguments that travel as headers are asked for rightly: %j", ([schema, problem]) => {
    const found = headerProblem(JSON.parse(JSON.stringify(schema)));
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });
});
