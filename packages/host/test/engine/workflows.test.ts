import { Agent, type Clock, defineTool, defineWorkflow, type Json, type Workflow } from "trackside";
import { systemClock } from "trackside/engine";
import { scriptedModel } from "trackside/testing";
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { type RunRecord, sqlite, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";
import { becomes, gated, rowOf } from "./support/hosts.ts";
import { queued, until } from "./support/until.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A host of these workflows on a database that others may share. */
function host(path: string, workflows: readonly Workflow<never, never>[], options: object = {}): Trackside {
  const trackside = new Trackside({
    store: sqlite(path, { sync: "normal" }),
    agents: [],
    workflows,
    ...options,
  });
  open.push(trackside);
  return trackside;
}

/** A tool that says what it is given, and counts how often. */
function counting(name = "count") {
  const ran: Json[] = [];
  const tool = defineTool({
    name,
    input: z.object({ value: z.json() }),
    execute: ({ value }) => {
      ran.push(value as Json); // parsed as JSON
      return value as Json;
    },
  });
  return { ran, node: (value: Json) => ({ kind: "tool" as const, tool, arguments: { value } }) };
}

async function nodesOf(trackside: Trackside, runId: string): Promise<string[]> {
  const events = await trackside.runs.events(runId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  return events.flatMap((event) =>
    event.type === "node" ? `${event.node}:${event.port ?? event.state}${event.reused ? ":reused" : ""}` : [],
  );
}

/** Waits for what is asked next. */
const asked = (trackside: Trackside) => until(async () => (await trackside.approvals.list())[0]);

describe("W5 approval nodes", () => {
  const asking = (ran: ReturnType<typeof counting>) =>
    defineWorkflow({
      name: "release",
      nodes: {
        ask: { kind: "approval", message: "Release {{ input.version }}?", deadlineSeconds: 3600 },
        release: ran.node("{{ nodes.ask.decided_by }} released {{ input.version }}"),
      },
      edges: [{ from: "ask", to: "release" }],
    });

  test("W5 L5 one outlives its process with id and deadline; decided with nobody there, the next one goes on", async () => {
    const path = databaseFile();
    const counted = counting();
    const first = host(path, [asking(counted)]);
    const { runId } = await first.workflows.start("release", { version: "2.0" });
    const before = await asked(first);
    expect(before).toMatchObject({ kind: "workflow_node", tool: "ask", reasons: ["Release 2.0?"] });
    await becomes(first, runId, "waiting");
    await first.close();

    const second = host(path, [asking(counted)]);
    await second.open();
    const again = await asked(second);
    expect([again.id, again.deadline]).toEqual([before.id, before.deadline]);
    await second.close();

    const desk = host(path, [], { claims: false });
    await desk.approvals.decide(before.id, { choice: "approve", by: "ann" });
    await desk.close();
    expect(counted.ran).toEqual([]);

    const third = host(path, [asking(counted)]);
    expect((await third.runs.result(runId)).output).toEqual({ release: "ann released 2.0" });
    expect(counted.ran).toEqual(["ann released 2.0"]);
    expect(await nodesOf(third, runId)).toEqual([
      "ask:started",
      "ask:completed",
      "release:started",
      "release:completed",
    ]);
  });

  test("W5 L5 a deadline that passed while nobody was there takes the rejected edge", async () => {
    const path = databaseFile();
    const counted = counting();
    const workflow = defineWorkflow({
      name: "slow",
      nodes: {
        ask: { kind: "approval", message: "Go?", deadlineSeconds: 3600 },
        late: counted.node("nobody came"),
      },
      edges: [{ from: "ask", to: "late", when: "rejected" }],
    });
    const first = host(path, [workflow]);
    const { runId } = await first.workflows.start("slow", {});
    await becomes(first, runId, "waiting");
    await first.close();
    const second = host(path, [workflow], { clock: laterBy(3601) });
    expect((await second.runs.result(runId)).output).toEqual({ late: "nobody came" });
  });

  test("W5 L4 of several who decide at once in two processes one wins, and the node has what that one said", async () => {
    const path = databaseFile();
    const counted = counting();
    const here = host(path, [asking(counted)]);
    const there = host(path, [], { claims: false });
    const { runId, result } = await here.workflows.start("release", { version: "3.0" });
    const { id } = await asked(here);
    const decided = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 ? here : there).approvals
          .decide(id, { choice: i % 4 < 2 ? "approve" : "reject", by: `person ${i}` })
          .catch(({ code }) => code),
      ),
    );
    const { state, decision } = await here.approvals.get(id);
    // Whoever says the same as the winner is answered the winner's record, the others that somebody was first.
    for (const one of decided) if (typeof one !== "string") expect(one.decision?.by).toBe(decision?.by);
    expect(decided.filter((one) => one === "approval_conflict")).toHaveLength(state === "approved" ? 4 : 6);
    const said = await result().then(({ output }) => output, String);
    if (state === "approved") expect(said).toEqual({ release: `${decision?.by} released 3.0` });
    else expect(said).toContain(`Rejected by ${decision?.by}`);
    expect(counted.ran).toHaveLength(state === "approved" ? 1 : 0);
    expect((await here.runs.events(runId)).filter(({ type }) => type === "approval")).toHaveLength(2);
  });

  test("W5 what is asked is refused when it does not fit, and asked still", async () => {
    const workflow = defineWorkflow({
      name: "form",
      nodes: { ask: { kind: "approval", message: "When?", response: z.object({ day: z.string() }) } },
    });
    const trackside = host(databaseFile(), [workflow]);
    const { result } = await trackside.workflows.start("form", {});
    const { id } = await asked(trackside);
    const decide = (response: Json) =>
      trackside.approvals.decide(id, { choice: "approve", by: "ann", response: response as never });
    await expect(decide({ day: 1 })).rejects.toThrow("day");
    await decide({ day: "Monday" });
    expect((await result()).output).toEqual({ ask: { day: "Monday" } });
  });
});

