// A run that outlives its process: the first one is gone while a human is asked; the next one goes on by itself.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const path = join(mkdtempSync(join(tmpdir(), "trackside-example-")), "trackside.db");
const refund = defineTool({
  name: "refund",
  input: z.object({ order: z.number() }),
  execute: ({ order }) => `refunded order ${order}`,
});

/** A process, as far as this example goes: it knows the agent and the store, and nothing else. */
function start(script: Parameters<typeof scriptedModel>[0]): Trackside {
  const model = scriptedModel(script);
  const clerk = new Agent({ name: "clerk", model, tools: [refund], hitlTools: ["refund"] });
  return new Trackside({ store: sqlite(path), agents: [clerk] });
}

const first = start([{ calls: [{ tool: "refund", args: { order: 17 } }] }]);
const { runId } = await first.start("clerk", "Refund order 17");
while ((await first.approvals.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
await first.close(); // a crash would do as well

const second = start(["Order 17 is refunded."]);
for (const { id, tool, arguments: args } of await second.approvals.list()) {
  console.log(`${tool} ${JSON.stringify(args)}?`);
  await second.approvals.decide(id, { choice: "approve", by: "ann" });
}
const { output } = await second.runs.result(runId);
console.log(output);
console.log("audit intact:", (await second.audit.verify()).ok);
await second.close();
