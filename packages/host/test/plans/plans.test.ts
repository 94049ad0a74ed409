import { Agent, AgentConfigError } from "trackside";
import { describe, expect, test } from "vitest";
import { PlanConflictError } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { agentOf, hostOn } from "../agents/support/host.ts";
import { onBothStores, sqliteDatabase } from "../agents/support/stores.ts";
import { planBecomes, rolesModel, statesOf, stepIn, titleIn } from "./support/planner.ts";

const ANN = { by: "ann" };
const BOB = { by: "bob" };

const worker = () =>
  rolesModel(({ role, text }) =>
    role === "judge" ? JSON.stringify({ passed: true, reason: "It is there." }) : `did ${titleIn(text)}`,
  );

const clerk = (more: object = {}) => agentOf("clerk", { model: "demo:works", ...more });
const models = (model = worker()) => ({ "demo:works": model });

/** Two that are independent, and one that needs both. */
const DIAMOND = [
  { id: "a", title: "Collect" },
  { id: "b", title: "Count" },
  { id: "c", title: "Report", depends_on: ["a", "b"], criteria: "It names both." },
];

await onBothStores("plans", (database) => {
  test("W2 a plan is made by hand, and every save is a version that supersedes the one before", async () => {
    const trackside = hostOn((await database())(), { models: models() });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { plans } = trackside;
    const made = await plans.create("clerk", { goal: "Close the books", steps: DIAMOND }, ANN);
    expect(made).toMatchObject({ version: 1, state: "active", goal: "Close the books", origin: "hand" });
    expect(stepIn(made, "c")).toMatchObject({
      depends_on: ["a", "b"],
      state: "pending",
      output: null,
      run_id: null,
      verification: { criteria: "It names both.", verdict: null, detail: null },
    });

    const saved = await plans.save(
      made.id,
      { goal: "Close the books", steps: DIAMOND.slice(0, 2) },
      { ...BOB, version: 1, note: "shorter" },
    );
    expect(saved).toMatchObject({ id: made.id, version: 2, updated_by: "bob", note: "shorter" });
    const other = await plans.create("clerk", { goal: "Open the shop", steps: [] }, ANN);
    expect(other).toMatchObject({ version: 3, state: "active" });
    expect((await plans.get(made.id)).state).toBe("superseded");
    expect((await plans.versions("clerk")).map(({ version, state, by }) => [version, state, by])).toEqual([
      [3, "active", "ann"],
      [2, "superseded", "bob"],
      [1, "superseded", "ann"],
    ]);
    expect((await plans.versions("clerk"))[2]).toMatchObject({
      goal: "Close the books",
      steps: { length: 3 },
    });
    const again = { goal: "Close", steps: [] };
    await expect(plans.save(made.id, again, { ...ANN, version: 2 })).rejects.toMatchObject({
      code: "plan_busy",
      message: expect.stringContaining("superseded by version 3"),
    });
    expect((await trackside.audit.list({ action: "plan." })).map(({ action }) => action)).toEqual([
      "plan.created",
      "plan.saved",
      "plan.created",
    ]);
    expect(await trackside.audit.verify()).toMatchObject({ ok: true });
  });

  test("W2 a stale save is told which version there is and who saved it; of two at once one wins", async () => {
    const store = await database();
    const [here, there] = [hostOn(store(), { models: models() }), hostOn(store(), { models: models() })];
    await here.agents.create({ definition: clerk() }, ANN);
    let { id, version } = await here.plans.create("clerk", { goal: "g", steps: DIAMOND }, ANN);
    for (let round = 0; round < 5; round += 1) {
      const saves = await Promise.allSettled(
        [here, there].map(({ plans }, i) =>
          plans.save(id, { goal: `g ${round} ${i}`, steps: DIAMOND }, { by: `person ${i}`, version }),
        ),
      );
      const lost = saves.filter((one) => one.status === "rejected");
      const winner = saves.findIndex((one) => one.status === "fulfilled");
      expect(lost).toHaveLength(1);
      expect(lost[0]?.reason).toBeInstanceOf(PlanConflictError);
      expect(lost[0]?.reason).toMatchObject({
        code: "version_conflict",
        current: { version: version + 1, by: `person ${winner}` },
      });
      version += 1;
    }
    // Nothing to remember: no version.
    const { goal } = await there.plans.get(id);
    expect(await there.plans.save(id, { goal, steps: DIAMOND }, { ...ANN, version })).toMatchObject({
      version,
    });
  });

  test("W2 two who make a plan at once, in two processes: one is active, the other superseded", async () => {
    const store = await database();
    const hosts = [hostOn(store(), { models: models() }), hostOn(store(), { models: models() })];
    await hosts[0]?.agents.create({ definition: clerk() }, ANN);
    await Promise.all(
      hosts.map(({ plans }, i) => plans.create("clerk", { goal: `g ${i}`, steps: DIAMOND }, ANN)),
    );
    const versions = (await hosts[0]?.plans.versions("clerk")) ?? [];
    expect(versions.map(({ version, state }) => [version, state])).toEqual([
      [2, "active"],
      [1, "superseded"],
    ]);
  });

  test("W2 all steps run, each as a run of the agent, told what those before it gave, and are verified", async () => {
    const asked: string[] = [];
    const model = rolesModel(({ role, text }) => {
      asked.push(`${role} ${role === "judge" ? text : titleIn(text)}`);
      if (role === "judge") return JSON.stringify({ passed: true, reason: "Both are named." });
      return titleIn(text) === "Report"
        ? `seen ${[...text.matchAll(/did \w+/g)].join(", ")}`
        : `did ${titleIn(text)}`;
    });
    const trackside = hostOn((await database())(), { models: models(model) });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "Close the books", steps: DIAMOND }, ANN);
    await trackside.plans.run(id, ANN);
    const done = await planBecomes(trackside, id, ({ state }) => state === "completed");
    expect(stepIn(done, "c")).toMatchObject({
      state: "completed",
      output: "seen did Collect, did Count",
      verification: { verdict: "passed", detail: "Both are named." },
      by: "ann",
      attempt: 1,
    });
    expect(asked.slice(0, 2).sort()).toEqual(["worker Collect", "worker Count"]);
    expect(asked[3]).toContain("It names both.");
    // Four runs of the agent, each in a conversation of its own, findable from the step.
    const runs = await trackside.runs.list({ agent: "clerk" });
    expect(runs).toHaveLength(4);
    expect(new Set(runs.map(({ conversation_id }) => conversation_id)).size).toBe(4);
    for (const step of done.steps)
      expect((await trackside.runs.get(step.run_id ?? "")).scope).toMatchObject({
        plan: id,
        plan_step: step.id,
      });
    expect((await trackside.plans.board("clerk")).work).toMatchObject({ state: "idle" });
    await expect(trackside.plans.run(id, ANN)).rejects.toMatchObject({ code: "plan_busy" });
  });

  test("W2 one step at a time: what it depends on comes first, and a skipped one counts as done", async () => {
    const trackside = hostOn((await database())(), { models: models() });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { plans } = trackside;
    const { id } = await plans.create("clerk", { goal: "g", steps: DIAMOND }, ANN);
    await expect(plans.runStep(id, "c", ANN)).rejects.toMatchObject({
      code: "plan_busy",
      message: 'The step "c" depends on "a", which is pending. Run that one first, or skip it.',
    });
    await expect(plans.runStep(id, "z", ANN)).rejects.toMatchObject({ code: "not_found" });
    const begun = await plans.runStep(id, "a", ANN);
    expect(stepIn(begun, "a").run_id).toMatch(/^run_/);
    await planBecomes(trackside, id, (plan) => stepIn(plan, "a").state === "completed");
    await plans.skipStep(id, "b", { ...BOB, note: "not this month" });
    await plans.runStep(id, "c", ANN);
    const done = await planBecomes(trackside, id, ({ state }) => state === "completed");
    expect(stepIn(done, "b")).toMatchObject({ state: "skipped", by: "bob", reason: "not this month" });
    const { message } = await trackside.runs.opening(stepIn(done, "c").run_id ?? "");
    expect(JSON.stringify(message)).toContain("it was skipped and gave nothing");
  });

  test("W2 a failed verification fails its step, nothing after it runs, and it can be retried and verified again", async () => {
    let passes = false;
    const model = rolesModel(({ role, text }) =>
      role === "judge" ? JSON.stringify({ passed: passes, reason: "No total." }) : `did ${titleIn(text)}`,
    );
    const trackside = hostOn((await database())(), { models: models(model) });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { plans } = trackside;
    const steps = [
      { id: "a", title: "Count", criteria: "There is a total." },
      { id: "b", title: "Tell", depends_on: ["a"] },
    ];
    const { id } = await plans.create("clerk", { goal: "g", steps }, ANN);
    await plans.run(id, ANN);
    const failed = await planBecomes(trackside, id, ({ state }) => state === "failed");
    expect(statesOf(failed)).toEqual({ a: "failed", b: "pending" });
    expect(stepIn(failed, "a")).toMatchObject({
      output: "did Count",
      reason: "Its verification failed.",
      verification: { verdict: "failed", detail: "No total.", run_id: expect.stringMatching(/^run_/) },
    });
    await expect(plans.run(id, ANN)).rejects.toMatchObject({
      message: expect.stringContaining("Retry the step, or skip it"),
    });
    passes = true;
    await plans.verifyStep(id, "a", BOB);
    const verified = await planBecomes(trackside, id, (plan) => stepIn(plan, "a").state === "completed");
    expect(verified.state).toBe("active");
    expect(stepIn(verified, "a")).toMatchObject({ attempt: 1, verification: { verdict: "passed" } });
    await plans.runStep(id, "a", ANN);
    await planBecomes(trackside, id, (plan) => stepIn(plan, "a").state === "completed");
    await plans.run(id, ANN);
    const done = await planBecomes(trackside, id, ({ state }) => state === "completed");
    expect(stepIn(done, "a").attempt).toBe(2);
    await expect(plans.verifyStep(id, "b", ANN)).rejects.toMatchObject({
      message: expect.stringContaining("no criteria"),
    });
  });

  test("W2 a step whose run fails is failed with the run's reason; independent ones go on", async () => {
    const model = rolesModel(({ text }) => {
      if (titleIn(text) === "Collect") throw new Error("the ledger is locked");
      return `did ${titleIn(text)}`;
    });
    const trackside = hostOn((await database())(), { models: models(model) });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const { id } = await trackside.plans.create("clerk", { goal: "g", steps: DIAMOND }, ANN);
    await trackside.plans.run(id, ANN);
    const failed = await planBecomes(trackside, id, ({ state }) => state === "failed");
    expect(statesOf(failed)).toEqual({ a: "failed", b: "completed", c: "pending" });
    expect(stepIn(failed, "a").reason).toContain("the ledger is locked");
    // A new plan leaves the failed one as it was.
    await trackside.plans.create("clerk", { goal: "h", steps: [] }, ANN);
    expect((await trackside.plans.get(id)).state).toBe("failed");
    await expect(trackside.plans.runStep(id, "a", ANN)).rejects.toMatchObject({ code: "plan_busy" });
  });

  test("W2 the agent's planner makes the plan, in a run of its own that is recorded and guarded", async () => {
    const systems: string[] = [];
    const model = rolesModel(({ role, system }) => {
      systems.push(system);
      if (role !== "planner") return "done";
      return JSON.stringify({
        steps: [
          { id: "look", title: "Look", detail: "", depends_on: [], criteria: "" },
          { id: "tell", title: "Tell", detail: "all", depends_on: ["look"], criteria: "It is short." },
        ],
      });
    });
    const trackside = hostOn((await database())(), {
      models: { "demo:works": worker(), "demo:plans": model },
    });
    await trackside.agents.create(
      {
        definition: clerk({ planning_model: "demo:plans", planning_instructions: "Plan like a clerk." }),
      },
      ANN,
    );
    const { generation } = await trackside.plans.generate(
      "clerk",
      { goal: "Tell me", guidance: "Two steps." },
      ANN,
    );
    expect(generation).toMatchObject({ state: "running", goal: "Tell me", by: "ann" });
    const board = await untilBoard(trackside, ({ plan }) => plan !== null);
    expect(board.plan).toMatchObject({
      origin: "generated",
      goal: "Tell me",
      state: "active",
      updated_by: "ann",
    });
    expect(board.plan?.steps.map(({ id, depends_on }) => [id, depends_on])).toEqual([
      ["look", []],
      ["tell", ["look"]],
    ]);
    expect(board.generation).toMatchObject({ state: "completed", version: 1 });
    expect(systems[0]).toContain("I am clerk.");
    expect(systems[0]).toContain("Plan like a clerk.");
    const run = await trackside.runs.get(board.generation?.run_id ?? "");
    expect(run).toMatchObject({ agent: "clerk", status: "completed" });
    expect((await trackside.runs.opening(run.id)).definition).toMatchObject({ model: "demo:plans" });
  });

  test("W2 plans of an agent in code work the same, and autonomous mode is not for it", async () => {
    const inCode = new Agent({
      name: "coded",
      instructions: "I am coded.",
      model: rolesModel(({ role, text }) => {
        if (role === "judge") return JSON.stringify({ passed: true, reason: "Yes." });
        if (role === "worker") return `did ${titleIn(text)}`;
        const step = { id: "one", title: "Look", detail: "", depends_on: [], criteria: "It was looked at." };
        return JSON.stringify({ steps: [step] });
      }),
    });
    const trackside = hostOn((await database())(), { agents: [inCode] });
    await trackside.plans.generate("coded", { goal: "g" }, ANN);
    const { plan, autonomous } = await untilBoard(trackside, (now) => now.plan !== null, "coded");
    expect(autonomous).toEqual({ on: false, available: false, by: null, at: null });
    await trackside.plans.run(plan?.id ?? "", ANN);
    const done = await planBecomes(trackside, plan?.id ?? "", ({ state }) => state === "completed");
    expect(stepIn(done, "one")).toMatchObject({ output: "did Look", verification: { verdict: "passed" } });
  });
});

