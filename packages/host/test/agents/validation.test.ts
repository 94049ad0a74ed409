import {
  Agent,
  AgentConfigError,
  cont,
  defineRail,
  defineTool,
  type HookFactory,
  preHook,
  type RailFactory,
} from "trackside";
import { expect, test } from "vitest";
import * as z from "zod";
import { sqlite } from "../../src/index.ts";
import { agentOf, echo, hostOn } from "./support/host.ts";

const tools = ["search", "mail"].map((name) =>
  defineTool({ name, input: z.object({ to: z.string() }), execute: () => name }),
);
const short: RailFactory = (options, settings) => {
  if (typeof options["most"] !== "number") throw new Error("most: a number expected");
  return defineRail({ name: "short", on: ["POST_LLM_CALL"], ...settings }, () => undefined);
};
const recall: HookFactory = (_options, settings) =>
  preHook({ name: "recall", ...settings }, (turn) => cont(turn));
const desk = new Agent({ name: "desk", model: "openai:gpt-4o" });
const ANN = { by: "ann" };

function host() {
  return hostOn(sqlite(":memory:"), {
    agents: [desk],
    tools,
    rails: { short },
    hooks: { recall },
    mcpServers: [
      { name: "files", command: "files", args: ["--key", "swordfish"], include: ["read_*", "list"] },
    ],
  });
}

const wrong = {
  name: "desk",
  model: "nowhere:gpt",
  fallback_models: ["demo:echo", "demo:other"],
  max_steps: 0,
  tools: ["search", "fax"],
  hitl_tools: ["mail", "search"],
  handoffs: ["desk", "nobody"],
  rails: [{ use: "long" }, { use: "short", options: {} }],
  hooks: { pre: [{ use: "forget" }, { use: "recall" }] },
  mcp_servers: [{ name: "web" }, { name: "files", include: ["read_file", "write_file"], command: "sh" }],
  injected_tool_args: { to: "clashes" },
  colour: "red",
};

test("A3 every problem of a definition is told at once, with where it is, what was given and what is allowed", async () => {
  const { agents } = host();
  const { ok, issues } = await agents.validate(wrong);
  expect(ok).toBe(false);
  const told = Object.fromEntries(issues.map(({ path, given, allowed }) => [path, `${given} | ${allowed}`]));
  expect(told).toMatchObject({
    name: '"desk" | a name that no agent in code has',
    model: expect.stringMatching(
      /^"nowhere:gpt" \| "provider:model" with one of the known providers: openai, .*; or one of demo:echo$/,
    ),
    "fallback_models[1]": expect.stringContaining('"demo:other"'),
    max_steps: expect.stringMatching(/^0 \|/),
    "tools[1]": '"fax" | a registered tool (search, mail)',
    "hitl_tools[0]": expect.stringMatching(/^"mail" \| a tool of this agent/),
    "handoffs[1]": '"nobody" | an agent (desk)',
    "rails[0].use": '"long" | a registered rail (short)',
    "rails[1].options": "{} | most: a number expected",
    "hooks.pre[0].use": '"forget" | a registered hook (recall)',
    "mcp_servers[0].name": '"web" | a server that this host offers (files)',
    "mcp_servers[1].command": '"command" | nothing: what "files" is, this host says',
    "mcp_servers[1].include": '"write_file" | tools that this host offers of it (read_*, list)',
    "injected_tool_args.to": expect.stringContaining('the tool "search"'),
    colour: expect.stringContaining("colour"),
  });
  expect(told).not.toHaveProperty("fallback_models[0]");
  expect(told).not.toHaveProperty("handoffs[0]");
});

test("A3 what validate tells is what saving tells", async () => {
  const { agents } = host();
  const { issues } = await agents.validate(wrong);
  for (const refused of [
    agents.create({ definition: wrong }, ANN),
    agents.import(wrong, ANN),
    agents
      .create({ definition: agentOf("clerk") }, ANN)
      .then(({ version }) => agents.save("clerk", { definition: wrong }, { ...ANN, version })),
  ]) {
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentConfigError);
    expect(error).toMatchObject({ issues: issues.map(({ path, given }) => ({ path, given })) });
  }
});

test("A4 an orphan among hitl_tools is told by name, with the registered tools, where tools are absent", async () => {
  const { agents } = host();
  expect(await agents.validate(agentOf("clerk", { hitl_tools: ["mail", "fax"] }))).toMatchObject({
    ok: false,
    issues: [{ path: "hitl_tools[1]", given: '"fax"', allowed: "a registered tool (search, mail)" }],
  });
  // Only what is bound may clash.
  const injected_tool_args = { to: "whom" };
  expect(await agents.validate(agentOf("clerk", { injected_tool_args }))).toEqual({ ok: true, issues: [] });
});

test("B3 a budget on a model whose window nobody knows is a problem of the definition", async () => {
  const { agents } = host();
  const definition = agentOf("clerk", { budget_awareness: "limit:50" });
  expect(await agents.validate(definition)).toMatchObject({
    ok: false,
    issues: [{ path: "context_window_tokens" }],
  });
  expect(await agents.validate({ ...definition, context_window_tokens: 8000 })).toMatchObject({ ok: true });
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a text", "clerk"],
  ["a list", []],
  ["a number", 7],
  [
    "an object whose fields throw",
    Object.defineProperty({}, "name", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    }),
  ],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
      },
    ),
  ],
])("A3 %s is no definition, and is told to be none", async (_what, given) => {
  const { ok, issues } = await host().agents.validate(given);
  expect(ok).toBe(false);
  expect(issues.length).toBeGreaterThan(0);
});

test("A3 a text to import that is no JSON is a problem, not a crash", async () => {
  await expect(host().agents.import('{"name":', ANN)).rejects.toThrow(AgentConfigError);
});

test("A6 a string that names a model of the host is a model, wherever a model is named; others need a known provider", async () => {
  const trackside = hostOn(sqlite(":memory:"), { models: { "demo:echo": echo(), mine: echo() } });
  const definition = agentOf("clerk", {
    model: "mine",
    planning_model: "demo:echo",
    fallback_models: ["demo:echo"],
  });
  await trackside.agents.create({ definition }, ANN);
  expect((await trackside.run("clerk", "hi")).output).toBe("I am clerk.");
  expect(await trackside.agents.export("clerk")).toMatchObject(definition);
  expect((await trackside.agents.validate(agentOf("x", { model: "toString" }))).ok).toBe(false);
});

test("what is no toolkit is refused when the host is made, all of it at once", () => {
  const made = () =>
    hostOn(sqlite(":memory:"), {
      tools: [...tools, ...tools.slice(0, 1)],
      rails: { short: "short" } as never,
      mcpServers: [{ name: "files" }],
    });
  expect(made).toThrow(AgentConfigError);
  expect(made).toThrow(/the toolkit has 3 problems/);
  expect(made).toThrow(/mcpServers\[0\]: either `command`/);
});
