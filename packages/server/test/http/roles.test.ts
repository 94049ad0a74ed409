import { allows } from "@trackside/host";
import { beforeAll, describe, expect, test } from "vitest";
import { type EndpointName, endpoints, type Needs, problem } from "../../src/contract/index.ts";
import { CALLERS, type Caller, openRoom, type Room, until } from "./support/room.ts";

/** What each endpoint is asked with. Ids that are not named here are of nothing. */
interface Sample {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: string;
  readonly body?: unknown;
}

const definition = { name: "made", model: "openai:gpt-4o", tools: ["refund"] };
const workflow = {
  name: "drawn",
  nodes: { pay: { kind: "tool", tool: "refund", arguments: { order: 17 } } },
};
const schedule = {
  name: "nightly",
  target: { kind: "agent", name: "clerk" },
  input: "Hello",
  trigger: { kind: "cron", pattern: "0 3 * * *", time_zone: "Europe/Berlin" },
} as const;
const plan = { goal: "Be kind", steps: [{ id: "greet", title: "Greet", criteria: "It is kind." }] };
let room: Room;
/** Things of the tenant, which nobody else may see. */
const ids: Record<string, string> = {};

const samples = (): Partial<Record<EndpointName, Sample>> => ({
  finishSetup: { body: { link: "x".repeat(43), name: "eve", password: "correct horse battery" } },
  signIn: { body: { link: "x".repeat(43) } },
  createAgent: { body: { definition } },
  validateAgent: { body: { definition } },
  previewAgent: { body: { definition } },
  importAgent: { body: { ...definition, name: "imported" } },
  getAgent: { params: { name: "helper" } },
  saveAgent: {
    params: { name: "helper" },
    body: { definition: { ...definition, name: "helper" }, version: 1 },
  },
  deleteAgent: { params: { name: "gone" } },
  cloneAgent: { params: { name: "helper" }, body: { name: "copy" } },
  exportAgent: { params: { name: "helper" } },
  listVersions: { params: { name: "helper" } },
  getVersion: { params: { name: "helper", version: 1 } },
  diffVersions: { params: { name: "helper" }, query: "?from=1&to=1" },
  restoreVersion: { params: { name: "helper" }, body: { restore: 1, version: 1 } },
  createWorkflow: { body: { definition: workflow } },
  validateWorkflow: { body: { definition: workflow } },
  importWorkflow: { body: { ...workflow, name: "imported" } },
  getWorkflow: { params: { name: "flow" } },
  saveWorkflow: { params: { name: "flow" }, body: { definition: { ...workflow, name: "flow" }, version: 1 } },
  deleteWorkflow: { params: { name: "gone" } },
  cloneWorkflow: { params: { name: "flow" }, body: { name: "copy" } },
  exportWorkflow: { params: { name: "flow" } },
  listWorkflowVersions: { params: { name: "flow" } },
  getWorkflowVersion: { params: { name: "flow", version: 1 } },
  diffWorkflowVersions: { params: { name: "flow" }, query: "?from=1&to=1" },
  restoreWorkflowVersion: { params: { name: "flow", version: 1 }, body: { version: 1 } },
  startWorkflow: { params: { name: "flow" }, body: {} },
  submitWait: { params: { id: "approval_of_nothing" }, query: "?token=k.of-nothing" },
  createSchedule: { body: { ...schedule, name: "made" } },
  previewSchedule: { body: { trigger: schedule.trigger } },
  getSchedule: { params: { id: ids["schedule"] ?? "" } },
  saveSchedule: { params: { id: ids["schedule"] ?? "" }, body: { ...schedule, version: 1 } },
  deleteSchedule: { params: { id: ids["spareSchedule"] ?? "" } },
  enableSchedule: { params: { id: ids["schedule"] ?? "" }, body: {} },
  disableSchedule: { params: { id: ids["schedule"] ?? "" }, body: {} },
  fireSchedule: { params: { id: ids["schedule"] ?? "" }, body: {} },
  rotateScheduleSecret: { params: { id: ids["schedule"] ?? "" }, body: {} },
  listFirings: { params: { id: ids["schedule"] ?? "" } },
  triggerSchedule: { params: { id: ids["schedule"] ?? "" }, body: {} },
  getPlanBoard: { params: { name: "helper" } },
  listPlanVersions: { params: { name: "helper" } },
  createPlan: { params: { name: "helper" }, body: plan },
  generatePlan: { params: { name: "helper" }, body: { goal: "Be kind" } },
  getPlan: { params: { id: ids["plan"] ?? "" } },
  savePlan: { params: { id: ids["plan"] ?? "" }, body: { ...plan, version: 1 } },
  runPlan: { params: { id: ids["plan"] ?? "" }, body: {} },
  stopPlan: { params: { id: ids["plan"] ?? "" }, body: {} },
  runPlanStep: { params: { id: ids["plan"] ?? "", step: "greet" }, body: {} },
  verifyPlanStep: { params: { id: ids["plan"] ?? "", step: "greet" }, body: {} },
  skipPlanStep: { params: { id: ids["plan"] ?? "", step: "greet" }, body: {} },
  setProvider: { params: { provider: "ollama" }, body: { base_url: "http://127.0.0.1:11434/v1" } },
  deleteProviderKey: { params: { provider: "openai" } },
  testProvider: { params: { provider: "openai" }, body: { model: "openai:gpt-4o" } },
  createConversation: { body: {} },
  importConversation: { body: { lines: "" } },
  getConversation: { params: { id: ids["conversation"] ?? "" } },
  deleteConversation: { params: { id: ids["spare"] ?? "" } },
  listMessages: { params: { id: ids["conversation"] ?? "" } },
  sendMessage: { params: { id: ids["conversation"] ?? "" }, body: { input: "Hello", agent: "clerk" } },
  createBranch: { params: { id: ids["conversation"] ?? "" }, body: { at: ids["message"] ?? "" } },
  exportBranch: { params: { id: ids["conversation"] ?? "" } },
  startRun: { body: { agent: "clerk", input: "Hello" } },
  getRun: { params: { id: ids["run"] ?? "" } },
  listEvents: { params: { id: ids["run"] ?? "" } },
  streamRun: { params: { id: ids["run"] ?? "" } },
  listRequests: { params: { id: ids["run"] ?? "" } },
  cancelRun: { params: { id: ids["run"] ?? "" }, body: {} },
  steerRun: { params: { id: ids["waiting"] ?? "" }, body: { input: "Hurry" } },
  injectNote: { params: { id: ids["waiting"] ?? "" }, body: { input: "Hurry" } },
  resumeRun: { params: { id: ids["run"] ?? "" } },
  retryRun: { params: { id: ids["run"] ?? "" }, body: {} },
  exportRun: { params: { id: ids["run"] ?? "" } },
  getApproval: { params: { id: ids["approval"] ?? "" } },
  decideApproval: { params: { id: ids["approval"] ?? "" }, body: { choice: "nothing of the kind" } },
  revokeRule: { params: { id: "rule_of_nothing" }, body: {} },
  getArtifact: { params: { id: "artifact_of_nothing" } },
  readArtifact: { params: { id: "artifact_of_nothing" } },
  createUser: { body: { name: "fresh", role: "viewer" } },
  updateUser: { params: { id: ids["viewer"] ?? "" }, body: {} },
  deleteUser: { params: { id: ids["removable"] ?? "" } },
  createToken: { body: { name: "fresh", role: "viewer" } },
  revokeToken: { params: { id: ids["token"] ?? "" } },
});

