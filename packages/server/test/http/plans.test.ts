import { scriptedModel } from "trackside/testing";
import { beforeAll, expect, test } from "vitest";
import { ApiProblem, type Client } from "../../src/client/index.ts";
import { openRoom, type Room, until } from "./support/room.ts";

const STEPS = [
  { id: "collect", title: "Collect the receipts" },
  { id: "report", title: "Report", depends_on: ["collect"], criteria: "It has a total." },
];
const DRAFT = { steps: [{ id: "only", title: "Do it", detail: "", depends_on: [], criteria: "" }] };

/** Plans, judges or works, as it is asked to. */
const model = () =>
  scriptedModel(
    [
      ({ prompt }) => {
        const system = String(prompt.find(({ role }) => role === "system")?.content ?? "");
        if (system.includes("You verify")) return JSON.stringify({ passed: true, reason: "17 in all." });
        return system.includes("`depends_on`") ? JSON.stringify(DRAFT) : "17 in all";
      },
    ],
    { loop: true },
  );

let room: Room;
let operator: Client;
beforeAll(async () => {
  room = await openRoom({ host: { models: { "demo:works": model() } } });
  operator = room.client("operator");
  for (const name of ["bookkeeper", "planner", "alone"])
    await room.client("admin").createAgent({ body: { definition: { name, model: "demo:works" } } });
});

const problemOf = async (asked: Promise<unknown>): Promise<ApiProblem> => {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiProblem)) throw new Error("it was not refused");
  return error;
};

const becomes = (id: string, state: string) =>
  until(async () => {
    const plan = await operator.getPlan({ params: { id } });
    return plan.state === state ? plan : undefined;
  });

test("W2 a plan over HTTP: made, edited, run, read, and every version of it", async () => {
  const params = { name: "bookkeeper" };
  const made = await operator.createPlan({ params, body: { goal: "Close the books", steps: STEPS } });
  expect(made).toMatchObject({ version: 1, state: "active", steps: [{ detail: "", depends_on: [] }, {}] });
  const { id } = made;
  const saved = await operator.savePlan({
    params: { id },
    body: { goal: "Close the books of May", steps: STEPS, version: 1, note: "May" },
  });
  expect(saved).toMatchObject({ id, version: 2, note: "May", updated_by: "operator" });

  const stale = await problemOf(
    operator.savePlan({ params: { id }, body: { goal: "Mine", steps: STEPS, version: 1 } }),
  );
  expect(stale).toMatchObject({
    status: 409,
    code: "version_conflict",
    current: { version: 2, by: "operator" },
  });

  const early = await problemOf(operator.runPlanStep({ params: { id, step: "report" }, body: {} }));
  expect(early).toMatchObject({ status: 409, code: "plan_busy" });
  expect((await problemOf(operator.runPlanStep({ params: { id, step: "x" }, body: {} }))).status).toBe(404);

  const running = await operator.runPlan({ params: { id }, body: {} });
  expect(running.steps[0]?.run_id).toMatch(/^run_/);
  const done = await becomes(id, "completed");
  expect(done.steps[1]).toMatchObject({
    output: "17 in all",
    verification: { verdict: "passed", detail: "17 in all." },
  });
  const { items } = await operator.listPlanVersions({ params });
  expect(items.map(({ version, state, goal }) => [version, state, goal])).toEqual([
    [2, "completed", "Close the books of May"],
    [1, "superseded", "Close the books"],
  ]);
  expect(await operator.getPlanBoard({ params })).toMatchObject({
    plan: { id },
    work: { state: "idle" },
    generation: null,
    autonomous: { on: false, available: true },
    parallel: 3,
  });
});

test("W2 everything that is wrong with a plan comes back with its place", async () => {
  const wrong = [
    { id: "a", title: "A", depends_on: ["b"] },
    { id: "b", title: "B", depends_on: ["a"] },
  ];
  const cycle = await problemOf(
    operator.createPlan({ params: { name: "alone" }, body: { goal: "g", steps: wrong } }),
  );
  expect(cycle).toMatchObject({
    status: 422,
    issues: [{ path: "steps[0].depends_on", given: expect.stringContaining("a → b → a") }],
  });
  const many = await problemOf(
    operator.createPlan({
      params: { name: "alone" },
      body: {
        goal: "g",
        steps: [
          { id: "", title: "" },
          { id: "b", title: "B", depends_on: ["z"] },
        ],
      },
    }),
  );
  expect(many.issues?.map(({ path }) => path)).toEqual(["steps[0].id", "steps[0].title"]);
});

test("W2 the planner is asked for a plan, and it is there when its run is over", async () => {
  const params = { name: "planner" };
  const asked = await operator.generatePlan({ params, body: { goal: "Do it", guidance: "In one step." } });
  expect(asked.generation).toMatchObject({ goal: "Do it", by: "operator" });
  const board = await until(async () => {
    const now = await operator.getPlanBoard({ params });
    return now.plan === null ? undefined : now;
  });
  expect(board).toMatchObject({
    plan: { origin: "generated", steps: [{ id: "only" }] },
    generation: { state: "completed", version: 1 },
  });
  const { run_id } = board.generation ?? {};
  expect(await operator.getRun({ params: { id: run_id ?? "" } })).toMatchObject({ agent: "planner" });
  const { id } = board.plan ?? { id: "" };
  const skipped = await operator.skipPlanStep({ params: { id, step: "only" }, body: { reason: "not now" } });
  expect(skipped).toMatchObject({ state: "completed", steps: [{ state: "skipped", reason: "not now" }] });
});

test("W1 a stop over HTTP says who, and sticks until the plan is run again", async () => {
  const params = { name: "alone" };
  const { id } = await operator.createPlan({ params, body: { goal: "g", steps: STEPS } });
  await operator.stopPlan({ params: { id }, body: { reason: "too dear" } });
  const { definition, version } = await operator.getAgent({ params });
  await room.client("admin").saveAgent({ params, body: { definition, version, autonomous_mode: true } });
  const stopped = await operator.getPlanBoard({ params });
  expect(stopped).toMatchObject({
    work: { state: "stopped", by: "operator", reason: "too dear" },
    autonomous: { on: true, by: "admin" },
  });
  await operator.runPlan({ params: { id }, body: {} });
  await becomes(id, "completed");
});
