import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArtifactReader, ArtifactRef } from "./artifact.ts";
import type { ToolContext } from "./define-tool.ts";
import { readArtifactTool } from "./read-artifact.ts";

/** One artifact, and how many bytes of it were read. */
function shelf(content: Uint8Array | string, media_type = "text/plain") {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const ref: ArtifactRef = { id: "art_1.0", media_type, bytes: bytes.length, digest: "d", sources: ["dump"] };
  const seen = { bytes: 0 };
  const reader: ArtifactReader = {
    find: (id) => (id === ref.id ? ref : undefined),
    read: (_id, start, end) => {
      expect(start).toBeLessThanOrEqual(end);
      expect(end).toBeLessThanOrEqual(bytes.length);
      seen.bytes += end - start;
      return bytes.subarray(start, end);
    },
  };
  const tool = readArtifactTool(reader, 32_768);
  const read = async (args: object) =>
    String(await tool.run({ artifact_id: "art_1.0", ...args }, {} as ToolContext));
  return { read, seen };
}

/** What is on a page, and where the next one begins. */
function pageOf(answer: string): { text: string; next: number | undefined } {
  const lines = answer.split("\n");
  const next = /^\[More from offset (\d+) on\.\]$/.exec(lines.at(-1) ?? "");
  if (next === null) expect(lines.at(-1)).toBe("[This is its end.]");
  return { text: lines.slice(1, -1).join("\n"), next: next ? Number(next[1]) : undefined };
}

describe("T4 pages", () => {
  test("T4 pages put together are the text, whatever is in it and however large they are", async () => {
    const unit = fc.constantFrom("a", "\n", "é", "漢", "😀", "\u0000", "e\u0301");
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit, maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (whole, limit) => {
          const { read } = shelf(whole);
          let got = "";
          for (let offset: number | undefined = 0; offset !== undefined; ) {
            const { text, next } = pageOf(await read({ offset, limit }));
            expect(text.isWellFormed()).toBe(true);
            expect(text.length).toBeLessThanOrEqual(limit + 1);
            got += text;
            expect(next === undefined || next > offset).toBe(true);
            offset = next;
          }
          expect(got).toBe(whole);
        },
      ),
    );
  });

  test("T4 characters that lie across what is read at once stay whole", async () => {
    const whole = `${"a".repeat((1 << 20) - 2)}漢${"b".repeat(1 << 20)}😀end`;
    const { read } = shelf(whole);
    const at = (1 << 20) - 5;
    expect(pageOf(await read({ offset: at, limit: 10 })).text).toBe(whole.slice(at, at + 10));
    expect(pageOf(await read({ offset: whole.length - 5 })).text).toBe("😀end");
    expect(pageOf(await read({ offset: whole.length - 4 })).text).toBe("😀end"); // not half of it
  });

  test("T4 no more is read than it takes to come there", async () => {
    const { read, seen } = shelf("x".repeat(5 << 20));
    await read({});
    expect(seen.bytes).toBeLessThanOrEqual(1 << 20);
  });

  test("T4 a page has a limit of its own, and an empty artifact has one page", async () => {
    const { read } = shelf("x".repeat(100_000));
    expect(pageOf(await read({})).text).toHaveLength(8_000);
    expect(pageOf(await read({ limit: 90_000 }))).toEqual({ text: "x".repeat(20_000), next: 20_000 });
    expect(pageOf(await shelf("").read({}))).toEqual({ text: "", next: undefined });
  });

  test("T4 what is asked for in vain is told in words", async () => {
    const { read } = shelf("four");
    await expect(read({ artifact_id: "art_2.0" })).rejects.toThrow(
      'no artifact "art_2.0" in this conversation',
    );
    await expect(read({ offset: 4 })).rejects.toThrow(
      "offset 4 is beyond the end: art_1.0 has 4 characters. Use one from 0 to 3.",
    );
    await expect(read({ offset: 9, search: "x" })).rejects.toThrow("offset 9 is beyond the end");
  });
});

describe("T4 search", () => {
  const hits = (answer: string) =>
    [...answer.matchAll(/^line (\d+), offset (\d+):$/gm)].map(([, line, at]) => [Number(line), Number(at)]);

  test("T4 finds every place, whatever the case and wherever the pieces end", async () => {
    const unit = fc.constantFrom("a", "B", "\n", "é", "İ", "😀");
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit, maxLength: 40 }),
        fc.constantFrom("ab", "É", "b\na", "😀"),
        async (text, needle) => {
          // The text begins around where one piece ends and the next begins.
          const whole = `${"-".repeat((1 << 20) - 20)}${text}`;
          const expected: number[][] = [];
          const lower = (one: string) => one.replaceAll("A", "a").replaceAll("B", "b").replaceAll("É", "é");
          for (
            let at = lower(whole).indexOf(lower(needle));
            at >= 0;
            at = lower(whole).indexOf(lower(needle), at + needle.length)
          )
            expected.push([whole.slice(0, at).split("\n").length, at]);
          expect(hits(await shelf(whole).read({ search: needle }))).toEqual(expected.slice(0, 20));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("T4 shows what is around it, in whole lines where they are short", async () => {
    const text = Array.from({ length: 400 }, (_, i) => `row ${i + 1} of the table`).join("\n");
    const answer = await shelf(text).read({ search: "ROW 200 " });
    expect(answer).toMatch(/^line 200, offset \d+:\nrow 19\d of the table\n/m);
    expect(answer).toContain("\nrow 200 of the table\nrow 201 of the table\n");
    expect(answer).toContain("[These are all.]");
    const long = await shelf(`${"x".repeat(5000)}needle${"y".repeat(5000)}`).read({ search: "needle" });
    expect(long).toMatch(/\n…x{160}needley{160}…\n/);
  });

  test("T4 many hits come in turns, each once", async () => {
    const { read } = shelf(Array.from({ length: 53 }, (_, i) => `hit ${i}`).join("\n"));
    const all: number[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const answer: string = await read({ search: "hit", offset });
      all.push(...hits(answer).map(([line]) => line ?? 0));
      const next = /search again from offset (\d+) on/.exec(answer);
      offset = next ? Number(next[1]) : undefined;
    }
    expect(all).toEqual(Array.from({ length: 53 }, (_, i) => i + 1));
  });

  test("T4 what is nowhere is told, too", async () => {
    expect(await shelf("some text").read({ search: "other" })).toContain('"other" does not occur in it.');
  });
});

describe("T4 what is no text", () => {
  const bytes = new Uint8Array(10_000).map((_, i) => (i * 7) % 256);

  test("T4 is told about, and read as base64 on request, a little at a time", async () => {
    const { read, seen } = shelf(bytes, "image/png");
    expect(await read({})).toMatch(/10000 bytes of image\/png/);
    expect(seen.bytes).toBe(0);
    for (const [offset, limit] of [
      [0, 1],
      [1, 2],
      [5, 3],
      [9_999, 50],
      [0, 9_999],
    ] as const) {
      const answer = await read({ offset, limit });
      const expected = bytes.subarray(offset, offset + Math.min(limit, 3_000));
      expect(answer.split("\n")[1]).toBe(Buffer.from(expected).toString("base64"));
    }
    await expect(read({ offset: 10_000 })).rejects.toThrow("beyond the end");
    await expect(read({ search: "x" })).rejects.toThrow("cannot be searched");
  });
});

test("T4 it runs again without harm, and sub-agents may have it", () => {
  const tool = readArtifactTool({ find: () => undefined, read: () => new Uint8Array() }, 0);
  expect(tool).toMatchObject({ name: "read_artifact", effect: "none", childSafe: true, bounded: true });
});
