import { AgentConfigError, defineTool, defineWorkflow } from "trackside";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Trackside } from "../../src/index.ts";
import { agentOf } from "../agents/support/host.ts";
import { type Database, onBothStores, sqliteDatabase } from "../agents/support/stores.ts";
import { ANN, echo, flowOf, roomOn } from "./support/room.ts";

const says = (value: unknown) => ({ kind: "tool", tool: "echo", arguments: { value } });
const waits = { kind: "wait", for: { webhook: {} } };

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function pending({ approvals }: Trackside) {
  return until(async () => (await approvals.list())[0]);
}

await onBothStores("runs of workflows", (database) => {
  test("W4 a stored workflow runs with agents, tools and other workflows of its tenant", async () => {
    const trackside = await roomOn((await database())());
    const { workflows, runs } = trackside;
    await workflows.create({ name: "inner", nodes: { say: says("{{ input.n }}") } }, ANN);
    await workflows.create(
      {
        name: "outer",
        input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        nodes: {
          sub: { kind: "workflow", workflow: "inner", input: { n: "{{ input.n }}" } },
          ask: { kind: "agent", agent: "clerk", prompt: "Who are you?" },
          each: { kind: "map", over: "{{ input.list? }}", do: says("{{ item }}") },
        },
        output: { sub: "{{ nodes.sub }}", who: "{{ nodes.ask }}", each: "{{ nodes.each }}" },
      },
      ANN,
    );
    const { runId, result } = await workflows.start("outer", { n: 3, list: [1, 2] });
    const { output } = await result();
    expect(output).toEqual({ sub: { say: 3 }, who: "I am clerk.", each: [1, 2] });
    const [record] = await runs.list({ kind: "workflow" });
    expect(record).toMatchObject({ id: runId, kind: "workflow", agent: "outer", status: "completed" });
    expect(await runs.list({ kind: "agent" })).toEqual([]);
    const below = await runs.list({ parent: runId });
    expect(below.map(({ kind, agent }) => `${kind} ${agent}`).sort()).toEqual([
      "agent clerk",
      "workflow inner",
    ]);
  });

  test("X10 the same request again is the same run", async () => {
    const { workflows, runs } = await roomOn((await database())());
    await workflows.create(flowOf("flow"), ANN);
    const asked = { requestId: "once" };
    const [first, second] = [
      await workflows.start("flow", {}, asked),
      await workflows.start("flow", {}, asked),
    ];
    expect(second.runId).toBe(first.runId);
    await first.result();
    expect(await runs.list({})).toHaveLength(1);
    await expect(workflows.start("flow", { other: 1 }, asked)).rejects.toThrow(/once/);
  });

  test("W4 a run keeps the version it began with: an edit, and even a deletion, does not reach it", async () => {
    const store = await database();
    const first = await roomOn(store());
    const nodes = { hold: waits, say: says("old") };
    const edges = [{ from: "hold", to: "say" }];
    const made = await first.workflows.create({ name: "flow", nodes, edges }, ANN);
    const { runId } = await first.workflows.start("flow", {});
    const { id } = await pending(first);
    await first.workflows.save(
      "flow",
      { name: "flow", nodes: { ...nodes, say: says("new") }, edges },
      { ...ANN, version: 1 },
    );
    await first.agents.delete("clerk", ANN);
    await first.close();

    // Another process goes on with it, as it was.
    const next = await roomOn(store());
    await next.workflows.delete("flow", ANN);
    await next.approvals.decide(id, { choice: "submit", response: 1, by: "ann" });
    const { output } = await next.runs.result(runId);
    expect(output).toEqual({ say: "old" });
    const { definition } = await next.runs.opening(runId);
    expect(definition).toMatchObject({ workflow: made.definition });
    expect(await next.runs.get(runId)).toMatchObject({ status: "completed", agent: "flow" });
  });

  test("L4 of many who send something at once one wins, and all others are told", async () => {
    const trackside = await roomOn((await database())());
    const { workflows } = trackside;
    await workflows.create({ name: "flow", nodes: { hold: waits } }, ANN);
    const { result } = await workflows.start("flow", {});
    const asked = await pending(trackside);
    const token = workflows.waits.tokenOf(asked) ?? "";
    const sent = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => workflows.waits.submit(asked.id, token, { i })),
    );
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const winner = sent.findIndex(({ status }) => status === "fulfilled");
    expect((await result()).output).toEqual({ hold: { i: winner } });
  });

  test("lists say how runs went: the last one, failures, and what waits below them", async () => {
    const trackside = await roomOn((await database())());
    const { workflows, approvals, agents } = trackside;
    await agents.create({ definition: agentOf("flow") }, ANN); // of the same name
    await workflows.create({ name: "asks", nodes: { ask: { kind: "approval", message: "Well?" } } }, ANN);
    const nodes = {
      pick: { kind: "condition", if: { left: "{{ input.fail? }}", op: "==", right: true } },
      fails: says("{{ input.nothing }}"),
      sub: { kind: "workflow", workflow: "asks" },
    };
    const edges = [
      { from: "pick", to: "fails", when: "true" },
      { from: "pick", to: "sub", when: "false" },
    ];
    await workflows.create({ name: "flow", nodes, edges }, ANN);
    expect(await workflows.get("flow")).toMatchObject({ last_run: null, runs: 0, failures: 0 });
    await expect((await workflows.start("flow", { fail: true })).result()).rejects.toThrow();
    const { runId, result } = await workflows.start("flow", {});
    const { id } = await pending(trackside);
    expect(await workflows.list()).toMatchObject([
      { name: "asks", runs: 0, last_run: null, pending_approvals: 0 },
      { name: "flow", runs: 2, failures: 1, pending_approvals: 1, last_run: { id: runId } },
    ]);
    await approvals.decide(id, { choice: "approve", by: "ann" });
    await result();
    expect(await workflows.get("flow")).toMatchObject({
      pending_approvals: 0,
      last_run: { status: "completed" },
    });
  });
});

