import { Agent, defineTool } from "trackside";
import { expect, test } from "vitest";
import type { PlanBoard, PlanStep, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { agentOf, hostOn } from "../agents/support/host.ts";
import { onBothStores, sqliteDatabase } from "../agents/support/stores.ts";
import { until } from "../engine/support/until.ts";
import { planBecomes, rolesModel, statesOf, stepIn, titleIn } from "./support/planner.ts";

const ANN = { by: "ann" };
const BOB = { by: "bob" };
const clerk = (more: object = {}) => agentOf("clerk", { model: "demo:works", ...more });

/** Answers only when it is let go, step by step. */
function gatedModel() {
  const waiting = new Map<string, () => void>();
  const began: string[] = [];
  const model = rolesModel(({ role, text }) => {
    const what = role === "judge" ? "judge" : titleIn(text);
    began.push(what);
    const said = role === "judge" ? JSON.stringify({ passed: true, reason: "Yes." }) : `did ${what}`;
    return new Promise<string>((resolve) => waiting.set(what, () => resolve(said)));
  });
  return {
    model,
    began,
    waiting,
    async letGo(what: string): Promise<void> {
      const go = await until(() => waiting.get(what));
      waiting.delete(what);
      go();
    },
  };
}

const row = (n: number, more: Partial<PlanStep> = {}) =>
  Array.from({ length: n }, (_, i) => ({ id: `s${i}`, title: `Step${i}`, ...more }));

const boardBecomes = (trackside: Trackside, is: (board: PlanBoard) => boolean, agent = "clerk") =>
  until(async () => {
    const board = await trackside.plans.board(agent);
    return is(board) ? board : undefined;
  });

await onBothStores("work on plans", (database) => {
  test("W2 independent steps run at once, as many as the agent may have, and no more", async () => {
    const { model, began, letGo } = gatedModel();
    const trackside = hostOn((await database())(), { models: { "demo:works": model } });
    await trackside.agents.create({ definition: clerk({ max_parallel_subagents: 2 }) }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "g", steps: row(4) }, ANN);
    const begun = await trackside.plans.run(id, ANN);
    expect(Object.values(statesOf(begun))).toEqual(["running", "running", "pending", "pending"]);
    await until(() => (began.length === 2 ? true : undefined));
    await letGo("Step1");
    await until(() => (began.length === 3 ? true : undefined));
    expect(began[2]).toBe("Step2");
    const now = await trackside.plans.get(id);
    expect(now.steps.filter(({ state }) => state === "running")).toHaveLength(2);
    for (const what of ["Step0", "Step2", "Step3"]) await letGo(what);
    await planBecomes(trackside, id, ({ state }) => state === "completed");
  });

  test("W2 two processes work the same plan: every step is begun once", async () => {
    const store = await database();
    const asked: string[] = [];
    const models = () => ({
      "demo:works": rolesModel(({ role, text }) => {
        asked.push(role === "judge" ? "judge" : titleIn(text));
        return role === "judge" ? JSON.stringify({ passed: true, reason: "Yes." }) : `did ${titleIn(text)}`;
      }),
    });
    const hosts = [hostOn(store(), { models: models() }), hostOn(store(), { models: models() })];
    const [here, there] = hosts as [Trackside, Trackside];
    await here.agents.create({ definition: clerk({ max_parallel_subagents: 7 }) }, ANN);
    const steps = row(6).map((step) => ({ ...step, criteria: "Yes." }));
    const { id } = await here.plans.create("clerk", { goal: "g", steps }, ANN);
    await there.plans.board("clerk");
    await Promise.all(hosts.map(({ plans }) => plans.run(id, ANN)));
    await planBecomes(there, id, ({ state }) => state === "completed");
    expect(asked.filter((what) => what !== "judge").sort()).toEqual(steps.map(({ title }) => title));
    expect(asked.filter((what) => what === "judge")).toHaveLength(6);
    expect(await here.runs.list({ limit: 100 })).toHaveLength(12);
  });

  test("W1 an autonomous agent works its active plan by itself, and what is made next as well", async () => {
    const { model, letGo } = gatedModel();
    const trackside = hostOn((await database())(), { models: { "demo:works": model } });
    const made = await trackside.agents.create({ definition: clerk() }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "g", steps: row(1) }, ANN);
    expect((await trackside.plans.board("clerk")).work).toMatchObject({ state: "idle", mode: null });
    const { definition } = made;
    await trackside.agents.save("clerk", { definition, autonomous_mode: true }, { ...BOB, version: 1 });
    const working = await boardBecomes(trackside, ({ work }) => work.state === "working");
    expect(working).toMatchObject({
      work: { mode: "autonomous", by: "autonomous mode" },
      autonomous: { on: true, available: true, by: "bob", at: expect.any(Number) },
    });
    await letGo("Step0");
    await planBecomes(trackside, id, ({ state }) => state === "completed");
    expect((await trackside.plans.board("clerk")).work).toMatchObject({ state: "idle" });

    const next = await trackside.plans.create(
      "clerk",
      { goal: "h", steps: [{ id: "n", title: "Next" }] },
      ANN,
    );
    await letGo("Next");
    await planBecomes(trackside, next.id, ({ state }) => state === "completed");
  });

  test("W1 a stop sticks: over a new plan and a restart, until somebody runs it again", async () => {
    const store = await database();
    const { model, letGo, began } = gatedModel();
    const models = { "demo:works": model };
    const trackside = hostOn(store(), { models });
    await trackside.agents.create({ definition: clerk(), autonomous_mode: true }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "g", steps: row(2) }, ANN);
    await boardBecomes(trackside, ({ work }) => work.state === "working");
    await trackside.plans.stop(id, { ...BOB, note: "too dear" });
    const stopped = await planBecomes(trackside, id, ({ steps }) =>
      steps.every(({ state }) => state === "pending"),
    );
    expect(stepIn(stopped, "s0")).toMatchObject({
      reason: "Stopped by bob: too dear",
      attempt: 1,
      stopping: false,
    });
    expect((await trackside.runs.get(stepIn(stopped, "s0").run_id ?? "")).status).toBe("cancelled");
    expect((await trackside.plans.board("clerk")).work).toMatchObject({
      state: "stopped",
      by: "bob",
      reason: "too dear",
      at: expect.any(Number),
    });
    const other = await trackside.plans.create(
      "clerk",
      { goal: "h", steps: [{ id: "n", title: "Next" }] },
      ANN,
    );
    await trackside.close();

    const again = hostOn(store(), { models });
    // A plan of somebody else is worked on, so this one was looked at too.
    await again.agents.create(
      { definition: agentOf("other", { model: "demo:works" }), autonomous_mode: true },
      ANN,
    );
    const beside = await again.plans.create(
      "other",
      { goal: "g", steps: [{ id: "b", title: "Beside" }] },
      ANN,
    );
    await letGo("Beside");
    await planBecomes(again, beside.id, ({ state }) => state === "completed");
    expect(began).not.toContain("Next");
    expect((await again.plans.board("clerk")).work.state).toBe("stopped");

    await again.plans.run(other.id, ANN);
    await letGo("Next");
    await planBecomes(again, other.id, ({ state }) => state === "completed");
    expect((await again.plans.board("clerk")).work.state).toBe("idle");
  });

  test("W2 an approval holds its step, which says so, and goes on once it is decided", async () => {
    const paid: string[] = [];
    const pay = defineTool({
      name: "pay",
      input: { type: "object", properties: {} },
      execute: () => {
        paid.push("paid");
        return "paid";
      },
    });
    const model = rolesModel(({ text }) => `did ${titleIn(text)}`);
    let calls = 0;
    const payer = rolesModel(() => (calls++ === 0 ? { calls: [{ tool: "pay", args: {} }] } : "it is paid"));
    const trackside = hostOn((await database())(), {
      models: { "demo:works": model, "demo:pays": payer },
      tools: [pay],
    });
    const definition = clerk({ model: "demo:pays", tools: ["pay"], hitl_tools: ["pay"] });
    await trackside.agents.create({ definition, autonomous_mode: true }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "g", steps: row(1) }, ANN);
    const waiting = await boardBecomes(trackside, ({ work }) => work.state === "waiting");
    expect(waiting.plan?.steps[0]).toMatchObject({ state: "running", run_status: "waiting", phase: "work" });
    const [approval] = await trackside.approvals.list();
    expect(approval?.run_id).toBe(waiting.plan?.steps[0]?.run_id);
    expect(paid).toEqual([]);
    await trackside.approvals.decide(approval?.id ?? "", { choice: "approve", by: "bob" });
    const done = await planBecomes(trackside, id, ({ state }) => state === "completed");
    expect(stepIn(done, "s0").output).toBe("it is paid");
    expect(paid).toEqual(["paid"]);
  });

  test("W2 a running step is neither edited nor removed nor superseded; the others are edited under it", async () => {
    const { model, letGo } = gatedModel();
    const trackside = hostOn((await database())(), { models: { "demo:works": model } });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { plans } = trackside;
    const [first, second] = row(2) as [{ id: string; title: string }, { id: string; title: string }];
    const { id } = await plans.create("clerk", { goal: "g", steps: [first, second] }, ANN);
    await plans.runStep(id, "s0", ANN);
    const save = (steps: readonly { id: string; title: string }[], version: number) =>
      plans.save(id, { goal: "g", steps }, { ...ANN, version });
    await expect(save([{ ...first, title: "Other" }, second], 1)).rejects.toMatchObject({
      code: "plan_busy",
      message: expect.stringMatching(/^steps\[0\]: the step "s0" is running/),
    });
    await expect(save([second], 1)).rejects.toMatchObject({ code: "plan_busy" });
    await expect(plans.create("clerk", { goal: "h", steps: [] }, ANN)).rejects.toMatchObject({
      code: "plan_busy",
      message: expect.stringContaining('its step "s0" is running'),
    });
    await expect(plans.generate("clerk", { goal: "h" }, ANN)).rejects.toMatchObject({ code: "plan_busy" });
    await expect(plans.runStep(id, "s0", ANN)).rejects.toMatchObject({ code: "plan_busy" });
    await expect(plans.skipStep(id, "s0", ANN)).rejects.toMatchObject({ code: "plan_busy" });
    const moved = await save([{ ...second, title: "Edited" }, first, { id: "s2", title: "Third" }], 1);
    expect(statesOf(moved)).toEqual({ s1: "pending", s0: "running", s2: "pending" });
    await letGo("Step0");
    const done = await planBecomes(trackside, id, (plan) => stepIn(plan, "s0").state === "completed");
    expect(done.version).toBe(2);
    // What ran keeps its record, whatever is edited around it.
    const kept = await save([first], 2);
    expect(kept).toMatchObject({ version: 3, state: "completed" });
    expect(stepIn(kept, "s0").output).toBe("did Step0");
  });

  test("W2 a generation can be stopped, and nothing comes of it", async () => {
    const { model } = gatedModel();
    const trackside = hostOn((await database())(), { models: { "demo:works": model } });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "g", steps: row(1) }, ANN);
    await trackside.plans.generate("clerk", { goal: "h" }, ANN);
    await expect(trackside.plans.runStep(id, "s0", ANN)).rejects.toMatchObject({ code: "plan_busy" });
    await trackside.plans.stop(id, BOB);
    const over = await boardBecomes(trackside, ({ generation }) => generation?.state === "failed");
    expect(over.generation?.reason).toContain("Stopped by bob");
    expect(over.plan).toMatchObject({ id, state: "active" });
  });

  test("W3 the planner of a run writes no plan, nor touches the one there is", async () => {
    const planned = new Agent({
      name: "planned",
      planningEnabled: true,
      model: rolesModel(({ system }) => (system.includes("You are planning") ? "1. Look\n2. Tell" : "done")),
    });
    const trackside = hostOn((await database())(), { agents: [planned] });
    await trackside.plans.create("planned", { goal: "g", steps: row(2) }, ANN);
    const tables = () =>
      trackside.engine.store.read(function* (db) {
        const all = [];
        for (const table of ["plans", "plan_versions", "plan_steps", "plan_work"] as const)
          all.push([table, yield* rows(db.selectFrom(table).selectAll())]);
        return all;
      });
    const before = await tables();
    const { plan, text } = await trackside.run("planned", "do it");
    expect(plan?.steps.map(({ title }) => title)).toEqual(["Look", "Tell"]);
    expect(text).toBe("done");
    expect(await tables()).toEqual(before);
  });
});

