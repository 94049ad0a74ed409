import { Agent, defineTool } from "trackside";
import { madeAgain } from "trackside/engine";
import { scriptedModel } from "trackside/testing";
import { afterEach, expect, test } from "vitest";
import { announce, cannotRun } from "../../src/effects/announced.ts";
import { sqlite, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";
import { until } from "./support/until.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const look = defineTool({ name: "look", effect: "none", execute: () => "sea" });
const paint = {
  name: "paint",
  description: "Paints the page",
  inputSchema: { type: "object", properties: { color: { type: "string" } } },
};

function host(path: string, config: object = {}, more: object = {}): Trackside {
  const agent = new Agent({ name: "clerk", model: scriptedModel([]), tools: [look], ...config });
  const trackside = new Trackside({ store: sqlite(path), agents: [agent], notice: () => {}, ...more });
  open.push(trackside);
  return trackside;
}

const painting = () => scriptedModel([{ calls: [{ tool: "paint", args: { color: "red" } }] }]);

async function waits(trackside: Trackside, runId: string) {
  return until(async () => {
    const [found] = await trackside.approvals.list({ rootRunId: runId });
    return found;
  });
}

test("T8 X2 a run goes on after a restart with the tools of its request, though the agent has changed", async () => {
  const path = databaseFile();
  const first = host(path, { model: painting() });
  const { runId } = await first.start("clerk", "Go", { clientTools: [paint] });
  expect(await waits(first, runId)).toMatchObject({ kind: "client_tool", tool: "paint" });
  await first.close();

  const model = scriptedModel(["Painted.", "Hello."]);
  const second = host(path, { model, instructions: "Be verbose." });
  const { id } = await waits(second, runId);
  await second.approvals.decide(id, { choice: "submit", response: "done", by: "page" });
  const result = await second.runs.result(runId);
  expect(result.output).toBe("Painted.");
  expect(model.requests[0]?.tools?.slice(0, 2).map(({ name }) => name)).toEqual(["look", "paint"]);
  await second.run("clerk", "Hi");
  expect(model.requests[1]?.tools?.some(({ name }) => name === "paint")).toBe(false);

  const { definition } = await second.runs.opening(runId);
  expect(definition?.["client_tools"]).toEqual([paint]);
});

test("T8 A7 the same for a stored agent", async () => {
  const path = databaseFile();
  const stored = { name: "keeper", model: "scripted", tools: ["look"] };
  const first = host(path, {}, { tools: [look], models: { scripted: painting() } });
  await first.agents.create({ definition: stored }, { by: "ann" });
  const { runId } = await first.start("keeper", "Go", { clientTools: [paint] });
  await waits(first, runId);
  await first.close();

  const model = scriptedModel(["Painted."]);
  const second = host(path, {}, { tools: [look], models: { scripted: model } });
  const { id } = await waits(second, runId);
  await second.approvals.decide(id, { choice: "submit", response: "done", by: "page" });
  expect((await second.runs.result(runId)).output).toBe("Painted.");
  expect(model.requests[0]?.tools?.some(({ name }) => name === "paint")).toBe(true);
});

test("X2 runs without them are pinned as ever, and X10 the same request with other tools is another", async () => {
  const trackside = host(databaseFile(), { model: scriptedModel(["One.", "Two."]) });
  const plain = await trackside.start("clerk", "Go", { requestId: "r1" });
  await plain.result();
  const { definition_digest } = await trackside.runs.get(plain.runId);
  const agent = trackside.engine.registry.get("clerk");
  expect(agent && trackside.engine.registry.pinned(agent).digest).toBe(definition_digest);
  expect((await trackside.runs.opening(plain.runId)).definition).not.toHaveProperty("client_tools");
  await expect(trackside.start("clerk", "Go", { requestId: "r1", clientTools: [paint] })).rejects.toThrow(
    /requestId/,
  );
  const bound = await trackside.start("clerk", "Go", { clientTools: [paint] });
  await bound.result();
  expect((await trackside.runs.get(bound.runId)).definition_digest).not.toBe(definition_digest);
});

test("T8 X9 workers from before there were such tools are not given them", async () => {
  const { engine } = host(databaseFile());
  await engine.open();
  const { registry, store } = engine;
  const agent = registry.get("clerk");
  const made = madeAgain([paint]);
  if (agent === undefined || "problem" in made) throw new Error("there is an agent and a tool");
  const plain = registry.pinned(agent);
  const bound = registry.pinned(agent, made.tools);
  const asked = (pinned: typeof plain) => store.read(cannotRun("far", agent.definition, pinned, { at: 1 }));
  await store.write(announce({ engine: "far", id: "w1", agents: { clerk: plain } }, 1));
  expect([await asked(plain), await asked(bound)]).toEqual([undefined, undefined]);
  const old = JSON.stringify({ v: 1, agents: { clerk: plain.digest } });
  await store.write((db) => rows(db.updateTable("engine_workers").set({ body: old })));
  expect(await asked(plain)).toBeUndefined();
  expect(await asked(bound)).toMatch(/No worker of far takes tools that come with a request/);
});
