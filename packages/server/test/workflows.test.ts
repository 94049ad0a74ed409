import { checkWorkflow } from "trackside/schema";
import { beforeAll, describe, expect, test } from "vitest";
import { problem } from "../src/contract/index.ts";
import { workflowTemplates } from "../src/workflow-templates/index.ts";
import { openRoom, type Room, until } from "./http/support/room.ts";

const pay = { kind: "tool", tool: "refund", arguments: { order: 17 } };
const flow = (name: string, more: object = {}) => ({ name, nodes: { pay }, ...more });
const hold = { kind: "wait", for: { webhook: { response: { type: "object", required: ["ok"] } } } };

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});

const said = async (answer: Response) => problem.parse(await answer.json());
const asAdmin = () => room.client("admin");
const post = (path: string, body: unknown, as: "admin" | "nobody" = "admin") =>
  room.send(path, { method: "POST", as, body: typeof body === "string" ? body : JSON.stringify(body) });

async function waitOf(name: string) {
  await asAdmin().createWorkflow({ body: { definition: { name, nodes: { hold } } } });
  const { run_id } = await asAdmin().startWorkflow({ params: { name }, body: {} });
  const approval = await until(
    async () => (await asAdmin().listApprovals({ query: { run: run_id } })).items[0],
  );
  return { run_id, approval, address: new URL(approval.webhook_url ?? "") };
}

