import { expect, test, vi } from "vitest";
import { signWebhook } from "../../src/webhooks/signature.ts";
import { agentOf } from "../agents/support/host.ts";
import { onBothStores } from "../agents/support/stores.ts";
import { roomOn } from "../workflows/support/room.ts";
import { ANN, hourly, webhook } from "./support.ts";

const workflow = (name: string) => ({ kind: "workflow", name }) as const;
const says = (value: string) => ({ kind: "tool", tool: "echo", arguments: { value } });

await onBothStores("what schedules start", (database) => {
  test("W4 a workflow is started with the schedule's input, and by a webhook with its body", async () => {
    const trackside = await roomOn((await database())());
    const { schedules, workflows, runs } = trackside;
    const nodes = { say: says("{{ input.queue }}"), of: says("{{ input.body? }}") };
    await workflows.create({ name: "triage", nodes }, ANN);
    await schedules.create(hourly("clock", { target: workflow("triage"), input: { queue: "mail" } }), ANN);
    const fired = await schedules.fire("clock", ANN);
    expect(fired).toMatchObject({ state: "started" });
    const { output } = await runs.result(fired.run_id ?? "");
    expect(output).toMatchObject({ say: "mail" });
    expect(await runs.get(fired.run_id ?? "")).toMatchObject({ kind: "workflow", agent: "triage" });

    const made = await schedules.create(
      webhook("hook", { target: workflow("triage"), input: { queue: "mail" } }),
      ANN,
    );
    const bytes = Buffer.from('{"ticket":17}');
    const signature = signWebhook('{"ticket":17}', [made.secret ?? ""], Math.floor(Date.now() / 1000));
    const body = { ticket: 17 };
    const sent = await schedules.deliver(made.id, { bytes, body, signature, id: "e1" });
    expect((await runs.result(sent.run_id ?? "")).output).toMatchObject({ say: "mail", of: body });
  });

  test("W4 a workflow that is unknown, or wants another input, is told: when it is saved, and when it is due", async () => {
    const { schedules, workflows } = await roomOn((await database())());
    const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    await workflows.create({ name: "strict", input, nodes: { say: says("{{ input.n }}") } }, ANN);
    const unknown = schedules.create(hourly("x", { target: workflow("nothing"), input: {} }), ANN);
    await expect(unknown).rejects.toMatchObject({
      issues: [{ path: "target.name", allowed: 'a workflow ("strict")' }],
    });
    await schedules.create(hourly("wrong", { target: workflow("strict"), input: { n: "three" } }), ANN);
    const fired = await schedules.fire("wrong", ANN);
    expect(fired).toMatchObject({ state: "failed", run_id: null });
    expect(fired.reason).toMatch(/strict.*n: /s);
  });

  test("W2 the active plan of an agent is worked; without one the history says so", async () => {
    const trackside = await roomOn((await database())());
    const { schedules, plans, agents } = trackside;
    await agents.create({ definition: agentOf("planner") }, ANN);
    const target = { kind: "plan", name: "planner" } as const;
    await schedules.create(hourly("plan", { target, input: null }), ANN);
    expect(await schedules.fire("plan", ANN)).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("has no active plan"),
    });
    await plans.create("planner", { goal: "Close the books", steps: [{ id: "a", title: "Look" }] }, ANN);
    expect(await schedules.fire("plan", ANN)).toMatchObject({ state: "started", run_id: null, reason: null });
    await vi.waitFor(
      async () => expect((await plans.board("planner")).plan?.steps[0]?.state).toBe("completed"),
      { timeout: 50_000 },
    );
  });
});
