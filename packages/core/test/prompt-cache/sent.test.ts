import { describe, expect, test } from "vitest";
import type { Rendered } from "../../src/context/render.ts";
import type { Pieces } from "../../src/local/handlers/request.ts";
import { Following } from "../../src/local/prompt-cache/follow.ts";
import { sameBytes } from "../../src/local/prompt-cache/same-bytes.ts";
import { Sent } from "../../src/local/prompt-cache/sent.ts";

const said = (text: string): Rendered => ({ role: "user", content: [{ type: "text", text }] });
const HEADING = { runId: "r", agent: "a", by: {}, model: "m", tools: [], format: undefined };

/** A list that counts how often its messages are looked at. */
function watched(length: number): { list: Rendered[]; looks: () => number } {
  let looks = 0;
  const list = new Proxy(
    Array.from({ length }, (_, i) => said(`${i}`)),
    {
      get(of, key, self) {
        if (typeof key === "string" && /^\d+$/.test(key)) looks += 1;
        return Reflect.get(of, key, self);
      },
    },
  );
  return { list, looks: () => looks };
}

function sent(log: Rendered[], length: number, more: Partial<Pieces> = {}): Sent {
  const pieces = { system: null, log, length, at: length, tail: [], inserted: [], plan: null };
  return new Sent(HEADING, { ...pieces, added: [], notes: 0, aside: [], ...more }, undefined);
}

describe("following requests", () => {
  test("B6 what is in the log is not looked at again, however long it is", () => {
    const { list, looks } = watched(2_000);
    const plain = new Following(sent(list, 1_000), sent(list, 1_002));
    expect([plain.common, plain.brokenBy]).toEqual([1_000, null]);
    const tail = () => ({ at: 900, inserted: [said("news")] });
    const within = new Following(sent(list, 1_000, tail()), sent(list, 1_002, tail()));
    expect([within.common, within.brokenBy]).toEqual([1_001, null]);
    expect(looks()).toBe(0);
    const noted = new Following(sent(list, 1_000, { added: [said("psst")], notes: 1 }), sent(list, 1_002));
    expect([noted.common, noted.brokenBy]).toEqual([1_000, "note"]);
    expect(looks()).toBeLessThan(5);
  });

  test("B6 what the provider counted is taken, less what is gone; the log is counted once", () => {
    const { list, looks } = watched(2_000);
    const last = sent(list, 1_000, { added: [said("a note of some words")], notes: 1 });
    last.reported = 50_000;
    const { tokens } = new Following(last, sent(list, 1_002)).prefix(60_000);
    expect(tokens).toBeGreaterThan(49_950);
    expect(tokens).toBeLessThan(50_000);
    const before = looks();
    for (const length of [1_004, 1_006]) {
      const next = sent(list, length, { added: [said("another")], notes: 1 });
      new Following(next, sent(list, length + 2)).prefix(0); // never reported: by estimate
    }
    expect(looks() - before).toBeLessThan(1_020);
  });
});

test("H5 the same bytes: keys in the same order, and nothing more or less", () => {
  const alike: [unknown, unknown][] = [
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
    [new URL("https://a.example/x"), new URL("https://a.example/x")],
    ["", ""],
  ];
  const unlike: [unknown, unknown][] = [
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [{ a: 1 }, { a: 1, b: 2 }],
    [[1], [1, 2]],
    [[], {}],
    [{}, []],
    [null, {}],
    [1, "1"],
    [new URL("https://a.example/x"), new URL("https://a.example/y")],
    [new URL("https://a.example/x"), {}],
  ];
  for (const [a, b] of alike) expect(sameBytes(a, b)).toBe(true);
  for (const [a, b] of unlike) expect(sameBytes(a, b)).toBe(false);
});
