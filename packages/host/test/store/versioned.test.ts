import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { StoreError } from "../../src/store/index.ts";
import { versioned } from "../../src/store/rows/versioned.ts";

const first = z.object({ v: z.literal(1), name: z.string() });
const second = z.object({ v: z.literal(2), names: z.array(z.string()) });

const codec = versioned({
  name: "people",
  current: 2,
  versions: { 1: first, 2: second },
  upgrade: { 1: (old: Readonly<Record<string, unknown>>) => ({ v: 2, names: [old["name"]] }) },
});

const thrown = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return String(error);
  }
  throw new Error("it did not throw");
};

describe("rows with a version", () => {
  test("the current version comes back as it was written", () => {
    const text = codec.write({ v: 2, names: ["Ada"] });
    expect(text).toBe('{"v":2,"names":["Ada"]}');
    const row = codec.read(text);
    expectTypeOf(row).toEqualTypeOf<{ v: 2; names: string[] }>();
    expect(row).toEqual({ v: 2, names: ["Ada"] });
  });

  test("an old row loads as if it had been written today", () => {
    expect(codec.read('{"v":1,"name":"Ada"}')).toEqual({ v: 2, names: ["Ada"] });
    expect(codec.check('{"v":1,"name":"Ada"}')).toEqual({ v: 2, names: ["Ada"] });
  });

  test("a row of the future is refused, with table, id and version", () => {
    expect(thrown(() => codec.read('{"v":3}', "p_1"))).toMatch(
      /row "p_1" of people has version 3.*knows 2.*Upgrade/,
    );
  });

  test.each(["", "{", "null", "[]", "7", "{}", '{"v":"1"}', '{"v":0}', '{"v":1.5}'])(
    "a broken row (%s) is named",
    (text) => {
      expect(thrown(() => codec.read(text, "p_1"))).toMatch(
        /row "p_1" of people (is no JSON|has no version).*backup/,
      );
    },
  );

  test("only an import looks at the shape", () => {
    const wrong = '{"v":2,"names":[7]}';
    expect(codec.read(wrong)).toEqual({ v: 2, names: [7] });
    expect(thrown(() => codec.check(wrong, "p_1"))).toMatch(/row "p_1" of people.*version 2.*names\.0/);
    expect(thrown(() => codec.check('{"v":1,"name":7}'))).toMatch(/of people.*version 1.*name/);
  });

  test("only the current version is written", () => {
    // @ts-expect-error an older shape
    expect(thrown(() => codec.write({ v: 1, name: "Ada" }))).toMatch(/version 1.*Only version 2/);
  });

  test("a version without its shape or upgrade is a mistake at once", () => {
    const incomplete = { name: "people", current: 2, versions: { 2: second }, upgrade: {} } as const;
    expect(thrown(() => versioned(incomplete))).toMatch(/people lack the shape of version 1/);
    const stuck = { name: "people", current: 2, versions: { 1: first, 2: second }, upgrade: {} } as const;
    // @ts-expect-error version 1 has no upgrade
    expect(thrown(() => versioned(stuck))).toMatch(/people lack the upgrade from version 1/);
  });
});
