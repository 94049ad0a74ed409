import { join } from "node:path";
import { ToolFile } from "trackside";
import type { ServerDefinition } from "trackside/engine";
import { describe, expect, test, vi } from "vitest";
import { McpHub } from "../../src/mcp/index.ts";
import { watched } from "./support/context.ts";
import { Place } from "./support/place.ts";

vi.setConfig({ testTimeout: 60_000 });

const about = { agent: "agent", scope: { tenant: "t" } };
const library = (
  place: Place,
  more: Partial<ServerDefinition> = {},
  shelf: object = {},
): ServerDefinition => ({
  name: "library",
  command: process.execPath,
  args: [join(import.meta.dirname, "support", "library.ts"), place.mark, JSON.stringify(shelf)],
  ...more,
});
const named = (...names: string[]) => ({
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
});

describe.concurrent("T5 what a call does to the world", () => {
  test.for([
    [false, { look: "once", put: "once", sell: "once", read_resource: "once" }],
    [true, { look: "none", put: "idempotent", sell: "once", read_resource: "none" }],
  ] as const)("is what the server says only if it is trusted: %s", async ([trusted, expected], context) => {
    const place = new Place(context);
    const session = await place.connect(library(place, { trusted }));
    for (const [name, effect] of Object.entries(expected)) {
      const tool = session.tool(`library__${name}`);
      expect([name, tool.effect]).toEqual([name, effect]);
      expect(tool.server).toEqual({ name: "library", trusted });
      expect(tool.childSafe).toBe(true);
    }
  });
});

describe.concurrent("M1 results", () => {
  test("with structure are that structure, checked against what the tool promised", async (context) => {
    const place = new Place(context);
    const session = await place.connect(library(place));
    expect(await session.call("library__count")).toEqual({ books: 3 });
    expect(await session.tool("library__count").output?.check({ books: "three" })).toMatchObject({
      ok: false,
    });
    expect(await session.call("library__miscount")).toBe("\ntwo");
  });
});

describe.concurrent("M1 names", () => {
  test("that two tools would share belong to neither, and are reported", async (context) => {
    const place = new Place(context);
    const connected = await place.hub.connect(
      [library(place, {}, { ...named("a b", "a_b", "fine"), resources: false })],
      about,
    );
    expect(connected.tools.map(({ name }) => name)).toEqual(["mcp__library__fine"]);
    expect(connected.withheld.map(({ server, tool }) => [server, tool])).toEqual([
      ["library", "a b"],
      ["library", "a_b"],
    ]);
    expect(connected.withheld[0]?.reason).toContain("`rename`");
  });

  test("can be told apart with `rename`, and shortened", async (context) => {
    const place = new Place(context);
    const long = "x".repeat(60);
    const shelf = { ...named("a b", "a_b", long), resources: false };
    const without = await place.hub.connect([library(place, {}, shelf)], about);
    expect(without.withheld.map(({ tool }) => tool)).toContain(long);
    const { tools, withheld } = await place.hub.connect(
      [library(place, { rename: { "a b": "spaced", [long]: "short" } }, shelf)],
      about,
    );
    expect(tools.map(({ name }) => name)).toEqual([
      "mcp__library__a_b",
      "mcp__library__short",
      "mcp__library__spaced",
    ]);
    expect(withheld).toEqual([]);
  });

  test("are taken by `include` and left by `exclude`, which know a `*` at the end", async (context) => {
    const place = new Place(context);
    const shelf = { ...named("get_a", "get_b", "set_a"), resources: false };
    const { tools } = await place.hub.connect(
      [library(place, { include: ["get_*", "set_a"], exclude: ["*_nothing", "get_b"] }, shelf)],
      about,
    );
    expect(tools.map(({ name }) => name)).toEqual(["mcp__library__get_a", "mcp__library__set_a"]);
  });

  test("come in the order of the servers, then by name", async (context) => {
    const place = new Place(context);
    const shelf = { ...named("b", "B", "a"), resources: false };
    const { tools } = await place.hub.connect(
      [library(place, { name: "z" }, shelf), library(place, { name: "a" }, shelf)],
      about,
    );
    expect(tools.map(({ name }) => name)).toEqual([
      "mcp__z__B",
      "mcp__z__a",
      "mcp__z__b",
      "mcp__a__B",
      "mcp__a__a",
      "mcp__a__b",
    ]);
  });
});

