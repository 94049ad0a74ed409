import assert from "node:assert/strict";
import { Agent, cont, defineTool, postHook, type Task } from "trackside";
import { behaviour, type ScriptedRequest, scriptedModel } from "trackside/testing";
import type { HostStage } from "./stage.ts";
import { rejection, until } from "./waiting.ts";

const LARGE = `${"hay\n".repeat(20_000)}needle\n${"hay\n".repeat(20_000)}`;

/** An agent whose post-hook defers a task with the answer. */
function deferring(task: (answer: string) => Task, replies: readonly string[]) {
  const later = postHook({ name: "later" }, (turn, { defer }) => {
    const answer = turn.answer ?? "";
    defer(task(answer), answer);
    return cont(turn);
  });
  return new Agent({ name: "clerk", model: scriptedModel(replies), hooks: { post: [later] } });
}

/** What outlives a run: deferred work and artifacts. */
export const work = [
  behaviour<HostStage>(
    "H7 deferred work is done once after its run, with the input it was deferred with",
    ["deferred work and artifacts"],
    async (stage) => {
      const done: unknown[] = [];
      const save: Task = { name: "save", run: (input) => void done.push(input) };
      const agent = deferring(() => save, ["first", "second"]);
      const host = await stage.host({ agents: [agent], tasks: [save] });
      await host.run("clerk", "Go");
      await host.run("clerk", "Go");
      await until("both tasks are done", () => (done.length >= 2 ? true : undefined));
      assert.deepEqual(done, ["first", "second"]);
    },
  ),

  behaviour<HostStage>(
    "H7 X2 a closure that would be gone after a restart is not deferred, and the run says so",
    ["deferred work and artifacts"],
    async (stage) => {
      const done: unknown[] = [];
      const closure = (answer: string) => ({ name: "save", run: () => void done.push(answer) });
      const host = await stage.host({ agents: [deferring(closure, ["first"])] });
      const { stopReason, reason } = await host.run("clerk", "Go");
      assert.equal(stopReason, "halted");
      assert.match(reason ?? "", /the task "save" is not registered/);
      assert.deepEqual(done, []);
    },
  ),

  behaviour<HostStage>(
    "H7 deferred work that fails is in the audit, and the run stays completed",
    ["deferred work and artifacts"],
    async (stage) => {
      const fail: Task = {
        name: "fail",
        run: () => {
          throw new Error("disk full");
        },
      };
      const host = await stage.host({ agents: [deferring(() => fail, ["done"])], tasks: [fail] });
      const { runId, result } = await host.start("clerk", "Go");
      await result();
      const entry = await until(
        "an audit entry",
        async () => (await host.audit.list({ action: "task.failed" }))[0],
      );
      assert.match(JSON.stringify(entry), new RegExp(runId));
      assert.equal((await host.runs.get(runId)).status, "completed");
    },
  ),

  behaviour<HostStage>(
    "T4 X7 a later run of the conversation reads an artifact of an earlier one; another tenant does not",
    ["deferred work and artifacts"],
    async (stage) => {
      const dump = defineTool({ name: "dump", effect: "none", execute: () => LARGE });
      const search = ({ prompt }: ScriptedRequest) => ({
        calls: [
          {
            tool: "read_artifact",
            args: {
              artifact_id: JSON.stringify(prompt).match(/art_[\w.]*\w/)?.[0] ?? "",
              search: "needle",
            },
          },
        ],
      });
      const model = scriptedModel([{ calls: [{ tool: "dump" }] }, "dumped", search, "found"]);
      const host = await stage.host({ agents: [new Agent({ name: "clerk", model, tools: [dump] })] });
      const { runId, conversationId, result } = await host.start("clerk", "Go");
      await result();
      const [artifact] = await host.artifacts.list({ run: runId });
      assert.ok(artifact);
      assert.equal(artifact.bytes, LARGE.length);
      const { content } = await host.artifacts.get(artifact.id);
      assert.equal(Buffer.from(content).toString(), LARGE);
      await host.run("clerk", "Look", { conversation: conversationId });
      assert.match(JSON.stringify(model.requests[3]?.prompt.at(-1)), /line 20001/);
      const refused = await rejection(host.artifacts.get(artifact.id, { tenant: "other" }));
      assert.match(refused.message, /no artifact/);
    },
  ),
];
