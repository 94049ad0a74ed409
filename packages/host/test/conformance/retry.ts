import assert from "node:assert/strict";
import { Agent, defineTool, defineWorkflow, type Json } from "trackside";
import { behaviour, scriptedModel } from "trackside/testing";
import * as z from "zod";
import type { Trackside } from "../../src/index.ts";
import type { HostStage } from "./stage.ts";
import { gate, pending, rejection } from "./waiting.ts";

/** A tool that notes each value it is called with. */
function counting(name: string) {
  const ran: Json[] = [];
  const tool = defineTool({
    name,
    input: z.object({ value: z.json() }),
    execute({ value }) {
      ran.push(value as Json); // parsed as JSON
      return value as Json;
    },
  });
  return { ran, tool, node: (value: Json) => ({ kind: "tool" as const, tool, arguments: { value } }) };
}

async function nodesOf(host: Trackside, runId: string): Promise<readonly string[]> {
  const events = await host.runs.events(runId);
  return events.flatMap((event) =>
    event.type === "node" ? `${event.node}:${event.state}${event.reused ? ":reused" : ""}` : [],
  );
}

/** Retries from a step of an agent's run or a node of a workflow's. */
export const retry = [
  behaviour<HostStage>(
    "X13 a retry from a step is a new run on a new branch: earlier effects are reused, not repeated",
    ["retry"],
    async (stage) => {
      const { tool, ran } = counting("note");
      const call = (value: number) => ({ calls: [{ tool: "note", args: { value } }] });
      const model = scriptedModel([call(1), call(2), "done", call(3), "done again"]);
      const host = await stage.host({ agents: [new Agent({ name: "clerk", model, tools: [tool] })] });
      const { runId, conversationId, result } = await host.start("clerk", "Go");
      await result();
      const log = await host.conversations.messages(conversationId);
      const again = await host.runs.retry(runId, { fromStep: 2 });
      assert.equal(again.retried_from, runId);
      assert.equal((await host.runs.result(again.id)).text, "done again");
      assert.deepEqual(ran, [1, 2, 3]);
      // The second request of either run is the same: the log up to step 2.
      assert.deepEqual(model.requests[3]?.prompt, model.requests[1]?.prompt);
      const steps = (await host.runs.events(again.id)).flatMap((event) =>
        event.type === "step" && event.state === "started" ? [event.step] : [],
      );
      assert.deepEqual(steps, [2, 3]);
      assert.deepEqual(await host.conversations.messages(conversationId), log);
      const { definition_digest } = await host.runs.get(runId);
      assert.equal(again.definition_digest, definition_digest);
    },
  ),

  behaviour<HostStage>(
    "X13 a failed run is retried from the step that failed; unknown steps and open runs are refused",
    ["retry"],
    async (stage) => {
      const { tool, ran } = counting("note");
      const held = gate();
      const model = scriptedModel([
        { calls: [{ tool: "note", args: { value: 1 } }] },
        { error: new Error("out of order") },
        async () => {
          await held.opened;
          return "done";
        },
      ]);
      const host = await stage.host({ agents: [new Agent({ name: "clerk", model, tools: [tool] })] });
      const { runId, result } = await host.start("clerk", "Go");
      assert.match((await rejection(result())).message, /out of order/);
      const again = await host.runs.retry(runId);
      assert.match((await rejection(host.runs.retry(again.id))).message, /Cancel it or wait/);
      held.open();
      assert.equal((await host.runs.result(again.id)).text, "done");
      assert.deepEqual(ran, [1]);
      const unknown = await rejection(host.runs.retry(runId, { fromStep: 9 }));
      assert.match(unknown.message, /fromStep: 1 to 2 expected, 9 given/);
    },
  ),

  behaviour<HostStage>(
    "X13 W4 a failed workflow is retried from what failed, and completed nodes are reused",
    ["retry"],
    async (stage) => {
      const [first, other, after] = [counting("first"), counting("other"), counting("after")];
      let isBroken = true;
      const breaks = defineTool({
        name: "breaks",
        effect: "none",
        input: { type: "object" },
        execute() {
          if (isBroken) throw new Error("out of order");
          return "mended";
        },
      });
      const workflow = defineWorkflow({
        name: "flow",
        nodes: {
          a: first.node("{{ input.n }}"),
          b: { kind: "tool", tool: breaks, arguments: {} },
          c: after.node("{{ nodes.b }}"),
          other: other.node("other"),
        },
        edges: [
          { from: "a", to: "b" },
          { from: "b", to: "c" },
          { from: "a", to: "other" },
        ],
      });
      const host = await stage.host({ workflows: [workflow] });
      const { runId, result } = await host.workflows.start("flow", { n: 1 });
      assert.match((await rejection(result())).message, /The node "b" failed: out of order/);
      isBroken = false;
      const again = await host.runs.retry(runId);
      assert.deepEqual((await host.runs.result(again.id)).output, { c: "mended", other: "other" });
      assert.deepEqual([first.ran, other.ran, after.ran], [[1], ["other"], ["mended"]]);
      const once = await nodesOf(host, again.id);
      assert.deepEqual(
        once.filter((node) => node.endsWith("reused")),
        ["a:completed:reused", "other:completed:reused"],
      );
      const twice = await host.runs.retry(again.id, { node: "c" });
      assert.deepEqual((await host.runs.result(twice.id)).output, { c: "mended", other: "other" });
      assert.deepEqual([first.ran, other.ran, after.ran], [[1], ["other"], ["mended", "mended"]]);
    },
  ),

  behaviour<HostStage>(
    "X13 W5 a cancelled workflow asks anew where it was stopped",
    ["retry"],
    async (stage) => {
      const note = counting("note");
      const workflow = defineWorkflow({
        name: "flow",
        nodes: {
          a: note.node("a"),
          ask: { kind: "approval", message: "Go?" },
          b: note.node("{{ nodes.ask.decided_by }}"),
        },
        edges: [
          { from: "a", to: "ask" },
          { from: "ask", to: "b" },
        ],
      });
      const host = await stage.host({ workflows: [workflow] });
      const { runId, result } = await host.workflows.start("flow", {});
      const first = await pending(host, "workflow_node");
      await host.runs.cancel(runId);
      await rejection(result());
      const again = await host.runs.retry(runId);
      const second = await pending(host, "workflow_node");
      assert.notEqual(second.id, first.id);
      await (await stage.desk()).approvals.decide(second.id, { choice: "approve", by: "bob" });
      assert.deepEqual((await host.runs.result(again.id)).output, { b: "bob" });
      assert.deepEqual(note.ran, ["a", "bob"]);
    },
  ),
];
