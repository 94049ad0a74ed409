import { type Schema, Validator } from "@cfworker/json-schema";
import type { HookFactory, JsonObject, RailFactory } from "trackside";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { builtInHooks, builtInRails } from "../src/index.ts";
import { HOOK_OPTIONS, type Lists, ONLY_THE_FACTORY, RAIL_OPTIONS } from "./option-lists.ts";

const all: readonly (readonly [string, RailFactory | HookFactory, Lists | undefined])[] = [
  ...Object.entries(builtInRails).map(
    ([name, make]) => [`the rail ${name}`, make, RAIL_OPTIONS[name]] as const,
  ),
  ...Object.entries(builtInHooks).map(
    ([name, make]) => [`the hook ${name}`, make, HOOK_OPTIONS[name]] as const,
  ),
];

/** What the last factory read. */
const reads = vi.hoisted((): unknown[] => []);
vi.mock("../src/kit/options.ts", async (original) => {
  const kit = await original<typeof import("../src/kit/options.ts")>();
  return {
    ...kit,
    readOptions: (...given: Parameters<typeof kit.readOptions>) => {
      const read = kit.readOptions(...given);
      reads.push(read);
      return read;
    },
  };
});

const options = z.looseObject({
  type: z.literal("object"),
  additionalProperties: z.literal(false),
  properties: z.record(z.string(), z.looseObject({ description: z.string().min(1) })),
});

function schemaOf(make: RailFactory | HookFactory) {
  return options.parse(make.about?.options);
}

function fits(make: RailFactory | HookFactory, given: JsonObject): boolean {
  // The checker marks what it is given; its own type lists keywords one by one.
  return new Validator(structuredClone(schemaOf(make)) as Schema, "2020-12").validate(given).valid;
}

describe.each(all)("%s", (_, make, lists) => {
  test("says in a sentence what it does, and every option what it is", () => {
    expect(make.about?.description).toMatch(/^[A-Z].{10,}[^.]\.$/);
    for (const [key, { description }] of Object.entries(schemaOf(make).properties))
      expect(description, key).toMatch(/^[A-Z[].*\.$/);
  });

  test.each(lists?.good.map((given) => [JSON.stringify(given), given] as const) ?? [])(
    "takes %s, and its schema does",
    (_text, given) => {
      make(given, {});
      expect(fits(make, given)).toBe(true);
    },
  );

  test.each(lists?.bad.map((given) => [JSON.stringify(given), given] as const) ?? [])(
    "refuses %s, and its schema does",
    (_text, given) => {
      expect(() => make(given, {})).toThrow();
      expect(fits(make, given)).toBe(false);
    },
  );

  test("has good and bad options here", () => {
    expect(lists?.good.length).toBeGreaterThan(0);
    expect(lists?.bad.length).toBeGreaterThan(0);
  });

  test("has the defaults that its schema shows, and takes each of them when it is written out", () => {
    const [least = {}] = lists?.good ?? [];
    make(least, {});
    const unsaid = reads.at(-1);
    for (const [key, { default: value }] of Object.entries(schemaOf(make).properties)) {
      if (value === undefined || Object.hasOwn(least, key)) continue;
      const given = { ...least, [key]: value as JsonObject[string] }; // JSON, as all of a schema is
      make(given, {});
      expect(reads.at(-1)).toEqual(unsaid);
      expect(fits(make, given), key).toBe(true);
    }
    for (const key of Object.keys(unsaid as object)) // options are an object
      if (!Object.hasOwn(least, key)) expect(schemaOf(make).properties[key], key).toHaveProperty("default");
  });

  test("names no option that only code can give", () => {
    const keys = Object.keys(schemaOf(make).properties);
    for (const key of ["now", "random", "check"]) expect(keys).not.toContain(key);
    expect(JSON.stringify(make.about)).not.toContain("inCode");
  });

  test("makes its schema once", () => {
    expect(make.about?.options).toBe(make.about?.options);
  });
});

test.each(ONLY_THE_FACTORY)("what only reading tells is for the factory: %s %j", (name, given) => {
  const make = builtInRails[name] ?? builtInHooks[name];
  if (make === undefined) throw new Error(`there is no ${name}`);
  expect(() => make(given, {})).toThrow();
  expect(fits(make, given)).toBe(true);
});

test.each(Object.entries(builtInRails))("the rail %s stands where it says", (name, make) => {
  const { priority, on } = make(RAIL_OPTIONS[name]?.good[0] ?? {}, {});
  expect(make.about?.priority).toBe(priority);
  if (name === "judge") expect(make.about?.points).toEqual(expect.arrayContaining([...on]));
  else expect(make.about?.points).toEqual(on);
});

test.each(Object.entries(builtInHooks))("the hook %s is of the kind it says", (name, make) => {
  expect(make(HOOK_OPTIONS[name]?.good[0] ?? {}, {})).toMatchObject({ kind: make.about?.kind });
});
