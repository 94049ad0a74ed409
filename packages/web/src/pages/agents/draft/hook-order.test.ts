import { expect, test } from "vitest";
import type { HookRow } from "./agent-draft.ts";
import { movedHook, withPlace, withPrevious } from "./hook-order.ts";

/** `a (b c) d` is how a list with one group is written here. */
function rowsOf(text: string): HookRow[] {
  let group: string | null = null;
  return text.split(" ").map((word) => {
    if (word.startsWith("(")) group = word;
    const id = word.replaceAll(/[()]/g, "");
    const row: HookRow = { id, place: "pre", group, ref: { use: id } };
    if (word.endsWith(")")) group = null;
    return row;
  });
}

function textOf(rows: readonly HookRow[]): string {
  return rows
    .map(({ id, group }, at) => {
      if (group === null) return id;
      const opens = rows[at - 1]?.group !== group;
      const closes = rows[at + 1]?.group !== group;
      return `${opens ? "(" : ""}${id}${closes ? ")" : ""}`;
    })
    .join(" ");
}

test("hooks join the one before them, and leave it with those behind", () => {
  expect(textOf(withPrevious(rowsOf("a b c"), "b", true))).toBe("(a b) c");
  expect(textOf(withPrevious(rowsOf("(a b) c"), "c", true))).toBe("(a b c)");
  expect(textOf(withPrevious(rowsOf("(a b c)"), "b", false))).toBe("a (b c)");
  expect(textOf(withPrevious(rowsOf("(a b)"), "b", false))).toBe("a b");
  expect(textOf(withPrevious(rowsOf("a b"), "a", true))).toBe("a b");
});

test("moving keeps groups whole: in between it joins, outside it leaves, a group of one is none", () => {
  expect(textOf(movedHook(rowsOf("a (b c)"), "a", 1))).toBe("(b a c)");
  expect(textOf(movedHook(rowsOf("(a b) c"), "b", 1))).toBe("a c b");
  expect(textOf(movedHook(rowsOf("(a b c)"), "c", -1))).toBe("(a c b)");
  expect(textOf(movedHook(rowsOf("a b"), "a", -1))).toBe("a b");
});

test("a hook is added behind those of its place", () => {
  const rows: HookRow[] = [...rowsOf("a b"), { id: "s", place: "stream", group: null, ref: { use: "s" } }];
  const added = withPlace(rows, { id: "c", place: "pre", group: null, ref: { use: "c" } });
  expect(added.map(({ id }) => id)).toEqual(["a", "b", "c", "s"]);
});
