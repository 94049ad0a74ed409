import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { plain } from "../../test/support/heard.ts";
import type { Output } from "../io.ts";
import { Screen } from "./screen.ts";
import { cutTo, showTable } from "./table.ts";

function shown(columns: number | undefined, rows: string[][]): string {
  const stream = new PassThrough();
  const output: Output = columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns });
  showTable(new Screen(output, {}), ["ID", "WHY"], rows);
  return plain(String(stream.read()));
}

describe("a table", () => {
  test("has its columns under each other, by what they take on a screen", () => {
    expect(
      shown(undefined, [
        ["日本", "a"],
        ["abcdef", "b"],
      ]),
    ).toBe("ID      WHY\n日本    a\nabcdef  b\n");
  });

  test("is cut where a terminal ends, and nowhere in a file", () => {
    const long = "a text that does not fit";
    expect(shown(20, [["abc", long]])).toBe("ID   WHY\nabc  a text that d…\n");
    expect(shown(undefined, [["abc", long]])).toContain(long);
  });

  test("lets nothing that is written in it pass for a row or move the cursor", () => {
    expect(shown(undefined, [["a", "x\n● forged\x1b[2J"]])).toBe("ID  WHY\na   x ● forged␛[2J\n");
  });

  test("cuts between characters", () => {
    expect(cutTo("日本語", 4)).toBe("日…");
    expect(cutTo("👩‍🚀👩‍🚀👩‍🚀", 5)).toBe("👩‍🚀👩‍🚀…");
    expect(cutTo("abc", 3)).toBe("abc");
  });
});
