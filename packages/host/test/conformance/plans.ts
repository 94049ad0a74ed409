import assert from "node:assert/strict";
import { Agent, defineTool } from "trackside";
import { behaviour } from "trackside/testing";
import type { PlanBoard, PlanRecord, Trackside } from "../../src/index.ts";
import { type Asked, rolesModel, statesOf, stepIn, titleIn } from "../plans/support/planner.ts";
import type { HostStage } from "./stage.ts";
import { gate, pending, rejection, until } from "./waiting.ts";

const ANN = { by: "ann" };
const BOB = { by: "bob" };
const passes = (passed: boolean, reason: string) => JSON.stringify({ passed, reason });

/** Two steps that are independent, and one that needs both. */
const DIAMOND = [
  { id: "a", title: "Collect" },
  { id: "b", title: "Count" },
  { id: "c", title: "Report", depends_on: ["a", "b"], criteria: "It names both." },
];

/** A host with one stored agent, whose model answers by its role. */
async function clerk(
  stage: HostStage,
  answer: Parameters<typeof rolesModel>[0],
  { definition = {}, ...options }: { definition?: object } & Parameters<HostStage["host"]>[0] = {},
) {
  const host = await stage.host({ models: { "demo:works": rolesModel(answer) }, ...options });
  const record = { name: "clerk", model: "demo:works", instructions: "I am clerk.", ...definition };
  const { definition: saved } = await host.agents.create({ definition: record }, ANN);
  return { host, plans: host.plans, definition: saved };
}

const works = ({ role, text }: Asked) =>
  role === "judge" ? passes(true, "It is there.") : `did ${titleIn(text)}`;

function planBecomes(
  { plans }: Trackside,
  id: string,
  is: (plan: PlanRecord) => boolean,
): Promise<PlanRecord> {
  return until("the plan changes", async () => {
    const plan = await plans.get(id);
    return is(plan) ? plan : undefined;
  });
}

function boardBecomes({ plans }: Trackside, is: (board: PlanBoard) => boolean): Promise<PlanBoard> {
  return until("the board changes", async () => {
    const board = await plans.board("clerk");
    return is(board) ? board : undefined;
  });
}

const isCompleted = ({ state }: PlanRecord) => state === "completed";

