import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rowCodecs } from "../../src/row-codecs.ts";
import { brokenSeals, readCorpus, seal } from "./support/corpus.ts";
import { tempDir } from "./support/places.ts";

describe("stored rows of every version", () => {
  test("not a line of them was changed", () => {
    expect(brokenSeals()).toEqual([]);
  });

  test("all of them load", () => {
    for (const { file, name, lines } of readCorpus()) {
      const codec = rowCodecs[name];
      if (codec === undefined)
        throw new Error(`${file} belongs to no codec; there are ${Object.keys(rowCodecs)}`);
      for (const [i, line] of lines.entries())
        expect(() => codec.check(line, `${file}:${i + 1}`)).not.toThrow();
    }
  });

  test("every version of every kind of row has some", () => {
    const there = readCorpus().map(({ file }) => file);
    for (const [name, { current }] of Object.entries(rowCodecs))
      for (let version = 1; version <= current; version += 1)
        expect(there).toContain(`v${version}/${name}.jsonl`);
  });
});

describe("seals", () => {
  test("lines may be added and sealed; a sealed one may not change", () => {
    const dir = tempDir();
    mkdirSync(join(dir, "v1"));
    const file = join(dir, "v1", "people.jsonl");
    writeFileSync(file, '{"v":1,"name":"Ada"}\n');
    expect(brokenSeals(dir)).toEqual([expect.stringMatching(/people\.jsonl: new lines have no seal/)]);
    seal(dir);
    expect(brokenSeals(dir)).toEqual([]);
    appendFileSync(file, '{"v":1,"name":"Bob"}\n');
    seal(dir);
    expect(brokenSeals(dir)).toEqual([]);
    writeFileSync(file, readFileSync(file, "utf8").replace("Ada", "Eve"));
    seal(dir);
    expect(brokenSeals(dir)).toHaveLength(2);
  });
});