describe.concurrent("M1 resources and prompts", () => {
  test("a model reaches resources through two tools", async (context) => {
    const place = new Place(context);
    const session = await place.connect(library(place));
    const first = await session.call("library__list_resources");
    expect(first).toEqual({
      resources: [{ uri: "book://one", name: "one", media_type: "text/plain" }],
      next_cursor: "2",
    });
    expect(await session.call("library__list_resources", { cursor: "2" })).toMatchObject({
      resources: [{ uri: "book://cover" }],
    });
    expect(await session.call("library__read_resource", { uri: "book://one" })).toMatchObject({
      uri: "book://one",
      text: "Once upon a time",
    });
    const cover = await session.call("library__read_resource", { uri: "book://cover" });
    expect(cover).toBeInstanceOf(ToolFile);
    expect(cover).toMatchObject({ mediaType: "image/png", name: "cover" });
    expect(Buffer.from((cover as ToolFile).data).toString()).toBe("png");
  });

  test("the two tools obey the filter, and give way to the server's own", async (context) => {
    const place = new Place(context);
    const hidden = await place.connect(library(place, { exclude: ["read_*"] }));
    expect(hidden.names).toContain("mcp__library__list_resources");
    expect(hidden.names).not.toContain("mcp__library__read_resource");
    const own = await place.connect(library(place, {}, named("read_resource")));
    expect(own.names).toEqual(["mcp__library__list_resources", "mcp__library__read_resource"]);
    await expect(own.call("library__read_resource", {})).rejects.toThrow("no tool read_resource");
  });

  test("code reaches both through a session", async (context) => {
    const place = new Place(context);
    await using session = await place.hub.open(library(place), about);
    expect((await session.listResources()).map(({ uri }) => uri)).toEqual(["book://one", "book://cover"]);
    expect(await session.readResource("book://one")).toMatchObject([{ text: "Once upon a time" }]);
    expect(await session.listPrompts()).toMatchObject([{ name: "review" }]);
    const { messages } = await session.getPrompt("review", { book: "one" });
    expect(messages).toMatchObject([{ content: { text: 'Review {"book":"one"}' } }]);
  });

  test("a server without them has none", async (context) => {
    const place = new Place(context);
    await using session = await place.hub.open(library(place, {}, { resources: false }), about);
    expect(await session.listResources()).toEqual([]);
    expect(await session.listPrompts()).toEqual([]);
    const { names } = await place.connect(library(place, {}, { resources: false }));
    expect(names).not.toContain("mcp__library__list_resources");
  });
});

describe.concurrent("M5 approvals of definitions", () => {
  const one = (description: string) => ({
    tools: [{ name: "look", description, inputSchema: { type: "object" } }],
    resources: false,
  });

  test("are kept apart for tenants and servers, and last in the store that is given", async (context) => {
    const kept = new Map<string, string>();
    const definitions = {
      get: async (key: string) => kept.get(key),
      set: async (key: string, digest: string) => void kept.set(key, digest),
    };
    const place = new Place(context, { definitions });
    await place.connect(library(place, {}, one("Looks")));
    await place.hub.connect([library(place, {}, one("Looks"))], { ...about, scope: { tenant: "other" } });
    await place.connect(library(place, { name: "other" }, one("Looks")));
    expect(kept.size).toBe(3);
    expect(new Set(kept.values()).size).toBe(1);

    // The same definition in other words: its arguments are part of what is reached, so a file changes instead.
    const key = [...kept.keys()][0] ?? "";
    kept.set(key, "another digest");
    const again = new McpHub({ definitions });
    context.onTestFinished(() => again.close());
    const { tools, held } = await again.connect([library(place, {}, one("Looks"))], about);
    expect(tools).toEqual([]);
    expect(held).toMatchObject([
      {
        name: "mcp__library__look",
        server: "library",
        approved: "another digest",
        definition: { description: "Looks", input_schema: { type: "object" } },
      },
    ]);
    // A run under way may have it at once when somebody says so.
    expect(await held[0]?.make().run({}, watched().context)).toBe("a shelf");
    await held[0]?.approve();
    expect(kept.get(key)).toBe(held[0]?.digest);
    expect((await again.connect([library(place, {}, one("Looks"))], about)).tools).toHaveLength(1);
  });

  test("a store that fails refuses the run, and the connection is not lost", async (context) => {
    const place = new Place(context, {
      definitions: {
        get: () => Promise.reject(new Error("the store is down")),
        set: () => undefined,
      },
    });
    await expect(place.connect(library(place))).rejects.toThrow("the store is down");
  });
});

test("X5 a call of the 2026 era that waits for a person ends when it is cancelled", async (context) => {
  const place = new Place(context);
  const session = await place.connect(place.fake("modern"));
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const never = new Promise<never>(() => undefined);
  const call = session.start(
    "modern__ask",
    {},
    {
      answer: () => {
        resolve();
        return never;
      },
    },
  );
  await asked;
  call.cancel();
  await expect(call.result).rejects.toThrow("cancelled");
});

test("M2 the request is the same whoever watches: it always asks for progress", async (context) => {
  const place = new Place(context);
  const { tools } = await place.hub.connect([library(place)], about);
  const tool = tools.find(({ name }) => name === "mcp__library__look");
  expect(await tool?.run({}, { ...watched().context, progress: () => undefined })).toBe("a shelf");
});