test("W2 a step that was stopped before its verification goes on there, and is not done twice", async () => {
  const { model, letGo, began } = gatedModel();
  const trackside = hostOn(sqliteDatabase()(), { models: { "demo:works": model } });
  await trackside.agents.create({ definition: clerk() }, ANN);
  const steps = row(1).map((step) => ({ ...step, criteria: "Yes." }));
  const { id } = await trackside.plans.create("clerk", { goal: "g", steps }, ANN);
  await trackside.plans.run(id, ANN);
  await letGo("Step0");
  await planBecomes(trackside, id, (plan) => stepIn(plan, "s0").phase === "verify");
  await until(() => (began.includes("judge") ? true : undefined));
  await trackside.plans.stop(id, BOB);
  const stopped = await planBecomes(trackside, id, (plan) => stepIn(plan, "s0").state === "pending");
  expect(stepIn(stopped, "s0").output).toBe("did Step0");
  await trackside.plans.run(id, ANN);
  await until(() => (began.filter((what) => what === "judge").length === 2 ? true : undefined));
  await letGo("judge");
  await planBecomes(trackside, id, ({ state }) => state === "completed");
  expect(began).toEqual(["Step0", "judge", "judge"]);
});

test("W2 an agent that cannot run any more fails the step with the reason", async () => {
  const store = sqliteDatabase();
  const tool = defineTool({ name: "pay", input: { type: "object", properties: {} }, execute: () => "paid" });
  const model = rolesModel(() => "done");
  const before = hostOn(store(), { models: { "demo:works": model }, tools: [tool] });
  await before.agents.create({ definition: clerk({ tools: ["pay"] }) }, ANN);
  const { id } = await before.plans.create("clerk", { goal: "g", steps: row(1) }, ANN);
  await before.close();
  const after = hostOn(store(), { models: { "demo:works": model } });
  await after.plans.runStep(id, "s0", ANN);
  const failed = await planBecomes(after, id, ({ state }) => state === "failed");
  expect(stepIn(failed, "s0")).toMatchObject({ run_id: null, reason: expect.stringContaining("pay") });
});
