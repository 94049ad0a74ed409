import { Agent, defineWorkflow } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import type { Trackside } from "../../src/index.ts";
import { hostOn } from "../agents/support/host.ts";
import { sqliteDatabase } from "../agents/support/stores.ts";
import { until } from "../engine/support/until.ts";

const clerk = new Agent({ name: "clerk", model: scriptedModel(["hello"], { loop: true }) });

/** Its messages have ids such as `run.sent.1.out`, which were taken for messages that only a request had. */
const flow = defineWorkflow({
  name: "flow",
  nodes: {
    sent: { kind: "approval", message: "First?" },
    second: { kind: "approval", message: "Second?" },
    agent: { kind: "agent", agent: clerk, prompt: "{{ nodes.sent.decided_by }}" },
  },
  edges: [
    { from: "sent", to: "second" },
    { from: "second", to: "agent" },
  ],
  result: ["{{ nodes.sent.decided_by }}", "{{ nodes.agent }}"],
});

async function approveNext({ approvals }: Trackside): Promise<void> {
  const id = await until(async () => (await approvals.list())[0]?.id);
  await approvals.decide(id, { choice: "approve", by: "ann" });
}

test('X2 R4 a run of a workflow with a node called "sent" is recovered, and its requests are read', async () => {
  const store = sqliteDatabase();
  const parts = { agents: [clerk], workflows: [flow as never] }; // a workflow of any input
  const first = hostOn(store(), parts);
  const { runId } = await first.workflows.start("flow", {});
  await approveNext(first);
  await until(async () => ((await first.approvals.list()).length === 1 ? true : undefined));
  await first.close();

  const second = hostOn(store(), parts);
  await approveNext(second);
  expect((await second.runs.result(runId)).output).toEqual(["ann", "hello"]);
  expect(await second.runs.requests(runId)).toEqual([]);
  const [child] = await second.runs.list({ parent: runId });
  expect(await second.runs.requests(child?.id ?? "")).toHaveLength(1);
});