/** A clock that is ahead of the others. */
function laterBy(seconds: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + seconds * 1000 };
}

describe("W4 X2 runs and restarts", () => {
  test("W4 a wait that ended while nobody was there ends at once", async () => {
    const path = databaseFile();
    const workflow = defineWorkflow({
      name: "waits",
      nodes: { wait: { kind: "wait", for: { seconds: 3600 } }, next: counting().node("waited") },
      edges: [{ from: "wait", to: "next" }],
    });
    const first = host(path, [workflow]);
    const { runId } = await first.workflows.start("waits", {});
    await until(async () => ((await nodesOf(first, runId)).length > 0 ? true : undefined));
    await first.close();
    const second = host(path, [workflow], { clock: laterBy(3601) });
    expect((await second.runs.result(runId)).output).toEqual({ next: "waited" });
  });

  test("X2 W4 a run keeps its version: another workflow of the same name is for later runs", async () => {
    const path = databaseFile();
    const counted = counting();
    const edges = [{ from: "ask" as const, to: "next" as const }];
    const ask = { kind: "approval" as const, message: "Go?" };
    const before = defineWorkflow({ name: "edited", nodes: { ask, next: counted.node("old") }, edges });
    const first = host(path, [before]);
    const { runId } = await first.workflows.start("edited", {});
    const { id } = await asked(first);
    await first.close();
    const after = defineWorkflow({
      name: "edited",
      nodes: { ask, other: counted.node("new"), next: counted.node("not this one") },
      edges: [...edges, { from: "next", to: "other" }],
    });
    const second = host(path, [after]);
    await second.approvals.decide(id, { choice: "approve", by: "ann" });
    expect((await second.runs.result(runId)).output).toEqual({ next: "old" });
    const later = await second.workflows.start("edited", {});
    await second.approvals.decide((await asked(second)).id, { choice: "approve", by: "ann" });
    expect((await later.result()).output).toEqual({ other: "new" });
  });

  test("X2 W4 a run whose tool is gone is parked, and goes on when it is back", async () => {
    const path = databaseFile();
    const counted = counting();
    const ask = { kind: "approval" as const, message: "Go?" };
    const whole = defineWorkflow({
      name: "parks",
      nodes: { ask, next: counted.node("went") },
      edges: [{ from: "ask", to: "next" }],
    });
    const first = host(path, [whole]);
    const [one, two] = [
      await first.workflows.start("parks", {}),
      await first.workflows.start("parks", { n: 2 }),
    ];
    await becomes(first, one.runId, "waiting");
    await becomes(first, two.runId, "waiting");
    await first.close();
    const without = host(path, [defineWorkflow({ name: "parks", nodes: { ask } })], { notice: () => {} });
    await without.open();
    expect((await becomes(without, one.runId, "parked")).parked).toContain('the tool "count"');
    await becomes(without, two.runId, "parked");
    expect((await without.runs.cancel(two.runId, { reason: "enough" })).status).toBe("cancelled");
    await without.close();
    const back = host(path, [whole]);
    await back.runs.resume(one.runId);
    await back.approvals.decide((await asked(back)).id, { choice: "approve", by: "ann" });
    expect((await back.runs.result(one.runId)).output).toEqual({ next: "went" });
    expect(counted.ran).toEqual(["went"]);
  });

  test("X5 W4 a run that waits is cancelled, with everything below it, by a process that does not run it", async () => {
    const path = databaseFile();
    const inner = defineWorkflow({ name: "inner", nodes: { ask: { kind: "approval", message: "Go?" } } });
    const workflow = defineWorkflow({
      name: "outer",
      nodes: {
        below: { kind: "workflow", workflow: inner },
        wait: { kind: "wait", for: { seconds: 3600 } },
        next: counting().node("not run"),
      },
      edges: [{ from: "wait", to: "next" }],
    });
    const runs = host(path, [workflow]);
    const desk = host(path, [], { claims: false });
    const { runId, result } = await runs.workflows.start("outer", {});
    const { id, run_id } = await asked(runs);
    expect(run_id).toBe(`${runId}.below.1`);
    await desk.runs.cancel(runId, { reason: "enough" });
    await expect(result()).rejects.toThrow("enough");
    expect((await nodesOf(runs, runId)).toSorted()).toEqual([
      "below:failed",
      "below:started",
      "wait:failed",
      "wait:started",
    ]);
    expect((await runs.runs.get(run_id)).status).toBe("cancelled");
    expect((await runs.approvals.get(id)).state).toBe("cancelled");
  });

  test("X6 W4 a message to a workflow is dropped, also one that comes too late: it opens no turn", async () => {
    const { tool, begun, go } = gated("hold");
    const workflow = defineWorkflow({ name: "busy", nodes: { hold: { kind: "tool", tool } } });
    const trackside = host(databaseFile(), [workflow]);
    const { runId, result } = await trackside.workflows.start("busy", {});
    await until(() => (begun.length > 0 ? true : undefined));
    const receipt = trackside.steer(runId, "faster");
    await queued(trackside, runId);
    go();
    expect((await receipt).state).toBe("dropped");
    await result();
    expect(await trackside.runs.list()).toHaveLength(1);
  });

  test("X10 W4 the same request id starts one run, and a queued one is taken up by whoever has the workflow", async () => {
    const path = databaseFile();
    const counted = counting();
    const workflow = defineWorkflow({ name: "queued", nodes: { only: counted.node("{{ input.n }}") } });
    const desk = host(path, [workflow], { claims: false });
    const started = await Promise.all(
      Array.from({ length: 5 }, () =>
        desk.workflows.start("queued", { n: 7 }, { requestId: "r", queue: true }),
      ),
    );
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(1);
    // An agent of that name is somebody else.
    const agent = new Agent({ name: "queued", model: scriptedModel(["not asked"]) });
    const other = host(path, [], { agents: [agent] });
    await other.open();
    await other.close();
    const worker = host(path, [workflow]);
    expect((await worker.runs.result(started[0]?.runId ?? "")).output).toEqual({ only: 7 });
    expect(counted.ran).toEqual([7]);
  });
});