describe("workflows over HTTP", () => {
  test("W4 made, listed, saved, copied, brought back, taken out and in, deleted", async () => {
    const admin = asAdmin();
    const params = { name: "deploy" };
    const made = await admin.createWorkflow({ body: { definition: flow("deploy"), note: "begun" } });
    expect(made).toMatchObject({ name: "deploy", version: 1, source: "stored", updated_by: "admin" });
    const { items } = await admin.listWorkflows({ query: { search: "depl" } });
    expect(items).toMatchObject([{ name: "deploy", nodes: 1, description: "", runs: 0, last_run: null }]);
    expect(items[0]).not.toHaveProperty("definition");

    const definition = flow("deploy", { description: "Pays." });
    const saved = await admin.saveWorkflow({ params, body: { definition, version: 1 } });
    expect(saved.version).toBe(2);
    await expect(admin.saveWorkflow({ params, body: { definition, version: 1 } })).rejects.toMatchObject({
      status: 409,
      code: "version_conflict",
      current: { version: 2, by: "admin" },
    });
    expect((await admin.listWorkflowVersions({ params })).items).toMatchObject([
      { version: 2, by: "admin" },
      { version: 1, note: "begun" },
    ]);
    const { differences } = await admin.diffWorkflowVersions({ params, query: { from: 1, to: 2 } });
    expect(differences).toMatchObject([{ path: "description", kind: "changed" }]);
    const back = await admin.restoreWorkflowVersion({
      params: { name: "deploy", version: 1 },
      body: { version: 2 },
    });
    expect(back).toMatchObject({ version: 3, digest: made.digest });
    expect(await admin.getWorkflowVersion({ params: { name: "deploy", version: 2 } })).toMatchObject({
      definition: { description: "Pays." },
    });

    const text = await (await room.send("/workflows/deploy/export", { as: "viewer" })).text();
    await admin.cloneWorkflow({ params, body: { name: "deploy two" } });
    await admin.deleteWorkflow({ params });
    await expect(admin.getWorkflow({ params })).rejects.toMatchObject({ status: 404 });
    await admin.importWorkflow({ query: {}, body: JSON.parse(text) });
    expect(await (await room.send("/workflows/deploy/export", { as: "viewer" })).text()).toBe(text);
    const other = await admin.importWorkflow({ query: { as: "third" }, body: JSON.parse(text) });
    expect(other.name).toBe("third");
    await expect(admin.importWorkflow({ query: {}, body: JSON.parse(text) })).rejects.toMatchObject({
      status: 409,
      code: "name_taken",
    });
  });

  test("W4 every problem of a definition comes back with its path", async () => {
    const wrong = flow("wrong", {
      nodes: {
        pay: { kind: "tool", tool: "refnd" },
        ask: { kind: "agent", agent: "nobody", prompt: "Hello" },
        say: { kind: "agent", agent: "clerk", prompt: "" },
      },
      edges: [{ from: "pay", to: "gone" }],
    });
    const { ok, issues } = await room.client("viewer").validateWorkflow({ body: { definition: wrong } });
    expect(ok).toBe(false);
    expect(issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["nodes.pay.tool", "nodes.ask.agent", "nodes.say.prompt", "edges[0].to"]),
    );
    const answer = await post("/workflows", { definition: wrong });
    expect(answer.status).toBe(422);
    expect((await said(answer)).issues).toEqual(issues);
  });

  test("the catalog has what nodes may name, with schemas", async () => {
    const catalog = await room.client("viewer").workflowCatalog();
    expect(catalog.agents).toEqual(
      expect.arrayContaining([
        { name: "clerk", source: "code", output_schema: null },
        { name: "cashier", source: "code", output_schema: null },
      ]),
    );
    expect(catalog.tools).toMatchObject([
      { name: "refund", irreversible: true, input_schema: { required: ["order"] }, output_schema: null },
    ]);
    // A workflow may have any name, whatever else is found beside it.
    await asAdmin().createWorkflow({ body: { definition: flow("catalog") } });
    expect(await asAdmin().getWorkflow({ params: { name: "catalog" } })).toMatchObject({ name: "catalog" });
  });

  test("W4 X10 a run is started once for a key, with an input that fits, and listed as what it is", async () => {
    const operator = room.client("operator");
    const input = {
      type: "object",
      properties: { who: { type: "string" } },
      required: ["who"],
      additionalProperties: false,
    };
    const nodes = { ask: { kind: "agent", agent: "clerk", prompt: "Greet {{ input.who }}" } };
    await asAdmin().createWorkflow({ body: { definition: { name: "greet", input, nodes } } });
    const params = { name: "greet" };
    await expect(operator.startWorkflow({ params, body: { input: { who: 7 } } })).rejects.toMatchObject({
      status: 422,
      issues: [{ path: "input.who", given: "7" }],
    });
    const body = { input: { who: "Ann" }, scope: { tenant: "elsewhere", region: "eu" } };
    const [first, second] = [
      await operator.startWorkflow({ params, body }, { idempotencyKey: "one" }),
      await operator.startWorkflow({ params, body }, { idempotencyKey: "one" }),
    ];
    expect(second).toEqual(first);
    await room.trackside.runs.result(first.run_id);
    const { items } = await operator.listRuns({ query: { kind: "workflow", agent: "greet" } });
    expect(items).toMatchObject([
      { id: first.run_id, kind: "workflow", agent: "greet", scope: { tenant: "default", region: "eu" } },
    ]);
    const detail = await operator.getRun({ params: { id: first.run_id } });
    expect(detail).toMatchObject({ kind: "workflow", sub_agents: [{ kind: "agent", agent: "clerk" }] });
    const { items: agents } = await operator.listRuns({ query: { kind: "agent" } });
    expect(agents.map(({ kind }) => kind)).not.toContain("workflow");
    expect(await operator.getWorkflow({ params })).toMatchObject({
      runs: 1,
      failures: 0,
      last_run: { id: first.run_id, status: "completed" },
    });
  });

  test("X13 a run is begun again from a node; nodes are for workflows only", async () => {
    const operator = room.client("operator");
    const nodes = {
      greet: { kind: "agent", agent: "clerk", prompt: "Hello" },
      fails: { kind: "tool", tool: "refund", arguments: { order: "{{ input.order? }}" } },
    };
    const edges = [{ from: "greet", to: "fails" }];
    await asAdmin().createWorkflow({ body: { definition: { name: "again", nodes, edges } } });
    const { run_id } = await operator.startWorkflow({ params: { name: "again" }, body: {} });
    await room.trackside.runs.result(run_id).catch(() => {});
    const again = await operator.retryRun({ params: { id: run_id }, body: { node: "fails" } });
    expect(again).toMatchObject({ kind: "workflow", retried_from: run_id });
    await room.trackside.runs.result(again.id).catch(() => {});
    const { items } = await operator.listEvents({ params: { id: again.id }, query: {} });
    expect(items.filter(({ type }) => type === "node")).toMatchObject([
      { node: "greet", state: "completed", reused: true },
      { node: "fails", state: "started" },
      { node: "fails", state: "failed" },
    ]);
    for (const body of [{ node: "nowhere" }, { from_step: 1 }])
      await expect(operator.retryRun({ params: { id: run_id }, body })).rejects.toMatchObject({
        status: 422,
      });
    const turn = await operator.startRun({ body: { agent: "clerk", input: "Hello" } });
    await room.trackside.runs.result(turn.run_id);
    await expect(
      operator.retryRun({ params: { id: turn.run_id }, body: { node: "greet" } }),
    ).rejects.toMatchObject({ status: 422 });
  });
});

