import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { rows } from "../../src/store/index.ts";
import { cast, openingOf, spawn } from "./support/cast.ts";
import { databaseFile as file } from "./support/database.ts";
import { childrenOf, hostOf } from "./support/hosts.ts";

const look = (ran: string[] = []) =>
  defineTool({
    name: "look",
    effect: "none",
    execute: () => {
      ran.push("looked");
      return "what the planner saw";
    },
  });

test("P1 P6 what the planner said stays in the run's record after its end, and is nowhere in the conversation", async () => {
  const planner = scriptedModel([{ calls: [{ tool: "look" }] }, "1. Secretly plan\n2. Act"]);
  const agent = new Agent({
    name: "planned",
    model: scriptedModel(["done"]),
    planningModel: planner,
    planningEnabled: true,
    tools: [look()],
  });
  const host = hostOf(file(), [agent]);
  const { runId, conversationId, result } = await host.start("planned", "Go");
  expect((await result()).plan?.steps.map(({ title }) => title)).toEqual(["Secretly plan", "Act"]);
  const events = await host.runs.events(runId);
  const aside = events.filter(({ path }) => path[0] === "planner");
  expect(JSON.stringify(aside)).toContain("what the planner saw");
  expect(JSON.stringify(aside)).toContain("Secretly plan");
  const stored = (await host.runs.result(runId)).plan;
  expect(stored?.steps).toHaveLength(2);
  for (const text of [
    JSON.stringify(await host.conversations.messages(conversationId)),
    await host.conversations.export(conversationId),
  ]) {
    expect(text).not.toContain("planner saw");
    expect(text).not.toContain("Secretly");
  }
});

test("X13 P1 a retry from a step has the plan again, and neither plans nor starts sub-agents of earlier steps again", async () => {
  const ran: string[] = [];
  const planner = scriptedModel(["1. Spawn\n2. Look"]);
  const parts = {
    Go: [spawn("one"), { calls: [{ tool: "look" }] }, "done"],
    one: ["one is done"],
  };
  const model = cast(parts);
  const agent = new Agent({
    name: "planned",
    model,
    planningModel: planner,
    planningEnabled: true,
    tools: [look(ran)],
    allowParallelSubagents: true,
  });
  const host = hostOf(file(), [agent]);
  const { runId, result } = await host.start("planned", "Go");
  const first = await result();
  const before = model.requests.length;
  const retried = await host.runs.retry(runId, { fromStep: 2 });
  const again = await host.runs.result(retried.id);
  expect(again.output).toBe("done");
  expect(again.plan).toEqual(first.plan);
  expect(planner.requests).toHaveLength(1);
  expect(ran).toHaveLength(2);
  const asked = model.requests.slice(before);
  expect(asked.map(openingOf)).toEqual(["Go", "Go"]);
  for (const { prompt } of asked) expect(JSON.stringify(prompt)).toContain("1. Spawn");
  expect(JSON.stringify(asked[0]?.prompt)).toBe(JSON.stringify(model.requests[2]?.prompt)); // as it was then
  expect(await childrenOf(host, retried.id)).toEqual([]);
  const events = await host.runs.events(retried.id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  expect(events.filter(({ type }) => type === "plan")).toHaveLength(1);
  await expect(host.runs.retry(retried.id, { fromStep: 3 })).resolves.toMatchObject({
    status: expect.any(String),
  });
});

test("B4 how a log is sent is part of it: in its rows, its export and its import, and not in branches from before", async () => {
  const page = "a page full of words ".repeat(60);
  const read = defineTool({ name: "read", effect: "none", execute: () => page });
  const usage = { input: 0, output: 0 };
  const model = scriptedModel(
    [
      ({ prompt }) => {
        const [head] = prompt;
        if (head?.role === "system" && head.content.startsWith("You summarise"))
          return { text: "IN SHORT", usage };
        const last = prompt.at(-1);
        const results = prompt.filter(({ role }) => role === "tool").length;
        return last?.role === "tool" && results % 4 === 0
          ? { text: "done", usage }
          : { calls: [{ tool: "read" }], usage };
      },
    ],
    { loop: true },
  );
  const agent = new Agent({
    name: "reader",
    model,
    tools: [read],
    maxSteps: 6,
    contextWindowTokens: 4_000,
    budgetAwareness: "limit:20",
  });
  const host = hostOf(file(), [agent]);
  const { conversationId, result } = await host.start("reader", "Go");
  await result();
  const entries = (text: string): { id: string; role: string }[] =>
    text
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line));
  const exported = await host.conversations.export(conversationId);
  const log = entries(exported);
  const at = log.findIndex(({ role }) => role === "projection");
  expect(at).toBeGreaterThan(1);
  const messages = await host.conversations.messages(conversationId);
  expect(messages.map(({ id }) => id)).toEqual(
    log.filter(({ role }) => role !== "projection").map(({ id }) => id),
  );

  const copy = await host.conversations.import(exported);
  expect(entries(await host.conversations.export(copy.id))).toEqual(log);
  // In the branch from before it is not there; in one from after it is.
  const cut = log[at - 1]?.id ?? "";
  const early = await host.conversations.branch(conversationId, { at: cut });
  expect(entries(await host.conversations.export(early.id))).toEqual(log.slice(0, at));
  const last = log.at(-1)?.id ?? "";
  const late = await host.conversations.branch(conversationId, { at: last });
  expect(entries(await host.conversations.export(late.id))).toEqual(log);
  const pagesSent = async (branch: string) => {
    const before = model.requests.length;
    await host.conversations.send(branch, "more").then(({ result: ended }) => ended());
    return JSON.stringify(model.requests[before]?.prompt).split(page).length - 1;
  };
  const pages = (entry: readonly { role: string }[]) => entry.filter(({ role }) => role === "tool").length;
  expect(await pagesSent(late.id)).toBeLessThan(pages(log));
  await pagesSent(early.id); // it is too long there as well, and is made shorter in its own way
  const ids = entries(await host.conversations.export(early.id)).map(({ id }) => id);
  expect(ids).not.toContain(log[at]?.id);
  const [row] = await host.engine.store.read((db) =>
    rows(db.selectFrom("branches").select("length").where("id", "=", conversationId)),
  );
  expect(row?.length).toBe(log.length);
});
