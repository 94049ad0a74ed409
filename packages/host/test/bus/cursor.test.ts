import fc from "fast-check";
import { expect, test } from "vitest";
import { CursorError, formatCursor, type Position, parseCursor } from "../../src/bus/index.ts";

const none = { text: 0, reasoning: 0, inputs: {} };

test("E4 a cursor is a seq, or a place in a message, and the seq of each open child", () => {
  expect(parseCursor("0")).toEqual({ seq: 0, children: {} });
  expect(parseCursor("17:run_01k.main.2.m1@40")).toEqual({
    seq: 17,
    message: { ...none, id: "run_01k.main.2.m1", text: 40 },
    children: {},
  });
  expect(parseCursor("17;run_a=3;run_b=0")).toEqual({
    seq: 17,
    children: { run_a: { seq: 3 }, run_b: { seq: 0 } },
  });
  expect(formatCursor({ seq: 17 })).toBe("17");
  expect(formatCursor({ seq: 17, message: { ...none, id: "r.main.2.m1", text: 40 } })).toBe(
    "17:r.main.2.m1@40",
  );
});

test("E4 a cursor holds what else was seen of the open message, and of a child's", () => {
  const message = { id: "m.1", text: 0, reasoning: 120, inputs: { "r.main.2.0": 30 } };
  const text = formatCursor({
    seq: 5,
    message,
    children: { run_a: { seq: 2, message: { ...none, id: "a.m1", text: 4 } } },
  });
  expect(text).toBe("5:m.1@0,reasoning@120,r.main.2.0@30;run_a=2:a.m1@4");
  expect(formatCursor(parseCursor(text))).toBe(text);
});

test("E4 every cursor is read as it was written, whatever the ids", () => {
  const id = fc
    .string({ unit: "grapheme", minLength: 1 })
    .filter((text) => text !== "reasoning" && text.isWellFormed());
  const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
  // `dictionary` makes objects without a prototype unless told otherwise, which `toEqual` takes for another type.
  const inputs = fc.dictionary(id, count, { maxKeys: 3, noNullPrototype: true });
  const message = fc.record({ id, text: count, reasoning: count, inputs });
  const position: fc.Arbitrary<Position> = fc.oneof(
    fc.record({ seq: count }),
    fc.record({ seq: count, message }),
  );
  const children = fc.dictionary(id, position, { maxKeys: 3, noNullPrototype: true });
  fc.assert(
    fc.property(position, children, (own, open) => {
      expect(parseCursor(formatCursor({ ...own, children: open }))).toEqual({ ...own, children: open });
    }),
  );
});

test.each([
  ["", 'has "" where a seq'],
  ["-1", 'has "-1" where a seq'],
  ["1.5", "where a seq"],
  ["01", "where a seq"],
  ["1e3", "where a seq"],
  ["9007199254740993", "where a seq"],
  [" 1", "where a seq"],
  ["1:", 'has "" where "message_id@offset"'],
  ["1:m", 'has "m" where "message_id@offset"'],
  ["1:@3", 'has "" where an id'],
  ["1:m@", 'has "" where an offset'],
  ["1:m@-3", "where an offset"],
  ["1:m@3,", 'where "message_id@offset"'],
  ["1:m m@3", 'has "m m" where an id'],
  ["1:%zz@3", "no percent-encoded id"],
  ["1;", 'has "" where "child_run=seq"'],
  ["1;a", 'has "a" where "child_run=seq"'],
  ["1;=3", 'has "" where an id'],
  ["1;a=", "where a seq"],
  ["1;a=1;a=2", "names the child a twice"],
  [`1;${"a".repeat(70_000)}=1`, "longer than"],
])("E4 the cursor %j is refused, and the error says what one looks like", (cursor, problem) => {
  const refused = () => parseCursor(cursor);
  expect(refused).toThrow(CursorError);
  expect(refused).toThrow(problem);
  expect(refused).toThrow('"seq:message_id@offset"');
});

test("a cursor's ids cannot reach a prototype", () => {
  const { children } = parseCursor("1;__proto__=5");
  expect(Object.getPrototypeOf(children)).toBe(Object.prototype);
  expect(Object.keys(children)).toEqual(["__proto__"]);
});