describe("W5 L8 nodes that wait for a call", () => {
  test("the address is shown to those who may decide, and to nobody else", async () => {
    const { approval, run_id } = await waitOf("shown");
    expect(approval.webhook_url).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/waits\/[^/?]+\?token=[\w.%-]+$/,
    );
    const params = { id: approval.id };
    for (const role of ["approver", "admin"] as const)
      expect(await room.client(role).getApproval({ params })).toHaveProperty("webhook_url");
    for (const role of ["viewer", "operator"] as const) {
      expect(await room.client(role).getApproval({ params })).not.toHaveProperty("webhook_url");
      const { items } = await room.client(role).listApprovals({ query: { run: run_id } });
      expect(JSON.stringify(items)).not.toContain("/waits/");
    }
    const { consequences } = await room.client("viewer").getApproval({ params });
    expect(Object.keys(consequences)).toEqual(["submit", "reject", "timeout"]);
  });

  test("whoever has it goes on with the run: once; the same again gets the same answer, anything else a conflict", async () => {
    const { address, run_id, approval } = await waitOf("sent");
    const path = `/waits/${approval.id}${address.search}`;
    for (const wrong of [`/waits/${approval.id}?token=k.x`, `/waits/nothing${address.search}`, `${path}x`]) {
      const refused = await post(wrong, { ok: true }, "nobody");
      expect([refused.status, (await said(refused)).code]).toEqual([404, "not_found"]);
    }
    expect((await post(`/waits/${approval.id}`, { ok: true }, "nobody")).status).toBe(400);
    expect((await post(path, { wrong: 1 }, "nobody")).status).toBe(422);
    expect((await post(path, "{not json", "nobody")).status).toBe(400);

    const sent = await post(path, { ok: true }, "nobody");
    expect(sent.status).toBe(200);
    const answer = await sent.json();
    expect(answer).toMatchObject({ id: approval.id, state: "approved" });
    expect((await room.trackside.runs.result(run_id)).output).toEqual({ hold: { ok: true } });
    expect(await (await post(path, { ok: true }, "nobody")).json()).toEqual(answer);
    const late = await post(path, { ok: false }, "nobody");
    expect([late.status, (await said(late)).code]).toEqual([409, "approval_conflict"]);
    expect((await asAdmin().getApproval({ params: { id: approval.id } })).decision).toMatchObject({
      by: "webhook",
    });
  });

  test("a person may decide it instead; then the address is closed", async () => {
    const { address, approval, run_id } = await waitOf("decided");
    await room.client("approver").decideApproval({
      params: { id: approval.id },
      body: { choice: "submit", response: { ok: 1 } },
    });
    expect((await room.trackside.runs.result(run_id)).output).toEqual({ hold: { ok: 1 } });
    const late = await post(`/waits/${approval.id}${address.search}`, { ok: 2 }, "nobody");
    expect(late.status).toBe(409);
  });
});

describe("hostile JSON", () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

  test.each([
    ["nested deeply", `{"name":"x","nodes":${deep(5_000)}}`, 400, "json_too_deep"],
    ["with __proto__", '{"name":"x","nodes":{"__proto__":{"kind":"tool"}}}', 400, "json_key"],
    ["of 5 MB", JSON.stringify(flow("x", { description: "x".repeat(5_000_000) })), 413, "too_large"],
    ["with 10,000 nodes", JSON.stringify({ name: "x", nodes: manyNodes(10_000) }), 422, "config_invalid"],
    ["that is a list", "[]", 400, "request_invalid"],
    ["that is nothing", "null", 400, "request_invalid"],
  ])("%s is refused on import, and told why", async (_what, text, status, code) => {
    const answer = await post("/workflows/import", text);
    const refused = await said(answer);
    expect([answer.status, refused.code]).toEqual([status, code]);
    expect(refused.detail.length).toBeLessThan(20_000);
  });

  test("names, templates and schemas out of bounds each have their path", async () => {
    const definition = {
      name: "x".repeat(500),
      input: { $ref: "http://elsewhere.example/schema.json" },
      nodes: {
        "1 bad id": pay,
        constructor: { kind: "tool", tool: "refund", arguments: { order: "{{ input.__proto__ }}" } },
        loop: { kind: "map", over: "{{ nodes.loop }}", do: pay, concurrency: 10_000 },
      },
      more: true,
    };
    const { issues } = await asAdmin().validateWorkflow({ body: { definition } });
    const paths = issues.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(["name", "nodes.loop.concurrency", "more"]));
    for (const { message } of issues) expect(message.length).toBeLessThan(1_000);
  });
});

function manyNodes(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, { kind: "tool", tool: "t" }]));
}

describe("templates", () => {
  test.each(workflowTemplates.map((one) => [one.title, one] as const))("%s is sound", (_title, template) => {
    const nothingKnown = { agents: null, tools: null, workflows: null, rails: null };
    expect(checkWorkflow(template.definition, nothingKnown)).toMatchObject({ ok: true });
    expect(template.definition["name"]).toBe(template.id);
  });

  test("are served with a title and a sentence each", async () => {
    const { items } = await room.client("viewer").listWorkflowTemplates();
    expect(items.map(({ title }) => title)).toEqual([
      "Triage and reply",
      "Research with parallel agents",
      "Deploy with approval",
    ]);
    for (const { description } of items) expect(description).toMatch(/^[A-Z].*\.$/);
  });
});