describe("X13 W4 retry from a node", () => {
  /** `b` fails until it is put right; `c` and `d` follow it, `other` does not. */
  function failing() {
    const state = { isBroken: true };
    const [a, other, after] = [counting("a"), counting("other"), counting("after")];
    const b = defineTool({
      name: "b",
      effect: "none",
      input: { type: "object" },
      execute: ({ value }: { value?: Json }) => {
        if (state.isBroken) throw new Error("out of order");
        return `b of ${value}`;
      },
    });
    const workflow = defineWorkflow({
      name: "retried",
      nodes: {
        a: a.node("{{ input.n }}"),
        b: { kind: "tool", tool: b, arguments: { value: "{{ nodes.a }}" } },
        c: after.node("{{ nodes.b }}, then c"),
        other: other.node("other"),
        d: after.node(["{{ nodes.c }}", "{{ nodes.other }}"]),
      },
      edges: [
        { from: "a", to: "b" },
        { from: "b", to: "c" },
        { from: "c", to: "d" },
        { from: "other", to: "d" },
      ],
    });
    return { workflow, state, ran: { a: a.ran, other: other.ran, after: after.ran } };
  }

  async function failed(trackside: Trackside): Promise<string> {
    const { runId, result } = await trackside.workflows.start("retried", { n: 1 });
    await expect(result()).rejects.toThrow('The node "b" failed: out of order');
    return runId;
  }

  const OUTPUT = { d: ["b of 1, then c", "other"] };

  test("X13 W4 without a node what failed runs again, and what completed is taken as it is", async () => {
    const { workflow, state, ran } = failing();
    const trackside = host(databaseFile(), [workflow]);
    const runId = await failed(trackside);
    state.isBroken = false;
    const again = await trackside.runs.retry(runId);
    expect(again).toMatchObject({ retried_from: runId, kind: "workflow" });
    expect((await trackside.runs.result(again.id)).output).toEqual(OUTPUT);
    expect(ran).toMatchObject({ a: [1], other: ["other"] });
    expect(await nodesOf(trackside, again.id)).toEqual([
      "a:completed:reused",
      "other:completed:reused",
      ...["b", "c", "d"].flatMap((id) => [`${id}:started`, `${id}:completed`]),
    ]);
    const reused = (await trackside.runs.events(again.id)).find((event) => event.type === "node");
    expect(reused).toMatchObject({ node: "a", output: 1 });
  });

  test("X13 W4 from a node it and what follows it run again; a retry can be retried", async () => {
    const { workflow, state, ran } = failing();
    const path = databaseFile();
    const trackside = host(path, [workflow]);
    state.isBroken = false;
    const first = await trackside.workflows.start("retried", { n: 1 });
    expect((await first.result()).output).toEqual(OUTPUT);
    const second = await trackside.runs.retry(first.runId, { node: "c" });
    expect((await trackside.runs.result(second.id)).output).toEqual(OUTPUT);
    expect(ran.after).toHaveLength(4);
    expect(ran.a).toHaveLength(1);
    await trackside.close();
    const next = host(path, [workflow]);
    const third = await next.runs.retry(second.id, { node: "d" });
    expect((await next.runs.result(third.id)).output).toEqual(OUTPUT);
    expect(ran.after).toHaveLength(5);
    expect((await nodesOf(next, third.id)).filter((one) => one.endsWith(":reused"))).toHaveLength(4);
  });

  test("X13 W4 what cannot be retried is told", async () => {
    const { workflow } = failing();
    const trackside = host(databaseFile(), [workflow]);
    const runId = await failed(trackside);
    await expect(trackside.runs.retry(runId, { node: "bb" })).rejects.toThrow(
      'node: one of a, b, c, other, d expected, "bb" given',
    );
    await expect(trackside.runs.retry(runId, { fromStep: 1 })).rejects.toThrow("has no steps; give `node`");
    const { runId: waiting } = await trackside.workflows.start("retried", { n: 1 }, { queue: true });
    await until(async () => ((await trackside.runs.get(waiting)).ended_at === null ? undefined : true));
    expect(await trackside.runs.list({ kind: "workflow" })).toHaveLength(2);
  });

  test("X13 W4 a cancelled run is retried from where it was stopped", async () => {
    const counted = counting();
    const workflow = defineWorkflow({
      name: "stopped",
      nodes: {
        a: counted.node("a"),
        ask: { kind: "approval", message: "Go?" },
        b: counted.node("{{ nodes.ask.decided_by }}"),
      },
      edges: [
        { from: "a", to: "ask" },
        { from: "ask", to: "b" },
      ],
    });
    const trackside = host(databaseFile(), [workflow]);
    const { runId, result } = await trackside.workflows.start("stopped", {});
    const first = await asked(trackside);
    await trackside.runs.cancel(runId);
    await expect(result()).rejects.toThrow();
    const again = await trackside.runs.retry(runId);
    const second = await asked(trackside);
    expect(second.id).not.toBe(first.id);
    await trackside.approvals.decide(second.id, { choice: "approve", by: "bob" });
    expect((await trackside.runs.result(again.id)).output).toEqual({ b: "bob" });
    expect(counted.ran).toEqual(["a", "bob"]);
  });
});

