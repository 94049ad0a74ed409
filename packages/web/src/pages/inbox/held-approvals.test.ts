import { expect, test } from "vitest";
import { approval, decided } from "./fixtures.ts";
import { heldApprovals, neighbour, nextOpen } from "./held-approvals.ts";

const [a, b, c] = ["a", "b", "c"].map((id) => approval({ id })) as [Row, Row, Row];
type Row = ReturnType<typeof approval>;
const none = new Map<string, Row>();
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);
const never = () => false;

test("new ones wait, in the order they came in", () => {
  const { rows, waiting } = heldApprovals(["a"], [a, b, c], none, none, never);
  expect(ids(rows)).toEqual(["a"]);
  expect(waiting).toEqual(["b", "c"]);
});

test("an empty list has nothing that could move, so it shows what there is", () => {
  const { rows, waiting } = heldApprovals([], [a, b], none, none, never);
  expect(ids(rows)).toEqual(["a", "b"]);
  expect(waiting).toEqual([]);
});

test("a decided one says so in its place while it is kept, and goes when it is not", () => {
  const changed = new Map([["a", decided({ id: "a" })]]);
  // The list still has it as open: the stream is ahead.
  for (const live of [[a, b], [b]]) {
    const kept = heldApprovals(["a", "b"], live, changed, none, (id) => id === "a");
    expect(kept.rows.map(({ id, state }) => [id, state])).toEqual([
      ["a", "approved"],
      ["b", "pending"],
    ]);
    expect(ids(heldApprovals(["a", "b"], live, changed, none, never).rows)).toEqual(["b"]);
  }
});

test("one that is gone and of which nothing was told stays as it was while it is kept", () => {
  const before = new Map([["a", a]]);
  expect(ids(heldApprovals(["a", "b"], [b], none, before, () => true).rows)).toEqual(["a", "b"]);
});

test("one that was decided before it was ever shown is not announced", () => {
  const changed = new Map([["b", decided({ id: "b" })]]);
  expect(heldApprovals(["a"], [a, b], changed, none, never).waiting).toEqual([]);
});

test("J and K stop at the ends; without one open they begin at an end", () => {
  expect(neighbour([a, b], "a", 1)).toBe("b");
  expect(neighbour([a, b], "b", 1)).toBeUndefined();
  expect(neighbour([a, b], undefined, 1)).toBe("a");
  expect(neighbour([a, b], "gone", -1)).toBe("b");
});

test("after a decision comes the next open one, else the first", () => {
  expect(nextOpen([a, decided({ id: "b" }), c], "a")?.id).toBe("c");
  expect(nextOpen([a, b], "b")?.id).toBe("a");
  expect(nextOpen([decided({ id: "a" })], "a")).toBeUndefined();
});
