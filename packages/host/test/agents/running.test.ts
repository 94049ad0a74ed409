import { Agent, defineRail, defineTool, type RailFactory, skip } from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import type { RunRecord, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { until } from "../engine/support/until.ts";
import { agentOf, hostOn } from "./support/host.ts";
import { onBothStores } from "./support/stores.ts";

const ANN = { by: "ann" };
const of = (tenant: string) => ({ scope: { tenant } });

const pay = (paid: unknown[] = []) =>
  defineTool({
    name: "pay",
    input: { type: "object", properties: { amount: { type: "number" } } },
    execute: (args: object) => {
      paid.push(args);
      return "paid";
    },
  });

/** Pays, and tells what came of it with its instructions, so that one sees which definition it had. */
const payer = () =>
  scriptedModel(
    [
      ({ prompt }): string | ScriptedReply => {
        const system = prompt.find(({ role }) => role === "system")?.content;
        const isDone = prompt.some(({ role }) => role === "tool");
        return isDone ? `done: ${system}` : { calls: [{ tool: "pay", args: { amount: 3 } }] };
      },
    ],
    { loop: true },
  );

async function becomes(
  { runs }: Trackside,
  id: string,
  status: RunRecord["status"],
  tenant = "default",
): Promise<RunRecord> {
  return until(async () => {
    const run = await runs.get(id, { tenant });
    if (run.ended_at !== null && run.status !== status) throw new Error(`${run.status}, not ${status}`);
    return run.status === status ? run : undefined;
  });
}

const gatedClerk = (more: object = {}) =>
  agentOf("clerk", { model: "demo:payer", tools: ["pay"], hitl_tools: ["pay"], ...more });

/** A run of a stored agent that waits for an approval, and whose process is gone. */
async function left(trackside: Trackside): Promise<string> {
  await trackside.agents.create({ definition: gatedClerk() }, ANN);
  const { runId } = await trackside.start("clerk", "pay 3");
  await becomes(trackside, runId, "waiting");
  await trackside.close();
  return runId;
}

async function approve({ approvals }: Trackside, tenant = "default"): Promise<void> {
  const waiting = await until(async () => (await approvals.list({ tenant }))[0]);
  await approvals.decide(waiting.id, { choice: "approve", by: "ann" }, { tenant });
}

await onBothStores("runs of stored agents", (database) => {
  const models = () => ({ "demo:payer": payer(), "demo:echo": scriptedModel(["hello"], { loop: true }) });

  test("E3 run, start, stream and send find an agent by its name, and each does the same", async () => {
    const trackside = hostOn((await database())());
    await trackside.agents.create({ definition: agentOf("clerk") }, ANN);

    const result = await trackside.run("clerk", "hi");
    expect(result.output).toBe("I am clerk.");
    const started = await trackside.start("clerk", "hi");
    expect((await started.result()).output).toBe("I am clerk.");
    const stream = trackside.stream("clerk", "hi");
    expect(stream.runId).toMatch(/^run_/);
    const types: string[] = [];
    for await (const event of stream) if ("seq" in event) types.push(event.type);
    expect((await stream.result).output).toBe("I am clerk.");
    const stored = await trackside.runs.events(started.runId);
    expect(types).toEqual(stored.map(({ type }) => type));

    const sent = await trackside.conversations.send(started.conversationId, "again");
    expect((await sent.result()).output).toBe("I am clerk.");
    expect(await trackside.runs.list()).toHaveLength(4);
    const { id } = await trackside.agents.get("clerk");
    const of = await trackside.engine.store.read((db) => rows(db.selectFrom("runs").select("agent_id")));
    expect(of.map(({ agent_id }) => agent_id)).toEqual([id, id, id, id]);
  });

  test("E3 an agent that is nowhere is refused by name; a stream says so and does not throw", async () => {
    const trackside = hostOn((await database())());
    await trackside.agents.create({ definition: agentOf("clerk") }, ANN);
    await expect(trackside.run("clark", "hi")).rejects.toMatchObject({
      code: "not_found",
      message: 'There is no agent "clark". Known: "clerk".',
    });
    const stream = trackside.stream("clark", "hi");
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "status", status: "error" });
    await expect(stream.result).rejects.toMatchObject({ code: "not_found" });
    await expect(stream.steer("more")).rejects.toMatchObject({ code: "not_found" });
    const wrong = trackside.stream("clerk", "");
    await expect(wrong.result).rejects.toMatchObject({ code: "config_invalid" });
  });

  test("X5 a stream of a stored agent can be stopped before it has begun", async () => {
    const trackside = hostOn((await database())());
    await trackside.agents.create({ definition: agentOf("clerk") }, ANN);
    const stream = trackside.stream("clerk", "hi");
    stream.cancel("changed my mind");
    await expect(stream.result).rejects.toMatchObject({ code: "cancelled" });
    const aborted = new AbortController();
    aborted.abort(new Error("never mind"));
    const other = trackside.stream("clerk", "hi", { signal: aborted.signal });
    await expect(other.result).rejects.toMatchObject({ code: "cancelled" });
  });

  test("L4 a stream of a stored agent can be decided on where it is read", async () => {
    const paid: unknown[] = [];
    const trackside = hostOn((await database())(), { tools: [pay(paid)], models: models() });
    await trackside.agents.create({ definition: gatedClerk() }, { ...ANN, tenant: "a" });
    const stream = trackside.stream("clerk", "pay", of("a"));
    for await (const event of stream) {
      if (event.type !== "approval" || event.state !== "pending") continue;
      const [{ id = "" } = {}] = stream.pending;
      await expect(
        stream.decide(id, { choice: "approve", by: "ann", editedArguments: { amount: "much" } }),
      ).rejects.toThrow(/editedArguments/); // by the tool of the toolkit
      await stream.decide(id, { choice: "approve", by: "ann" });
    }
    expect((await stream.result).output).toBe("done: I am clerk.");
    expect(paid).toEqual([{ amount: 3 }]);
  });

  test("H1 two tenants have different agents of one name, and each runs its own", async () => {
    const trackside = hostOn((await database())());
    for (const tenant of ["a", "b"])
      await trackside.agents.create(
        { definition: agentOf("clerk", { instructions: `I am ${tenant}'s.` }) },
        { ...ANN, tenant },
      );
    expect((await trackside.run("clerk", "hi", of("a"))).output).toBe("I am a's.");
    expect((await trackside.run("clerk", "hi", of("b"))).output).toBe("I am b's.");
    await expect(trackside.run("clerk", "hi")).rejects.toMatchObject({ code: "not_found" });
    await expect(trackside.run("clerk", "hi", of("c"))).rejects.toMatchObject({ code: "not_found" });
  });

  test("an agent in code comes before a stored one that has its name", async () => {
    const store = await database();
    const before = hostOn(store());
    await before.agents.create({ definition: agentOf("clerk") }, ANN);
    await before.close();
    const clerk = new Agent({ name: "clerk", model: scriptedModel(["I am code."], { loop: true }) });
    const trackside = hostOn(store(), { agents: [clerk] });
    expect((await trackside.run("clerk", "hi")).output).toBe("I am code.");
  });

  test("X2 an edit, a new name or a deletion reaches later runs only", async () => {
    const paid: unknown[] = [];
    const trackside = hostOn((await database())(), { tools: [pay(paid)], models: models() });
    const { agents } = trackside;
    const runId = async () => {
      const { runId: id } = await trackside.start("clerk", "pay 3");
      await becomes(trackside, id, "waiting");
      return id;
    };
    await agents.create({ definition: gatedClerk() }, ANN);
    const first = await runId();
    await agents.save("clerk", { definition: gatedClerk({ instructions: "New." }) }, { ...ANN, version: 1 });
    const second = await runId();
    await agents.delete("clerk", ANN);
    await approve(trackside);
    await approve(trackside);
    expect((await trackside.runs.result(first)).output).toBe("done: I am clerk.");
    expect((await trackside.runs.result(second)).output).toBe("done: New.");
    expect(paid).toHaveLength(2);
    await expect(trackside.start("clerk", "hi")).rejects.toMatchObject({ code: "not_found" });
  });

  test("X2 another process goes on with a run by what it is pinned to, though the agent was edited and deleted", async () => {
    const store = await database();
    const runId = await left(hostOn(store(), { tools: [pay()], models: models() }));

    const desk = hostOn(store(), { claims: false });
    await desk.agents.delete("clerk", ANN);
    await approve(desk);
    // It did not leave the run in good order.
    await desk.engine.store.write((db) => rows(db.updateTable("runs").set({ owner: "proc_gone" })));
    await desk.close();

    const paid: unknown[] = [];
    const second = hostOn(store(), { tools: [pay(paid)], models: models() });
    const result = await second.runs.result(runId);
    expect(result.output).toBe("done: I am clerk.");
    expect(paid).toEqual([{ amount: 3 }]);
  });

  test("X2 a run whose tool is in no toolkit is parked, names it, and goes on where it is", async () => {
    const store = await database();
    const runId = await left(hostOn(store(), { tools: [pay()], models: models() }));

    const without = hostOn(store(), { models: { "demo:echo": scriptedModel(["hello"], { loop: true }) } });
    await without.open();
    await becomes(without, runId, "parked");
    const events = await without.runs.events(runId);
    expect(events.at(-1)).toMatchObject({ type: "status", status: "parked" });
    const told = JSON.stringify(events.at(-1));
    expect(told).toContain('the tool \\"pay\\"');
    expect(told).toContain('the model \\"demo:payer\\"');
    expect(told).toContain("Add it to the host's options and resume the run");
    await without.close();

    const second = hostOn(store(), { tools: [pay()], models: models() });
    await second.runs.resume(runId);
    await approve(second);
    expect((await second.runs.result(runId)).output).toBe("done: I am clerk.");
    // What it said can be read where nothing of it is left.
    await second.close();
    const later = hostOn(store(), { models: { "demo:echo": scriptedModel(["hello"], { loop: true }) } });
    expect((await later.runs.result(runId)).output).toBe("done: I am clerk.");
  });

  test("X11 a process that lacks a tool leaves the run to one that has it", async () => {
    const store = await database();
    const front = hostOn(store(), { tools: [pay()], models: models(), claims: false });
    await front.agents.create({ definition: gatedClerk({ hitl_tools: [] }) }, ANN);
    const lacking = hostOn(store(), { agents: [new Agent({ name: "other", model: "openai:gpt-4o" })] });
    await lacking.open();
    const { runId, result } = await front.start("clerk", "pay 3", { queue: true });
    lacking.engine.claim();
    const paid: unknown[] = [];
    const able = hostOn(store(), { tools: [pay(paid)], models: models() });
    await able.open();
    expect((await result()).output).toBe("done: I am clerk.");
    expect(paid).toHaveLength(1);
    expect(await able.runs.get(runId)).toMatchObject({ status: "completed" });
  });

  test("X2 what code alone has is not taken up by a host that does not have that code", async () => {
    const store = await database();
    const clerk = new Agent({ name: "clerk", model: "demo:echo" as never }, { models: models() });
    const front = hostOn(store(), { agents: [clerk], claims: false });
    const { runId } = await front.start("clerk", "hi", { queue: true });
    const other = hostOn(store());
    await other.open();
    await other.agents.create({ definition: agentOf("mine") }, ANN);
    await other.run("mine", "hi");
    other.engine.claim();
    await other.run("mine", "hi");
    expect(await other.runs.get(runId)).toMatchObject({ status: "queued" });
  });

  test("X13 a run of a deleted agent can be retried from a step, with its own definition", async () => {
    const trackside = hostOn((await database())(), { tools: [pay()], models: models() });
    await trackside.agents.create({ definition: gatedClerk({ hitl_tools: [] }) }, ANN);
    const { runId, result } = await trackside.start("clerk", "pay 3");
    await result();
    await trackside.agents.delete("clerk", { ...ANN, erase: true });
    const again = await trackside.runs.retry(runId, { fromStep: 1 });
    expect((await trackside.runs.result(again.id)).output).toBe("done: I am clerk.");
  });

  test("S7 a stored agent hands the turn to others of its tenant, in a circle too, and to agents in code", async () => {
    const hand = (to: string): ScriptedReply => ({
      calls: [{ tool: `handoff_to_${to}`, args: { reason: "it knows" } }],
    });
    const route = scriptedModel(
      [
        ({ prompt }): string | ScriptedReply => {
          const system = String(prompt.find(({ role }) => role === "system")?.content);
          const to = /^To (\w+)/.exec(system)?.[1];
          return to === undefined ? system : hand(to);
        },
      ],
      { loop: true },
    );
    const desk = new Agent({ name: "desk", model: route, instructions: "I am the desk." });
    const store = await database();
    const make = () => hostOn(store(), { agents: [desk], models: { "demo:echo": route } });
    const trackside = make();
    const a = { ...ANN, tenant: "a" };
    await trackside.agents.create({ definition: agentOf("one", { instructions: "I am one." }) }, a);
    await trackside.agents.create(
      { definition: agentOf("two", { instructions: "To desk", handoffs: ["one", "desk"] }) },
      a,
    );
    await trackside.agents.save(
      "one",
      { definition: agentOf("one", { instructions: "To two", handoffs: ["two"] }) },
      { ...a, version: 1 },
    );
    const { runId, result } = await trackside.start("one", "hi", of("a"));
    expect((await result()).output).toBe("I am the desk.");
    // What it is pinned to holds for the others, too: elsewhere the same comes out of it, whoever is there now.
    await trackside.agents.delete("two", a);
    const second = make();
    expect((await second.runs.result(runId, { tenant: "a" })).output).toBe("I am the desk.");
    const again = await second.runs.retry(runId, { tenant: "a", fromStep: 1 });
    expect((await second.runs.result(again.id, { tenant: "a" })).output).toBe("I am the desk.");
    await expect(trackside.run("one", "hi", of("a"))).rejects.toThrow(/the agent "two"/);
    await expect(
      trackside.agents.create({ definition: agentOf("b", { handoffs: ["one"] }) }, { ...ANN, tenant: "b" }),
    ).rejects.toThrow(/handoffs\[0\]: an agent \(desk\) expected, "one" given/);
  });

  test("A7 rails of the toolkit guard a stored agent, before and after a restart", async () => {
    const withheld: RailFactory = ({ what }, settings) =>
      defineRail({ name: "withheld", on: ["POST_LLM_CALL"], ...settings }, () =>
        skip("no", { replacement: `withheld: ${what}` }),
      );
    const store = await database();
    const make = () => hostOn(store(), { rails: { withheld } });
    const first = make();
    const rails = [{ use: "withheld", options: { what: "words" } }];
    await first.agents.create({ definition: agentOf("clerk", { rails }) }, ANN);
    expect((await first.run("clerk", "hi")).output).toBe("withheld: words");
    const { runId } = await hostOn(store(), { rails: { withheld }, claims: false }).start("clerk", "hi", {
      queue: true,
    });
    await first.close();
    expect((await make().runs.result(runId)).output).toBe("withheld: words");
  });
});
