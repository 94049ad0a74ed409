import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { sqlite } from "../../src/store/index.ts";

test("a durable run", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "ts-")), "t.db");
  const engine = new DurableEngine({ store: sqlite(path), notice: console.log });
  const add = defineTool({ name: "add", execute: () => "5" });
  const agent = new Agent({
    name: "a",
    model: scriptedModel([{ calls: [{ tool: "add" }] }, "done"], { loop: true }),
    tools: [add],
  });
  const result = await agent.run("go", { engine });
  expect(result.output).toBe("done");
  const second = await agent.run("again", { engine, conversation: result.conversation.id });
  expect(second.conversation.messages).toHaveLength(8);
  await engine.close();
});