describe("runs of workflows", () => {
  const database: Database = async () => sqliteDatabase();

  test("W4 an input that does not fit is told with its path, and nothing is stored", async () => {
    const { workflows, runs } = await roomOn((await database())());
    const properties = { service: { type: "string", enum: ["a", "b"] }, count: { type: "number" } };
    const input = { type: "object", properties, required: ["service"], additionalProperties: false };
    await workflows.create(flowOf("flow", { input }), ANN);
    const wrong = workflows.start("flow", { service: "c", count: "3" });
    await expect(wrong).rejects.toThrow(AgentConfigError);
    await expect(wrong).rejects.toMatchObject({
      issues: expect.arrayContaining([
        expect.objectContaining({ path: "input.service", given: '"c"' }),
        expect.objectContaining({ path: "input.count", given: '"3"' }),
      ]),
    });
    for (const given of [null, [], "text", undefined])
      await expect(workflows.start("flow", given)).rejects.toMatchObject({ code: "config_invalid" });
    await expect(workflows.start("nothing", {})).rejects.toThrow(/There is no workflow "nothing"/);
    expect(await runs.list({})).toEqual([]);
  });

  test("W4 sub-workflows of a run under way stay as they were, too", async () => {
    const trackside = await roomOn((await database())());
    const { workflows } = trackside;
    await workflows.create({ name: "inner", nodes: { say: says("old") } }, ANN);
    await workflows.create(
      {
        name: "outer",
        nodes: { hold: waits, sub: { kind: "workflow", workflow: "inner" } },
        edges: [{ from: "hold", to: "sub" }],
      },
      ANN,
    );
    const { result } = await workflows.start("outer", {});
    const { id } = await pending(trackside);
    await workflows.save("inner", { name: "inner", nodes: { say: says("new") } }, { ...ANN, version: 1 });
    await trackside.approvals.decide(id, { choice: "submit", response: {}, by: "ann" });
    expect((await result()).output).toEqual({ sub: { say: "old" } });
    const again = await workflows.start("outer", {});
    await trackside.approvals.decide((await pending(trackside)).id, { choice: "submit", by: "ann" });
    expect((await again.result()).output).toEqual({ sub: { say: "new" } });
  });

  test("W5 L8 whoever has the address goes on with a wait: once, and the same again is answered the same", async () => {
    const trackside = await roomOn((await database())());
    const { workflows, approvals } = trackside;
    const response = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    await workflows.create(
      { name: "flow", nodes: { hold: { kind: "wait", for: { webhook: { response } } } } },
      ANN,
    );
    const { result } = await workflows.start("flow", {}, { scope: { tenant: "default", user: "ann" } });
    const asked = await pending(trackside);
    const token = workflows.waits.tokenOf(asked) ?? "";
    expect(token).not.toBe("");
    for (const wrong of ["", ".", "k1.", `${token}x`, token.slice(0, -1), `x${token}`, "k2.abc"])
      await expect(workflows.waits.submit(asked.id, wrong, { ok: true })).rejects.toMatchObject({
        code: "not_found",
      });
    await expect(workflows.waits.submit(`${asked.id}x`, token, { ok: true })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(workflows.waits.submit(asked.id, token, { ok: "yes" })).rejects.toMatchObject({
      code: "decision_invalid",
    });
    const decided = await workflows.waits.submit(asked.id, token, { ok: true });
    expect(decided).toMatchObject({ state: "approved", decision: { by: "webhook", choice: "submit" } });
    expect((await result()).output).toEqual({ hold: { ok: true } });
    expect(await workflows.waits.submit(asked.id, token, { ok: true })).toEqual(decided);
    await expect(workflows.waits.submit(asked.id, token, { ok: false })).rejects.toMatchObject({
      code: "approval_conflict",
    });
    expect((await approvals.list({ state: "all" })).map(({ kind }) => kind)).toEqual(["workflow_node"]);
  });

  test("an approval node has no address: only people decide it", async () => {
    const trackside = await roomOn((await database())());
    const { workflows, approvals } = trackside;
    await workflows.create({ name: "flow", nodes: { ask: { kind: "approval", message: "Well?" } } }, ANN);
    const { result } = await workflows.start("flow", {});
    const asked = await pending(trackside);
    expect(asked).toMatchObject({ kind: "workflow_node", tool: "ask", requester: "flow" });
    expect(workflows.waits.tokenOf(asked)).toBeUndefined();
    const wait = { ...asked, choices: ["submit"] };
    const token = workflows.waits.tokenOf(wait) ?? "";
    await expect(workflows.waits.submit(asked.id, token, {})).rejects.toMatchObject({ code: "not_found" });
    await approvals.decide(asked.id, { choice: "reject", reason: "no", by: "ann" });
    await expect(result()).rejects.toMatchObject({ code: "node_failed" });
  });

  test("W4 what is not here any more is told when a run is started, not in the middle of it", async () => {
    const { workflows, agents, runs } = await roomOn((await database())());
    const node = { kind: "agent", agent: "clerk", prompt: "hi" };
    await workflows.create({ name: "flow", nodes: { a: node } }, ANN);
    await agents.delete("clerk", ANN);
    await expect(workflows.start("flow", {})).rejects.toThrow(/clerk/);
    expect(await runs.list({})).toEqual([]);
  });

  test("X13 a failed run goes on from its node; what completed before is not run again", async () => {
    const calls: string[] = [];
    let fails = true;
    const touchy = defineTool({
      name: "touchy",
      effect: "none",
      input: z.object({ at: z.string() }),
      execute: ({ at }) => {
        calls.push(at);
        if (at === "b" && fails) throw new Error("not now");
        return at;
      },
    });
    const { workflows, runs } = await roomOn((await database())(), { tools: [touchy] });
    const call = (at: string) => ({ kind: "tool", tool: "touchy", arguments: { at } });
    const nodes = { a: call("a"), b: call("b"), c: call("c") };
    const edges = [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
    ];
    await workflows.create({ name: "flow", nodes, edges }, ANN);
    const { runId, result } = await workflows.start("flow", {});
    await expect(result()).rejects.toMatchObject({ code: "node_failed" });
    fails = false;
    const again = await runs.retry(runId, { node: "b" });
    expect(again).toMatchObject({ kind: "workflow", retried_from: runId });
    expect((await runs.result(again.id)).output).toEqual({ c: "c" });
    expect(calls).toEqual(["a", "b", "b", "c"]);
  });

  test("one in code runs under its name, with its own schema", async () => {
    const given = defineWorkflow({
      name: "in-code",
      input: z.object({ n: z.number(), by: z.string().default("nobody") }),
      nodes: { say: { kind: "tool", tool: echo, arguments: { value: ["{{ input.n }}", "{{ input.by }}"] } } },
    });
    const { workflows, runs } = await roomOn((await database())(), { workflows: [given] });
    const { runId, result } = await workflows.start("in-code", { n: 4 });
    expect((await result()).output).toEqual({ say: [4, "nobody"] });
    expect(await runs.get(runId)).toMatchObject({ kind: "workflow", agent: "in-code" });
    const seen: string[] = [];
    const ready = await workflows.ready("in-code", { n: 5 });
    for await (const event of ready.stream()) if (event.type === "node") seen.push(event.state);
    expect(seen).toEqual(["started", "completed"]);
    await expect(workflows.start("in-code", { n: "4" })).rejects.toMatchObject({ code: "config_invalid" });
    expect(await workflows.get("in-code")).toMatchObject({ runs: 2, failures: 0 });
  });

  test("W4 two saves at the same moment may make a circle: its runs are refused, and say why", async () => {
    const { workflows, runs } = await roomOn((await database())());
    const runsOf = (name: string, workflow: string) => ({
      name,
      nodes: { sub: { kind: "workflow", workflow } },
    });
    for (const name of ["a", "b"]) await workflows.create(flowOf(name), ANN);
    const saved = await Promise.allSettled([
      workflows.save("a", runsOf("a", "b"), { ...ANN, version: 1 }),
      workflows.save("b", runsOf("b", "a"), { ...ANN, version: 1 }),
    ]);
    expect(saved.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]); // neither saw the other
    await expect(workflows.start("a", {})).rejects.toThrow(/"a", which runs "b", which runs "a"/);
    expect(await runs.list({})).toEqual([]);
  });

  test("a run that is queued waits for a worker", async () => {
    const store = await database();
    const asking = await roomOn(store(), { claims: false });
    await asking.workflows.create(flowOf("flow"), ANN);
    const { runId } = await asking.workflows.start("flow", {}, { queue: true });
    expect(await asking.runs.get(runId)).toMatchObject({ status: "queued" });
    const worker = await roomOn(store());
    expect((await worker.runs.result(runId)).output).toEqual({ say: "flow" });
  });
});
