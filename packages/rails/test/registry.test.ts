import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Agent, defineTool, type JsonObject } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { builtInHooks, builtInRails } from "../src/index.ts";

/** Options for those that cannot do without. */
const NEEDED: Readonly<Record<string, JsonObject>> = {
  judge: { subject: "tool-call", question: "Is it right?", onFail: "abort" },
  keywords: { words: ["word"] },
  "model-fallback": { message: "Later." },
  "rate-limit": { limits: [{ tools: "a", calls: 1, seconds: 60 }] },
  "resilient-tools": { tools: "a" },
  spend: { tokens: 1_000_000 },
  "untrusted-data": { untrusted: "a", sensitive: "b" },
  "url-policy": { allow: ["example.com"] },
  "verify-output": { maxLength: 10 },
};

describe.each(Object.entries(builtInRails))("the rail %s", (name, make) => {
  const options = NEEDED[name] ?? {};

  test("is a guard, and can be given a name and a priority of its own", () => {
    const { priority } = make(options, {});
    expect((priority >= 10 && priority <= 20) || (priority >= 80 && priority <= 90)).toBe(true);
    expect(make(options, { name: "mine", priority: 11, mode: "shadow" })).toMatchObject({
      name: "mine",
      priority: 11,
      mode: "shadow",
    });
  });

  test("refuses an option it does not know", () => {
    expect(() => make({ ...options, nonsense: 1 }, {})).toThrow(/nonsense/);
  });

  test("comes back from JSON as it was", () => {
    const json = { name: "a", model: "openai:m", rails: [{ use: name, options }] };
    const agent = Agent.fromJSON(json, { rails: builtInRails, hooks: builtInHooks });
    expect(agent.toJSON()).toMatchObject({ rails: json.rails });
    expect(agent.railManager?.rails).toHaveLength(1);
  });

  test("has a page in the documents", () => {
    expect(existsSync(resolve(import.meta.dirname, `../../../docs/rails/${name}.md`))).toBe(true);
  });
});

test("all of them together let an ordinary run pass", async () => {
  const rails = Object.keys(NEEDED)
    .concat("call-limits", "loop-breaker")
    .filter((name) => name in builtInRails && name !== "judge")
    .map((use) => ({ use, options: NEEDED[use] ?? {} }));
  const policy = { use: "tool-policy", options: { default: "allow" } };
  const tool = defineTool({ name: "c", execute: () => "fine" });
  const model = scriptedModel([{ calls: [{ tool: "c" }] }, "done"]);
  const agent = new Agent(
    { name: "a", model, tools: [tool], rails: [...rails, policy] },
    { rails: builtInRails },
  );
  const approve = () => ({ choice: "reject" });
  expect((await agent.run("go", { approve })).output).toBe("done");
});

test("a guard in shadow says what it would have done and does nothing", async () => {
  const ran: string[] = [];
  const tools = ["a", "b"].map((name) => defineTool({ name, execute: () => ran.push(name) }));
  const model = scriptedModel([{ calls: [{ tool: "a" }] }, { calls: [{ tool: "b" }] }, "done"]);
  const shadow = { mode: "shadow" } as const;
  const rails = [
    { use: "untrusted-data", options: NEEDED["untrusted-data"] ?? {}, ...shadow },
    { use: "call-limits", options: { tools: { b: 0 } }, ...shadow },
    { use: "tool-policy", ...shadow },
  ];
  const agent = new Agent({ name: "a", model, tools, rails }, { rails: builtInRails });
  const records: string[] = [];
  for await (const event of agent.stream("go")) {
    if (event.type === "rail")
      for (const { rail, action, shadow: so } of event.records) records.push(`${rail} ${action} ${so}`);
  }
  expect(ran).toEqual(["a", "b"]);
  for (const said of ["untrusted-data ask true", "call-limits skip true", "tool-policy skip true"])
    expect(records).toContain(said);
});