beforeAll(async () => {
  room = await openRoom();
  const admin = room.client("admin");
  for (const name of ["helper", "gone"])
    await admin.createAgent({ body: { definition: { ...definition, name } } });
  for (const name of ["flow", "gone"])
    await admin.createWorkflow({ body: { definition: { ...workflow, name } } });
  const { run_id, conversation_id } = await admin.startRun({ body: { agent: "clerk", input: "Hello" } });
  await room.trackside.runs.result(run_id);
  const asking = await admin.startRun({ body: { agent: "cashier", input: "Refund 17" } });
  const approval = await until(async () => (await admin.listApprovals({})).items[0]);
  const messages = await admin.listMessages({ params: { id: conversation_id } });
  const spare = await admin.createConversation({ body: {} });
  const nightly = await admin.createSchedule({ body: schedule });
  const spareSchedule = await admin.createSchedule({ body: { ...schedule, name: "spare" } });
  const planned = await admin.createPlan({ params: { name: "clerk" }, body: plan });
  const users = await admin.listUsers();
  const removable = await admin.createUser({ body: { name: "removable", role: "viewer" } });
  const token = await room.client("viewer").createToken({ body: { name: "spare", role: "viewer" } });
  Object.assign(ids, {
    run: run_id,
    conversation: conversation_id,
    waiting: asking.run_id,
    approval: approval.id,
    message: messages.items[0]?.id,
    spare: spare.id,
    schedule: nightly.id,
    spareSchedule: spareSchedule.id,
    plan: planned.id,
    viewer: users.items.find(({ name }) => name === "viewer")?.id,
    removable: removable.id,
    token: token.id,
  });
});

async function ask(name: EndpointName, as: Caller): Promise<Response> {
  const { method, path } = endpoints[name];
  const { params = {}, query = "", body } = samples()[name] ?? {};
  const address = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])));
  const init = method === "GET" || method === "DELETE" ? {} : { body: JSON.stringify(body ?? {}) };
  return room.send(`${address}${query}`, { method, as, ...init });
}

