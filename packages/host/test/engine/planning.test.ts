import { DatabaseSync } from "node:sqlite";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { afterEach, expect, test } from "vitest";
import { sqlite, Trackside } from "../../src/index.ts";
import { databaseFile } from "./support/database.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const MARK = "%planner%";

/** The tables that have a text in any of their rows. */
function tablesWith(path: string, text: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const found = tables.flatMap(({ name }) => {
    const rows = database.prepare(`select * from "${name}"`).all();
    const values = rows.flatMap((row) => Object.values(row));
    const texts = values.map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : String(value),
    );
    return texts.some((one) => one.includes(text)) ? [String(name)] : [];
  });
  database.close();
  return found.sort();
}

test("P1 P6 the planner is in its run's record, and in no log, export, request or later turn", async () => {
  const path = databaseFile();
  const planningModel = scriptedModel(
    [{ text: `Let me see ${MARK}`, calls: [{ tool: "look" }] }, "1. Look\n2. Answer", "1. Go on"],
    { modelId: "planner" },
  );
  const model = scriptedModel(["done", "more"]);
  const look = defineTool({ name: "look", effect: "none", execute: () => `found ${MARK}` });
  const agent = new Agent({ name: "clerk", model, planningModel, planningEnabled: true, tools: [look] });
  const trackside = new Trackside({ store: sqlite(path), agents: [agent as never] });
  open.push(trackside);

  const stream = trackside.stream("clerk", "Go");
  const paths = new Set<string>();
  for await (const event of stream) if (JSON.stringify(event).includes(MARK)) paths.add(event.path.join());
  const result = await stream.result;
  const { conversation, plan } = result;
  expect([...paths]).toEqual(["planner"]);
  expect(plan).toEqual({ steps: [{ title: "Look" }, { title: "Answer" }] });

  const { result: later } = await trackside.conversations.send(conversation.id, "And then?");
  expect((await later()).plan).toEqual({ steps: [{ title: "Go on" }] });
  const texts = [
    await trackside.conversations.messages(conversation.id),
    await trackside.conversations.export(conversation.id),
    model.requests,
    planningModel.requests[2],
  ];
  expect(JSON.stringify(texts)).not.toContain(MARK);
  expect(tablesWith(path, MARK)).toEqual(["commits"]);
});