describe("W4 what else there is for runs works for those of workflows", () => {
  const greeter = () => new Agent({ name: "greeter", model: scriptedModel(["Hello, Ada."], { loop: true }) });
  const greeting = () =>
    defineWorkflow({
      name: "greet",
      input: z.object({ name: z.string() }),
      nodes: { hello: { kind: "agent", agent: greeter(), prompt: "Greet {{ input.name }}." } },
    });

  test("W4 an input that does not fit is refused before anything is stored", async () => {
    const trackside = host(databaseFile(), [greeting()]);
    await expect(trackside.workflows.start("greet", { name: 1 })).rejects.toThrow("name");
    await expect(trackside.workflows.start("greet", "Ada")).rejects.toThrow("object expected");
    const engine = trackside.engine as never;
    await expect(greeting().run({ name: 2 as never }, { engine })).rejects.toThrow("name");
    expect(await trackside.runs.list()).toEqual([]);
    expect(await trackside.conversations.list()).toEqual([]);
  });

  test("R4 W4 the requests of a node's agent are rebuilt, while it has no requests itself", async () => {
    const trackside = host(databaseFile(), [greeting()]);
    const { runId, result } = await trackside.workflows.start("greet", { name: "Ada" });
    expect((await result()).output).toEqual({ hello: "Hello, Ada." });
    expect(await trackside.runs.requests(runId)).toEqual([]);
    const [child] = await trackside.runs.list({ parent: runId });
    expect(child).toMatchObject({ id: `${runId}.hello.1`, kind: "agent", agent: "greeter" });
    const [request] = await trackside.runs.requests(child?.id ?? "");
    expect(request).toMatchObject({ complete: true, agent: "greeter", path: ["hello"] });
    expect(JSON.stringify(request?.messages)).toContain("Greet Ada.");
  });

  test("W4 runs are listed by kind, exported, and erased with their conversation", async () => {
    const trackside = host(databaseFile(), [greeting()], { agents: [greeter()] });
    await trackside.run("greeter", "hi");
    const { runId, result } = await trackside.workflows.start("greet", { name: "Ada" });
    await result();
    const ids = (found: readonly RunRecord[]) => found.map(({ id }) => id);
    expect(ids(await trackside.runs.list({ kind: "workflow" }))).toEqual([runId]);
    expect(ids(await trackside.runs.list({ kind: "agent" }))).not.toContain(runId);
    expect(JSON.stringify(await trackside.runs.export(runId))).toContain("Hello, Ada.");
    const { conversation_id } = await trackside.runs.get(runId);
    const copy = await trackside.conversations.import(await trackside.conversations.export(conversation_id));
    const messages = await trackside.conversations.messages(copy.id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    await trackside.conversations.delete(conversation_id);
    await expect(trackside.runs.get(runId)).rejects.toThrow("There is no run");
    await expect(trackside.runs.get(`${runId}.hello.1`)).rejects.toThrow("There is no run");
    const left = await trackside.engine.store.read((db) =>
      rows(db.selectFrom("commits").select("run_id").where("run_id", "like", `${runId}%`)),
    );
    expect(left).toEqual([]);
  });

  test("W4 a workflow and an agent may have the same name, and neither is taken for the other after a restart", async () => {
    const path = databaseFile();
    const workflow = defineWorkflow({
      name: "twin",
      nodes: { ask: { kind: "approval", message: "Go?" } },
    });
    const agent = () => new Agent({ name: "twin", model: scriptedModel(["I am the agent."]) });
    const first = host(path, [workflow], { agents: [agent()] });
    const { runId } = await first.workflows.start("twin", {});
    await becomes(first, runId, "waiting");
    expect((await rowOf(first, runId)).kind).toBe("workflow");
    await first.close();
    const second = host(path, [workflow], { agents: [agent()] });
    await second.approvals.decide((await asked(second)).id, { choice: "approve", by: "ann" });
    expect((await second.runs.result(runId)).output).toMatchObject({ ask: { decided_by: "ann" } });
    expect((await second.run("twin", "who?")).output).toBe("I am the agent.");
  });
});