/** Plans of agents, their steps run as runs. */
export const plans = [
  behaviour<HostStage>(
    "W2 the planner generates a plan in a run of its own, with the agent's planning model",
    ["plans"],
    async (stage) => {
      const steps = [
        { id: "look", title: "Look", detail: "", depends_on: [], criteria: "" },
        { id: "tell", title: "Tell", detail: "all", depends_on: ["look"], criteria: "It is short." },
      ];
      const systems: string[] = [];
      const planner = rolesModel(({ system }) => {
        systems.push(system);
        return JSON.stringify({ steps });
      });
      const definition = { planning_model: "demo:plans", planning_instructions: "Plan like a clerk." };
      const models = { "demo:works": rolesModel(works), "demo:plans": planner };
      const { host } = await clerk(stage, works, { models, definition });
      await host.plans.generate("clerk", { goal: "Tell me" }, ANN);
      const { plan, generation } = await boardBecomes(host, (board) => board.plan !== null);
      assert.deepEqual(
        plan?.steps.map(({ id, depends_on }) => [id, depends_on]),
        [
          ["look", []],
          ["tell", ["look"]],
        ],
      );
      assert.equal(plan?.origin, "generated");
      assert.match(systems[0] ?? "", /I am clerk\.(.|\n)*Plan like a clerk\./);
      const run = await host.runs.get(generation?.run_id ?? "");
      assert.deepEqual([run.agent, run.status], ["clerk", "completed"]);
    },
  ),

  behaviour<HostStage>(
    "W2 S7 L1 an agent whose handoff is gated can have its plan generated",
    ["plans"],
    async (stage) => {
      const steps = [{ id: "look", title: "Look", detail: "", depends_on: [], criteria: "" }];
      const { host } = await clerk(stage, ({ role }) =>
        role === "planner" ? JSON.stringify({ steps }) : "done",
      );
      const other = { name: "other", model: "demo:works" };
      await host.agents.create({ definition: other }, ANN);
      const { definition, version } = await host.agents.get("clerk");
      const gated = { ...definition, handoffs: ["other"], hitl_tools: ["handoff_to_other"] };
      await host.agents.save("clerk", { definition: gated }, { ...ANN, version });
      await host.plans.generate("clerk", { goal: "Tell me" }, ANN);
      const { generation } = await boardBecomes(host, (board) => board.generation?.state !== "running");
      assert.equal(generation?.state, "completed", generation?.reason ?? "");
    },
  ),

  behaviour<HostStage>(
    "W2 the steps of a plan run as runs, each told what those before it gave, and are verified",
    ["plans"],
    async (stage) => {
      const { host } = await clerk(stage, ({ role, text }) => {
        if (role === "judge") return passes(true, "Both are named.");
        const seen = [...text.matchAll(/did \w+/g)].join(", ");
        return titleIn(text) === "Report" ? `seen ${seen}` : `did ${titleIn(text)}`;
      });
      const { id } = await host.plans.create("clerk", { goal: "Close the books", steps: DIAMOND }, ANN);
      await host.plans.run(id, ANN);
      const done = await planBecomes(host, id, isCompleted);
      const { output, verification, attempt } = stepIn(done, "c");
      assert.deepEqual([output, attempt], ["seen did Collect, did Count", 1]);
      assert.deepEqual([verification?.verdict, verification?.detail], ["passed", "Both are named."]);
      const runs = await host.runs.list({ agent: "clerk" });
      assert.equal(runs.length, 4);
      assert.equal(new Set(runs.map(({ conversation_id }) => conversation_id)).size, 4);
      for (const step of done.steps) {
        const { scope } = await host.runs.get(step.run_id ?? "");
        assert.deepEqual([scope["plan"], scope["plan_step"]], [id, step.id]);
      }
    },
  ),

  behaviour<HostStage>(
    "W2 one step at a time: its dependencies come first, a skipped one counts as done",
    ["plans"],
    async (stage) => {
      const { host } = await clerk(stage, works);
      const { id } = await host.plans.create("clerk", { goal: "g", steps: DIAMOND }, ANN);
      const early = await rejection(host.plans.runStep(id, "c", ANN));
      assert.match(early.message, /"c" depends on "a", which is pending/);
      await host.plans.runStep(id, "a", ANN);
      await planBecomes(host, id, (plan) => stepIn(plan, "a").state === "completed");
      await host.plans.skipStep(id, "b", { ...BOB, note: "not this month" });
      await host.plans.runStep(id, "c", ANN);
      const done = await planBecomes(host, id, isCompleted);
      assert.deepEqual(statesOf(done), { a: "completed", b: "skipped", c: "completed" });
    },
  ),

  behaviour<HostStage>(
    "W2 a failed verification fails its step, nothing after it runs, and it can be verified again and retried",
    ["plans"],
    async (stage) => {
      let passed = false;
      const { host } = await clerk(stage, (asked) =>
        asked.role === "judge" ? passes(passed, "No total.") : works(asked),
      );
      const steps = [
        { id: "a", title: "Count", criteria: "There is a total." },
        { id: "b", title: "Tell", depends_on: ["a"] },
      ];
      const { id } = await host.plans.create("clerk", { goal: "g", steps }, ANN);
      await host.plans.run(id, ANN);
      const failed = await planBecomes(host, id, ({ state }) => state === "failed");
      assert.deepEqual(statesOf(failed), { a: "failed", b: "pending" });
      assert.equal(stepIn(failed, "a").verification?.detail, "No total.");
      passed = true;
      await host.plans.verifyStep(id, "a", BOB);
      const verified = await planBecomes(host, id, (plan) => stepIn(plan, "a").state === "completed");
      assert.deepEqual([verified.state, stepIn(verified, "a").attempt], ["active", 1]);
      await host.plans.run(id, ANN);
      const done = await planBecomes(host, id, isCompleted);
      assert.equal(stepIn(done, "b").output, "did Tell");
    },
  ),

  behaviour<HostStage>(
    "W1 W2 an autonomous agent works its plan by itself, and a gated call waits for its approval",
    ["plans"],
    async (stage) => {
      const paid: string[] = [];
      const pay = defineTool({
        name: "pay",
        input: { type: "object", properties: {} },
        execute() {
          paid.push("paid");
          return "paid";
        },
      });
      const { host } = await clerk(
        stage,
        ({ hasResult }) => (hasResult ? "it is paid" : { calls: [{ tool: "pay", args: {} }] }),
        { tools: [pay], definition: { tools: ["pay"], hitl_tools: ["pay"] } },
      );
      const { id } = await host.plans.create("clerk", { goal: "g", steps: [{ id: "a", title: "Pay" }] }, ANN);
      assert.equal((await host.plans.board("clerk")).work.state, "idle");
      const { definition, version } = await host.agents.get("clerk");
      await host.agents.save("clerk", { definition, autonomous_mode: true }, { ...BOB, version });
      const waiting = await boardBecomes(host, ({ work }) => work.state === "waiting");
      assert.equal(waiting.plan?.steps[0]?.run_status, "waiting");
      const { id: approval, run_id } = await pending(host);
      assert.equal(run_id, waiting.plan?.steps[0]?.run_id);
      assert.deepEqual(paid, []);
      await host.approvals.decide(approval, { choice: "approve", by: "bob" });
      await planBecomes(host, id, isCompleted);
      assert.deepEqual(paid, ["paid"]);
    },
  ),

  behaviour<HostStage>(
    "W1 X5 a stopped plan cancels its run and stays stopped until it is run again",
    ["plans"],
    async (stage) => {
      const held = gate();
      const begun = gate();
      const { host } = await clerk(stage, async (asked) => {
        begun.open();
        await held.opened;
        return works(asked);
      });
      const { id } = await host.plans.create(
        "clerk",
        { goal: "g", steps: [{ id: "a", title: "Look" }] },
        ANN,
      );
      await host.plans.run(id, ANN);
      await begun.opened;
      await host.plans.stop(id, { ...BOB, note: "too dear" });
      const stopped = await planBecomes(host, id, (plan) => stepIn(plan, "a").state === "pending");
      const { run_id, reason } = stepIn(stopped, "a");
      assert.equal(reason, "Stopped by bob: too dear");
      assert.equal((await host.runs.get(run_id ?? "")).status, "cancelled");
      const { work } = await host.plans.board("clerk");
      assert.deepEqual([work.state, work.by], ["stopped", "bob"]);
      held.open();
      await host.plans.run(id, ANN);
      await planBecomes(host, id, isCompleted);
    },
  ),

  behaviour<HostStage>("W3 the planner of a run writes no plan", ["plans"], async (stage) => {
    const model = rolesModel(({ system }) =>
      system.includes("You are planning") ? "1. Look\n2. Tell" : "done",
    );
    const host = await stage.host({ agents: [new Agent({ name: "clerk", planningEnabled: true, model })] });
    const { plan } = await host.run("clerk", "do it");
    assert.deepEqual(
      plan?.steps.map(({ title }) => title),
      ["Look", "Tell"],
    );
    assert.equal((await host.plans.board("clerk")).plan, null);
    assert.deepEqual(await host.plans.versions("clerk"), []);
  }),
];