function may(caller: Caller, needs: Needs): boolean {
  if (needs === "nobody") return true;
  if (caller === "nobody") return false;
  return allows(caller === "stranger" ? "admin" : caller, needs);
}

/** Endpoints that are about one thing of a tenant. */
function isAboutOne(name: EndpointName): boolean {
  const { path, tag, needs } = endpoints[name];
  return path.includes("{") && tag !== "Providers" && needs !== "nobody";
}

describe.each(Object.keys(endpoints) as EndpointName[])("%s", (name) => {
  const { needs } = endpoints[name];

  // Those who may not come first, so that nothing is gone when they ask.
  test.each(CALLERS.filter((caller) => !may(caller, needs)))("is refused to %s", async (caller) => {
    const answer = await ask(name, caller);
    const said = problem.parse(await answer.json());
    expect([said.status, said.code]).toEqual(
      caller === "nobody" ? [401, "not_signed_in"] : [403, "role_not_enough"],
    );
    expect(answer.status).toBe(said.status);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
  });

  if (isAboutOne(name))
    test("H1 does not exist for another tenant", async () => {
      const answer = await ask(name, "stranger");
      expect([answer.status, problem.parse(await answer.json()).status]).toEqual([404, 404]);
    });

  test.each(CALLERS.filter((caller) => caller !== "stranger" && may(caller, needs)))(
    "is for %s",
    async (caller) => {
      const answer = await ask(name, caller);
      await answer.body?.cancel();
      expect(answer.status, `${name} as ${caller}`).not.toBe(403);
      if (needs !== "nobody") expect(answer.status).not.toBe(401);
      expect(answer.status).toBeLessThan(500);
    },
  );
});

test("H1 lists of another tenant have nothing of ours", async () => {
  const stranger = room.client("stranger");
  const lists = await Promise.all([
    stranger.listRuns({}),
    stranger.listConversations({}),
    stranger.listApprovals({ query: { state: "all" } }),
    stranger.listArtifacts({}),
    stranger.listRules({}),
  ]);
  expect(lists.map(({ items }) => items)).toEqual([[], [], [], [], []]);
  expect((await stranger.listAgents({})).items.map(({ source }) => source)).not.toContain("stored");
  expect((await stranger.listUsers()).items.map(({ name }) => name)).toEqual(["stranger"]);
  expect((await stranger.listTokens()).items.every(({ user }) => user.name === "stranger")).toBe(true);
});

test("H1 a body cannot say whose run it is", async () => {
  const operator = room.client("operator");
  const { run_id } = await operator.startRun({
    body: { agent: "clerk", input: "Hello", scope: { tenant: "elsewhere", user: "eve", region: "eu" } },
  });
  const { scope } = await operator.getRun({ params: { id: run_id } });
  expect(scope).toMatchObject({ tenant: "default", region: "eu" });
  expect(scope["user"]).not.toBe("eve");
  expect((await room.client("stranger").listRuns({})).items).toEqual([]);
});

test("a token cannot be given more than its owner has, nor taken from others", async () => {
  const viewer = room.client("viewer");
  await expect(viewer.createToken({ body: { name: "more", role: "admin" } })).rejects.toMatchObject({
    status: 403,
  });
  const { items } = await room.client("admin").listTokens();
  const others = items.find(({ user }) => user.name === "operator");
  await expect(viewer.revokeToken({ params: { id: others?.id ?? "" } })).rejects.toMatchObject({
    status: 404,
  });
  expect((await viewer.listTokens()).items.every(({ user }) => user.name === "viewer")).toBe(true);
});

test("X6 a message to a run that waits for a human is taken at once, and joins when it goes on", async () => {
  const operator = room.client("operator");
  const { run_id, conversation_id } = await operator.startRun({
    body: { agent: "cashier", input: "Refund 17" },
  });
  const approval = await until(
    async () => (await operator.listApprovals({ query: { run: run_id } })).items[0],
  );
  const sent = await operator.steerRun(
    { params: { id: run_id }, body: { input: "Hurry" } },
    { idempotencyKey: "hurry" },
  );
  expect(sent).toMatchObject({ state: "queued", run_id });
  const other = await operator.startRun({
    body: { agent: "cashier", input: "Please", conversation: conversation_id, when_busy: "steer" },
  });
  expect(other).toMatchObject({ run_id, receipt: { state: "queued" } });
  await room.client("approver").decideApproval({ params: { id: approval.id }, body: { choice: "approve" } });
  await room.trackside.runs.result(run_id);
  const { items } = await operator.listMessages({ params: { id: conversation_id } });
  const said = JSON.stringify(items);
  expect(said).toContain("Hurry");
  expect(said).toContain("Please");
});