describe("plans, whatever the store", () => {
  const database = async () => sqliteDatabase();

  test("X12 what a plan has of a conversation is erased with it, and a plan with its agent; a secret never leaves with an output", async () => {
    const model = rolesModel(() => "the key is sk-live-4711-4711");
    const trackside = hostOn((await database())(), { models: models(model) });
    await trackside.agents.create({ definition: clerk() }, ANN);
    await trackside.secrets.set("default", "key", "sk-live-4711-4711");
    await trackside.secrets.use("default", "key"); // what was used is known from then on
    const { id } = await trackside.plans.create(
      "clerk",
      { goal: "g", steps: [{ id: "a", title: "Tell" }] },
      ANN,
    );
    await trackside.plans.run(id, ANN);
    const done = await planBecomes(trackside, id, ({ state }) => state === "completed");
    expect(stepIn(done, "a").output).toContain("the key is");
    expect(stepIn(done, "a").output).not.toContain("4711-4711");
    const { conversation_id } = await trackside.runs.get(stepIn(done, "a").run_id ?? "");
    await trackside.conversations.delete(conversation_id);
    expect(stepIn(await trackside.plans.get(id), "a")).toMatchObject({ state: "completed", output: null });
    const left = await trackside.engine.store.read((db) => rows(db.selectFrom("plan_steps").selectAll()));
    expect(JSON.stringify(left)).not.toContain("the key is");
    await trackside.agents.delete("clerk", { ...ANN, erase: true });
    for (const table of ["plans", "plan_versions", "plan_steps"] as const)
      expect(await trackside.engine.store.read((db) => rows(db.selectFrom(table).selectAll()))).toEqual([]);
  });

  test("W2 cycles, unknown dependencies and everything else that is wrong are told at once, each with its path", async () => {
    const trackside = hostOn((await database())(), { models: models() });
    await trackside.agents.create({ definition: clerk() }, ANN);
    const problems = async (input: unknown) => {
      const failed = await trackside.plans
        .create("clerk", input as never, ANN)
        .catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(AgentConfigError);
      return (failed as AgentConfigError).issues.map(({ path, message }) => [path, message]);
    };
    expect(
      (await problems({ goal: "", steps: [{ id: "a b", title: "", depends_on: "x", colour: "red" }] })).map(
        ([path]) => path,
      ),
    ).toEqual(["goal"]);
    expect(
      (await problems({ goal: "g", steps: [{ id: "a b", title: " ", depends_on: "x", colour: "red" }] })).map(
        ([path]) => path,
      ),
    ).toEqual(["steps[0].colour", "steps[0].id", "steps[0].title", "steps[0].depends_on"]);
    const unknown = await problems({
      goal: "g",
      steps: [
        { id: "a", title: "A", depends_on: ["z"] },
        { id: "a", title: "B" },
      ],
    });
    expect(unknown.map(([path]) => path)).toEqual(["steps[1].id", "steps[0].depends_on[0]"]);
    const [cycle] = await problems({
      goal: "g",
      steps: [
        { id: "x", title: "X" },
        { id: "a", title: "A", depends_on: ["x", "c"] },
        { id: "b", title: "B", depends_on: ["a"] },
        { id: "c", title: "C", depends_on: ["b"] },
      ],
    });
    expect(cycle?.[0]).toBe("steps[1].depends_on");
    expect(cycle?.[1]).toContain("a → c → b → a");
    expect(
      (await problems({ goal: "g", steps: [{ id: "a", title: "A", depends_on: ["a"] }] }))[0]?.[1],
    ).toContain("a → a");
    const many = Array.from({ length: 201 }, (_, i) => ({ id: `s${i}`, title: "x" }));
    expect((await problems({ goal: "g", steps: many }))[0]?.[0]).toBe("steps");
    expect((await trackside.plans.board("clerk")).plan).toBeNull();
  });

  test("W2 a planner that makes no sense makes no plan, and the one there is stays active", async () => {
    let answer: unknown = { steps: [] };
    const model = rolesModel(({ role }) => (role === "planner" ? JSON.stringify(answer) : "done"));
    const trackside = hostOn((await database())(), { models: models(model) });
    await trackside.agents.create({ definition: clerk() }, ANN);
    await trackside.plans.create("clerk", { goal: "g", steps: DIAMOND }, ANN);
    const fails = async (words: string) => {
      await trackside.plans.generate("clerk", { goal: "h" }, ANN);
      const { generation, plan } = await untilBoard(trackside, (now) => now.generation?.state === "failed");
      expect(generation?.reason).toContain(words);
      expect(plan).toMatchObject({ goal: "g", state: "active", version: 1 });
    };
    await fails("no steps");
    const step = (id: string, on: string) => ({ id, title: id, detail: "", depends_on: [on], criteria: "" });
    answer = { steps: [step("a", "b"), step("b", "a")] };
    await fails("a → b → a");
    answer = "nonsense";
    await fails("output_schema");
  });

  test("W2 tenants never see each other's plans, and an agent that is renamed keeps its own", async () => {
    const { agents, plans } = hostOn((await database())(), { models: models() });
    await agents.create({ definition: clerk() }, { ...ANN, tenant: "a" });
    await agents.create({ definition: clerk() }, { ...ANN, tenant: "b" });
    const { id } = await plans.create("clerk", { goal: "a's", steps: DIAMOND }, { ...ANN, tenant: "a" });
    const of = { tenant: "b" };
    expect((await plans.board("clerk", of)).plan).toBeNull();
    for (const look of [
      () => plans.get(id, of),
      () => plans.run(id, { ...ANN, ...of }),
      () => plans.runStep(id, "a", { ...ANN, ...of }),
      () => plans.skipStep(id, "a", { ...ANN, ...of }),
      () => plans.stop(id, { ...ANN, ...of }),
      () => plans.save(id, { goal: "b's", steps: [] }, { ...ANN, ...of, version: 1 }),
    ])
      await expect(look()).rejects.toMatchObject({ code: "not_found" });
    const renamed = { definition: clerk({ name: "cashier" }) };
    await agents.save("clerk", renamed, { ...ANN, tenant: "a", version: 1 });
    expect((await plans.board("cashier", { tenant: "a" })).plan).toMatchObject({ id });
    await expect(plans.board("clerk", { tenant: "a" })).rejects.toMatchObject({ code: "not_found" });
  });
});

type Board = Awaited<ReturnType<ReturnType<typeof hostOn>["plans"]["board"]>>;

async function untilBoard(
  { plans }: ReturnType<typeof hostOn>,
  is: (board: Board) => boolean,
  agent = "clerk",
): Promise<Board> {
  for (;;) {
    const board = await plans.board(agent);
    if (is(board)) return board;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
