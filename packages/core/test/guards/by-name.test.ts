import {
  Agent,
  AgentConfigError,
  abort,
  cont,
  defineRail,
  type GuardRegistry,
  type HookFactory,
  memberHook,
  parallel,
  postHook,
  preHook,
  type RailFactory,
  type Registry,
  skip,
  streamTransformer,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { failure, play, tracked } from "./stage.ts";

/** Blocks the tools named in its options. */
const block: RailFactory = ({ tools }, settings) => {
  if (!Array.isArray(tools)) throw new TypeError("tools: a list of names expected");
  return defineRail({ name: "block", on: ["PRE_TOOL_CALL"], ...settings }, (ctx) =>
    "toolName" in ctx.inputs && tools.includes(ctx.inputs.toolName) ? skip("blocked") : undefined,
  );
};
const note: HookFactory = ({ text }, settings) =>
  preHook({ name: "note", ...settings }, (turn) => cont(turn.append(String(text))));
const fact: HookFactory = ({ text }, settings) =>
  memberHook({ name: `fact ${text}`, ...settings }, () => String(text));
const tone: HookFactory = (_options, settings) =>
  postHook({ name: "tone", ...settings }, (turn) => cont(turn));
const shout: HookFactory = () =>
  streamTransformer("shout", () => ({ push: (text) => text.toUpperCase(), flush: () => "" }));
const log: HookFactory = () => function log() {};

const registry: GuardRegistry = { rails: { block }, hooks: { note, fact, tone, shout, log } };
const JSON_AGENT = {
  name: "a",
  model: "openai:gpt-4o",
  rails: [
    {
      use: "block",
      name: "no-t",
      options: { tools: ["t"] },
      priority: 15,
      mode: "enforce",
      on_error: "abort",
      timeout_ms: 500,
    },
  ],
  hooks: {
    pre: [
      { use: "note", options: { text: "hello" }, durable: true },
      {
        parallel: [
          { use: "fact", options: { text: "one" } },
          { use: "fact", options: { text: "two" }, critical: true },
        ],
      },
    ],
    post: [{ use: "tone", timeout_ms: 100 }],
    stream: [{ use: "shout" }],
    on: { START: [{ use: "log" }] },
  },
};

describe("A7 rails and hooks by name", () => {
  test("A7 a definition that names them binds them, and is written again as it was", () => {
    const agent = Agent.fromJSON(JSON_AGENT, registry);

    expect(agent.railManager?.rails).toMatchObject([
      { name: "no-t", priority: 15, timeoutMs: 500, on: ["PRE_TOOL_CALL"] },
    ]);
    expect(agent.pipeline.pre).toMatchObject([
      { name: "note", durable: true },
      {
        kind: "parallel",
        members: [
          { name: "fact one", critical: false },
          { name: "fact two", critical: true },
        ],
      },
    ]);
    expect(agent.hookManager.on("START")).toHaveLength(1);
    expect(agent.toJSON()).toMatchObject({ rails: JSON_AGENT.rails, hooks: JSON_AGENT.hooks });
    expect(Agent.fromJSON(agent.toJSON(), registry).toJSON()).toEqual(agent.toJSON());
  });

  test("A7 they run", async () => {
    const { tool, ran } = tracked("t");
    const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
    const agent = new Agent(
      {
        name: "a",
        model,
        tools: [tool],
        rails: [{ use: "block", options: { tools: ["t"] } }],
        hooks: { pre: [{ use: "note", options: { text: "NOTED" } }], stream: [{ use: "shout" }] },
      },
      registry as Registry,
    );
    const { result } = await play(agent);

    expect(ran).toEqual([]);
    expect(result.output).toBe("DONE");
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain("NOTED");
  });

  test("A7 options keep their keys, in both forms", () => {
    const given: unknown[] = [];
    const keep: RailFactory = (options, settings) => {
      given.push(options, settings);
      return defineRail({ name: "keep", ...settings }, () => {});
    };
    const options = { max_calls: 1, maxCalls: 2, deep: { snake_case: { camelCase: true } } };
    Agent.fromJSON(
      { name: "a", model: "openai:gpt-4o", rails: [{ use: "keep", options, on_error: "continue" }] },
      { rails: { keep } },
    );
    new Agent(
      { name: "a", model: "openai:gpt-4o", rails: [{ use: "keep", options, onError: "continue" }] },
      { rails: { keep } },
    );

    expect(given).toEqual([options, { onError: "continue" }, options, { onError: "continue" }]);
  });

  test.each([
    [
      "an unknown rail",
      { rails: [{ use: "blok" }] },
      /rails\[0\]\.use: a registered rail \(block\) expected, "blok" given/,
    ],
    [
      "an unknown hook",
      { hooks: { pre: [{ use: "nota" }] } },
      /hooks\.pre\[0\]\.use: a registered hook \(note, fact, tone, shout, log\)/,
    ],
    [
      "one in a group",
      { hooks: { pre: [{ parallel: [{ use: "fact" }, { use: "x" }] }] } },
      /hooks\.pre\[0\]\.parallel\[1\]\.use/,
    ],
    ["a name of Object", { rails: [{ use: "toString" }] }, /rails\[0\]\.use: a registered rail/],
    [
      "options the factory refuses",
      { rails: [{ use: "block" }] },
      /rails\[0\]\.options: tools: a list of names expected/,
    ],
    [
      "a hook of the wrong kind",
      { hooks: { post: [{ use: "note" }] } },
      /hooks\.post\[0\]\.options: options of a factory that makes a post hook/,
    ],
    [
      "a hook that is no function",
      { hooks: { on: { START: [{ use: "note" }] } } },
      /hooks\.on\.START\[0\]\.options: .*a function/,
    ],
    [
      "the same name twice",
      { rails: [0, 1].map(() => ({ use: "block", options: { tools: [] } })) },
      /rails\[1\]: each name once expected, "block" given/,
    ],
  ])("A7 %s is a problem with its path", (_what, more, says) => {
    const make = () => Agent.fromJSON({ name: "a", model: "openai:gpt-4o", ...more }, registry);

    expect(make).toThrow(AgentConfigError);
    expect(make).toThrow(says);
  });

  test("A7 every problem is told at once", () => {
    const json = {
      name: "a",
      model: "openai:gpt-4o",
      rails: [{ use: "x" }, { use: "block" }],
      hooks: { post: [{ use: "y" }] },
    };
    try {
      Agent.fromJSON(json, registry);
      expect.unreachable();
    } catch (error) {
      expect((error as AgentConfigError).issues.map(({ path }) => path)).toEqual([
        "rails[0].use",
        "rails[1].options",
        "hooks.post[0].use",
      ]);
    }
  });

  test.each([
    ["mode", { mode: "shadow" }],
    ["priority", { priority: 3 }],
    ["on", { on: ["START"] }],
    ["name", { name: "other" }],
    ["on_error", { on_error: "continue" }],
    ["timeout_ms", { timeout_ms: 5 }],
  ])(
    "A7 a factory that would drop the definition's `%s` is a problem: nothing is dropped silently",
    (field, said) => {
      const deaf: RailFactory = () => defineRail({ name: "deaf" }, () => abort("no"));
      const make = () =>
        Agent.fromJSON(
          { name: "a", model: "openai:gpt-4o", rails: [{ use: "deaf", ...said }] },
          { rails: { deaf } },
        );

      expect(make).toThrow(
        new RegExp(`rails\\[0\\]\\.${field}: no such setting \\(the factory of "deaf" ignores it\\)`),
      );
    },
  );

  test("A7 nor is `durable`, `critical` or `timeout_ms` of a hook", () => {
    const deaf: HookFactory = () => preHook({ name: "deaf" }, (turn) => cont(turn));
    for (const said of [{ durable: true }, { critical: true }, { timeout_ms: 5 }]) {
      const json = { name: "a", model: "openai:gpt-4o", hooks: { pre: [{ use: "deaf", ...said }] } };
      expect(() => Agent.fromJSON(json, { hooks: { deaf } })).toThrow(
        /hooks\.pre\[0\]\.\w+: no such setting \(the factory of "deaf" ignores it\)/,
      );
    }
  });
});

describe("A7 what is not registered", () => {
  test("A7 without a registry the names are kept and exported, and a run is refused, naming them", async () => {
    const agent = Agent.fromJSON(JSON_AGENT);
    expect(agent.toJSON()).toMatchObject({ rails: JSON_AGENT.rails });
    const error = await failure(agent.run("Go"));

    expect(error.code).toBe("not_available");
    for (const name of [
      'rail "block"',
      'hook "note"',
      'hook "fact"',
      'hook "tone"',
      'hook "shout"',
      'hook "log"',
    ])
      expect(error.message).toContain(name);
  });

  test.each([
    ["a rail", { rails: [defineRail({ name: "inline" }, () => {})] }, 'the rail "inline"'],
    [
      "a pre-hook",
      { hooks: { pre: [preHook({ name: "inline" }, (turn) => cont(turn))] } },
      'the hook "inline"',
    ],
    [
      "a group",
      { hooks: { pre: [parallel(memberHook({ name: "inline" }, () => "x"))] } },
      'the group of hooks "inline"',
    ],
    [
      "a post-hook",
      { hooks: { post: [postHook({ name: "inline" }, (turn) => cont(turn))] } },
      'the hook "inline"',
    ],
    [
      "a transformer",
      { hooks: { stream: [streamTransformer("inline", () => ({ push: (t) => t, flush: () => "" }))] } },
      'the hook "inline"',
    ],
    ["a point hook", { hooks: { on: { START: [function inline() {}] } } }, 'the hook "inline"'],
  ])("A7 an agent that holds %s of its own refuses to be written, naming it", (_what, more, says) => {
    const agent = new Agent({ name: "a", model: "openai:gpt-4o", ...more });

    expect(() => agent.toJSON()).toThrow(says);
    expect(() => JSON.stringify(agent)).toThrow("cannot be written as JSON");
  });

  test("A7 so does one that was wired by hand", () => {
    const agent = new Agent({ name: "a", model: "openai:gpt-4o" });
    agent.hookManager.add("START", function audit() {});

    expect(() => agent.toJSON()).toThrow("hook audit on START");
  });
});
