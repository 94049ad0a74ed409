import assert from "node:assert/strict";
import { Agent, defineTool } from "trackside";
import { behaviour, type ScriptedStep, scriptedModel } from "trackside/testing";
import * as z from "zod";
import type { Trackside } from "../../src/index.ts";
import { cast, spawnSelf } from "../engine/support/cast.ts";
import type { HostStage } from "./stage.ts";
import { pending, rejection, until } from "./waiting.ts";

const APPROVE = { choice: "approve", by: "ann" } as const;
const PAY = { calls: [{ tool: "pay", args: { amount: 3 } }] };

/** A gated tool that notes what it paid. */
function paying(script: readonly ScriptedStep[], config: object = {}) {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({ amount: z.number().max(1000) }),
    execute({ amount }) {
      paid.push(amount);
      return `paid ${amount}`;
    },
  });
  const model = scriptedModel(script);
  const agent = new Agent({ name: "clerk", model, tools: [pay], hitlTools: ["pay"], ...config });
  return { agent, pay, paid, model };
}

async function decidedBy(host: Trackside): Promise<readonly (string | undefined)[]> {
  return (await host.approvals.list({ state: "all" })).map(({ decision }) => decision?.by);
}

/** Approvals, questions and client tools, decided from any process. */
export const approvals = [
  behaviour<HostStage>(
    "L4 L5 X2 what is decided while no engine is up runs once when one is",
    ["approvals"],
    async (stage) => {
      const { agent, paid } = paying([PAY, "done"]);
      const first = await stage.host({ agents: [agent] });
      const { runId, conversationId } = await first.start("clerk", "pay 3");
      const asked = await pending(first);
      await stage.stop();
      const desk = await stage.desk();
      await desk.approvals.decide(asked.id, APPROVE);
      assert.deepEqual(paid, []);
      const second = await stage.host({ agents: [agent] });
      assert.equal((await second.runs.result(runId)).text, "done");
      assert.deepEqual(paid, [3]);
      const messages = await second.conversations.messages(conversationId);
      assert.deepEqual(
        messages.map(({ role }) => role),
        ["user", "assistant", "tool", "assistant"],
      );
      const events = await second.runs.events(runId);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, i) => i + 1),
      );
      const { deadline } = await second.approvals.get(asked.id);
      assert.equal(deadline, asked.deadline);
      assert.equal((await second.audit.verify()).ok, true);
    },
  ),

  behaviour<HostStage>(
    "L4 X10 one decision wins: the same again answers the same record, another is told who won",
    ["approvals"],
    async (stage) => {
      const { agent, paid } = paying([PAY, "done"]);
      const host = await stage.host({ agents: [agent] });
      const desks = [await stage.desk(), await stage.desk(), host];
      const { result } = await host.start("clerk", "pay 3");
      const { id } = await pending(host);
      const decisions = await Promise.allSettled(
        desks.map(({ approvals: inbox }, i) =>
          inbox.decide(id, { choice: i === 0 ? "approve" : "reject", by: `person ${i}` }),
        ),
      );
      const { state, decision } = await host.approvals.get(id);
      const isApproved = state === "approved";
      const lost = decisions.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      for (const reason of lost) {
        assert.equal(reason.code, "approval_conflict");
        assert.ok(reason.message.includes(decision?.by), reason.message);
      }
      const again = await host.approvals.decide(id, {
        choice: isApproved ? "approve" : "reject",
        by: decision?.by ?? "",
      });
      assert.equal(again.decision?.at, decision?.at);
      await result();
      assert.deepEqual(paid, isApproved ? [3] : []);
    },
  ),

  behaviour<HostStage>(
    "L3 L4 an edit that does not fit is refused and closes nothing; one that fits is what runs",
    ["approvals"],
    async (stage) => {
      const { agent, paid } = paying([PAY, "done"]);
      const host = await stage.host({ agents: [agent] });
      const { result } = await host.start("clerk", "pay 3");
      const { id } = await pending(host);
      const decide = (amount: unknown) =>
        host.approvals.decide(id, { ...APPROVE, editedArguments: { amount } as never });
      assert.equal((await rejection(decide(5000))).code, "decision_invalid");
      await decide(5);
      await result();
      assert.deepEqual(paid, [5]);
    },
  ),

  behaviour<HostStage>(
    "L4 an edit that does not fit is refused by a process that has only the store",
    ["approvals"],
    async (stage) => {
      const { agent, paid } = paying([PAY, "done"]);
      const host = await stage.host({ agents: [agent] });
      const { result } = await host.start("clerk", "pay 3");
      const { id } = await pending(host);
      const desk = await stage.desk();
      const decide = (amount: unknown) =>
        desk.approvals.decide(id, { ...APPROVE, editedArguments: { amount } as never });
      assert.equal((await rejection(decide("much"))).code, "decision_invalid");
      await decide(5);
      await result();
      assert.deepEqual(paid, [5]);
    },
  ),

  behaviour<HostStage>(
    "L4 S1 an edit of a spawn that does not fit is refused and closes nothing",
    ["approvals"],
    async (stage) => {
      const model = cast({ Go: [spawnSelf("work"), "done"], work: ["worked"] });
      const agent = new Agent({ name: "clerk", model, allowSelfSpawn: true, hitlTools: ["spawn_self"] });
      const host = await stage.host({ agents: [agent] });
      const { result } = await host.start("clerk", "Go");
      const { id } = await pending(host);
      const misfit = { ...APPROVE, editedArguments: { task: 7 } as never };
      assert.equal((await rejection(host.approvals.decide(id, misfit))).code, "decision_invalid");
      await host.approvals.decide(id, APPROVE);
      assert.equal((await result()).text, "done");
    },
  ),

  behaviour<HostStage>(
    "L7 S4 approvals of sub-agents, two levels down, are found by the root run and decided from the store",
    ["approvals"],
    async (stage) => {
      const { pay, paid } = paying([]);
      const model = cast({
        Go: [spawnSelf("middle"), "done"],
        middle: [spawnSelf("leaf"), "passed on"],
        leaf: [PAY, "paid it"],
      });
      const config = { name: "root", model, tools: [pay], hitlTools: ["pay"], allowSelfSpawn: true };
      const host = await stage.host({ agents: [new Agent(config)] });
      const { runId, result } = await host.start("root", "Go");
      const desk = await stage.desk();
      const asked = await until(
        "an approval of the tree",
        async () => (await desk.approvals.list({ rootRunId: runId }))[0],
      );
      assert.notEqual(asked.run_id, runId);
      await desk.approvals.decide(asked.id, APPROVE);
      assert.equal((await result()).text, "done");
      assert.deepEqual(paid, [3]);
      const runs = await host.runs.list({ root: runId } as never);
      assert.ok(runs.every(({ status }) => status === "completed"));
    },
  ),

  behaviour<HostStage>(
    "L8 a remembered decision makes a record that its rule decided, until it is revoked",
    ["approvals"],
    async (stage) => {
      const { agent, paid } = paying([PAY, "one", PAY, "two", PAY, "three"]);
      const host = await stage.host({ agents: [agent] });
      const first = await host.start("clerk", "pay 3");
      await host.approvals.decide((await pending(host)).id, { ...APPROVE, remember: {} });
      await first.result();
      await host.run("clerk", "pay 3 again");
      const [rule] = await host.approvals.rules();
      assert.deepEqual(await decidedBy(host), ["ann", `rule:${rule?.id}`]);
      await host.approvals.revokeRule(rule?.id ?? "", { by: "bob" });
      const third = await host.start("clerk", "pay 3 once more");
      await host.approvals.decide((await pending(host)).id, { choice: "reject", by: "bob" });
      await third.result();
      assert.deepEqual(paid, [3, 3]);
    },
  ),

  behaviour<HostStage>(
    "L8 S4 a question of a sub-agent's tool is answered from the store, by its schema",
    ["approvals"],
    async (stage) => {
      const answers: unknown[] = [];
      const schema = {
        type: "object",
        properties: { size: { type: "integer", minimum: 1 } },
        required: ["size"],
      };
      const order = defineTool({
        name: "order",
        effect: "none",
        async execute(_, { elicit }) {
          answers.push(await elicit({ message: "Which size?", schema }));
          return "ordered";
        },
      });
      const model = cast({
        Go: [spawnSelf("order"), "done"],
        order: [{ calls: [{ tool: "order" }] }, "ordered"],
      });
      const agent = new Agent({ name: "root", model, tools: [order], allowSelfSpawn: true });
      const host = await stage.host({ agents: [agent] });
      const { runId, result } = await host.start("root", "Go");
      const desk = await stage.desk();
      const asked = await pending(desk, "elicitation");
      assert.equal(asked.root_run_id, runId);
      const decide = (response: unknown) =>
        desk.approvals.decide(asked.id, { choice: "accept", by: "ann", response: response as never });
      for (const misfit of [undefined, { size: 0 }, "large"])
        assert.equal((await rejection(decide(misfit))).code, "decision_invalid");
      await decide({ size: 2 });
      assert.equal((await result()).text, "done");
      assert.deepEqual(answers, [{ action: "accept", content: { size: 2 } }]);
    },
  ),

  behaviour<HostStage>(
    "T8 X2 a client tool of the request waits for its result over a restart",
    ["approvals"],
    async (stage) => {
      const paint = {
        name: "paint",
        description: "Paints the page",
        inputSchema: { type: "object", properties: { color: { type: "string" } } },
      };
      const model = scriptedModel([
        { calls: [{ tool: "paint", args: { color: "red" } }] },
        "painted",
        "hello",
      ]);
      const agent = new Agent({ name: "clerk", model });
      const first = await stage.host({ agents: [agent] });
      const { runId } = await first.start("clerk", "Go", { clientTools: [paint] });
      const { id, tool } = await pending(first, "client_tool");
      assert.equal(tool, "paint");
      await stage.stop();
      const second = await stage.host({ agents: [agent] });
      await (await stage.desk()).approvals.decide(id, { choice: "submit", response: "red now", by: "page" });
      assert.equal((await second.runs.result(runId)).text, "painted");
      assert.match(JSON.stringify(model.requests[1]?.prompt.at(-1)), /red now/);
      await second.run("clerk", "Hi");
      assert.deepEqual(model.requests[2]?.tools, []);
    },
  ),
];
