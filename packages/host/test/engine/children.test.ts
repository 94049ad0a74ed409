import { Agent } from "trackside";
import { describe, expect, test } from "vitest";
import { rows } from "../../src/store/index.ts";
import { type Cast, cast, openingOf, spawn, spawnSelf } from "./support/cast.ts";
import { databaseFile as file } from "./support/database.ts";
import { becomes, childrenOf, gated, hostOf, isWhole, meddle, rowOf } from "./support/hosts.ts";
import { until } from "./support/until.ts";

const PARTS: Cast = {
  Go: [spawn("one", "two"), "done"],
  one: ["one is done"],
  two: [{ calls: [{ tool: "work", args: { n: 2 } }] }, "two is done"],
};

const NESTED: Cast = {
  Go: [spawnSelf("middle"), "done"],
  middle: [spawnSelf("bottom"), "middle is done"],
  bottom: [{ calls: [{ tool: "work" }] }, "bottom is done"],
};

function treeAgent(parts: Cast, tools: readonly object[], more: object = {}) {
  const model = cast(parts);
  const config = { name: "root", model, tools, allowParallelSubagents: true, allowSelfSpawn: true, ...more };
  return { model, agent: new Agent(config as never) };
}

/** What the parent was told of each job. */
async function entries(host: ReturnType<typeof hostOf>, conversation: string): Promise<unknown[]> {
  const messages = await host.conversations.messages(conversation);
  const [result] = messages.filter((message) => message.role === "tool");
  const value = result?.output.type === "json" ? (result.output.value as { results: unknown[] }) : undefined;
  return value?.results ?? [];
}

describe("X2 sub-agents and the process that goes on", () => {
  test("X2 S1 what a child had done stands, what it was doing goes on, and nothing is run twice", async () => {
    const path = file();
    const before = gated("work", { effect: "none" });
    const first = hostOf(path, [treeAgent(PARTS, [before.tool]).agent]);
    const { runId, conversationId } = await first.start("root", "Go");
    await until(() => before.begun[0]);
    await until(async () =>
      (await childrenOf(first, runId)).some(({ status }) => status === "completed") ? true : undefined,
    );
    await first.close();

    const after = gated("work", { effect: "none" });
    after.go();
    const { agent, model } = treeAgent(PARTS, [after.tool]);
    const second = hostOf(path, [agent]);
    expect((await second.runs.result(runId)).output).toBe("done");
    const [one, two] = await childrenOf(second, runId);
    expect([one?.status, two?.status]).toEqual(["completed", "completed"]);
    expect(after.begun).toEqual([two?.id]);
    expect(model.requests.map(openingOf)).toEqual(["two", "Go"]); // the one that was over was not asked again
    expect(await entries(second, conversationId)).toMatchObject([
      { index: 0, status: "success", output: "one is done" },
      { index: 1, status: "success", output: "two is done" },
    ]);
    for (const id of [runId, one?.id ?? "", two?.id ?? ""])
      expect(isWhole((await second.runs.events(id)) as never)).toBe(true);
    const { branches } = await second.conversations.get(conversationId);
    expect(branches.map(({ id }) => id)).toEqual([conversationId]); // theirs are nobody's business
    expect((await second.runs.list()).map(({ id }) => id)).toEqual([runId]);
  });

  test("X3 L7 a once tool that a child was in is asked about in the child, with whose it is", async () => {
    const path = file();
    const stuck = gated("work");
    const first = hostOf(path, [treeAgent(NESTED, [stuck.tool]).agent]);
    const { runId } = await first.start("root", "Go");
    const bottom = await until(() => stuck.begun[0]);
    await first.close();

    const again = gated("work");
    const second = hostOf(path, [treeAgent(NESTED, [again.tool]).agent]);
    await second.open();
    const [asked] = await until(async () => {
      const found = await second.approvals.list();
      return found.length > 0 ? found : undefined;
    });
    expect(asked).toMatchObject({ kind: "unknown_outcome", run_id: bottom, root_run_id: runId });
    expect(await second.approvals.list({ rootRunId: runId })).toHaveLength(1);
    expect(await second.approvals.list({ runId })).toEqual([]);
    // Whoever lists runs sees that somebody is waited for.
    for (const id of [runId, bottom]) expect((await second.runs.get(id)).status).toBe("waiting");
    await second.approvals.decide(asked?.id ?? "", { choice: "ran", by: "ann", response: "by hand" });
    expect((await second.runs.result(runId)).output).toBe("done");
    expect(again.begun).toEqual([]);
    expect(JSON.stringify(await second.runs.events(bottom))).toContain("by hand");
    const [entry] = await second.audit.list();
    expect(entry).toMatchObject({ about: { run: bottom, root: runId } });
  });

  test("X4 whoever had a child and may yet thaw is remembered", async () => {
    const path = file();
    const stuck = gated("work");
    const first = hostOf(path, [treeAgent(PARTS, [stuck.tool]).agent]);
    const { runId } = await first.start("root", "Go");
    const child = await until(() => stuck.begun[0]);
    const { owner, fence } = await rowOf(first, child);
    await first.close();
    await meddle(path, (db) =>
      rows(db.updateTable("runs").set({ owner: "proc_frozen" }).where("id", "in", [runId, child])),
    );
    const second = hostOf(path, [treeAgent(PARTS, [gated("work").tool]).agent]);
    await second.open();
    await until(async () => ((await second.approvals.list()).length > 0 ? true : undefined));
    const row = await rowOf(second, child);
    expect(row.fence).toBe(fence + 1);
    expect(row.owner).not.toBe(owner);
    expect(JSON.parse(row.body).previous_owners).toEqual(["proc_frozen"]);
  });

  test("X3 a process that is asked to leave lets tools of children finish: nobody has to be asked about them", async () => {
    const path = file();
    const slow = gated("work");
    const first = hostOf(path, [treeAgent(NESTED, [slow.tool]).agent]);
    const { runId } = await first.start("root", "Go");
    await until(() => slow.begun[0]);
    const closing = first.close({ graceMs: 60_000 });
    slow.go();
    await closing;

    const again = gated("work");
    const second = hostOf(path, [treeAgent(NESTED, [again.tool]).agent]);
    expect((await second.runs.result(runId)).output).toBe("done");
    expect(again.begun).toEqual([]);
    expect(await second.approvals.list({ state: "all" })).toEqual([]);
  });
});

describe("X5 cancelling in a tree", () => {
  test("X5 a cancel of the root from another process ends everything below it", async () => {
    const path = file();
    const work = gated("work");
    const here = hostOf(path, [treeAgent(NESTED, [work.tool]).agent]);
    const { runId, result } = await here.start("root", "Go");
    const bottom = await until(() => work.begun[0]);
    const elsewhere = hostOf(path, []);
    await elsewhere.runs.cancel(runId, { reason: "enough" });
    await expect(result()).rejects.toThrow("enough");
    const [middle] = await childrenOf(here, runId);
    for (const id of [runId, middle?.id ?? "", bottom]) {
      expect((await here.runs.get(id)).status).toBe("cancelled");
      const events = await here.runs.events(id);
      expect(isWhole(events as never)).toBe(true);
      const calls = events.filter(({ type }) => type === "tool_call");
      expect(events.filter(({ type }) => type === "tool_result")).toHaveLength(calls.length);
    }
  });

  test("X5 a tree that nobody runs is cancelled by whoever takes it up", async () => {
    const path = file();
    const first = hostOf(path, [treeAgent(NESTED, [gated("work", { effect: "none" }).tool]).agent]);
    const { runId } = await first.start("root", "Go");
    await until(async () => ((await childrenOf(first, runId)).length > 0 ? true : undefined));
    await first.close();
    const desk = hostOf(path, []);
    await desk.runs.cancel(runId, { reason: "enough" });
    const second = hostOf(path, [treeAgent(NESTED, [gated("work", { effect: "none" }).tool]).agent]);
    await second.open();
    await becomes(second, runId, "cancelled");
    const open = await second.engine.store.read((db) =>
      rows(db.selectFrom("runs").select("id").where("ended_at", "is", null)),
    );
    expect(open).toEqual([]);
  });

  test("S5 one child that is cancelled by its id is one error, and nothing else", async () => {
    const path = file();
    const work = gated("work");
    const here = hostOf(path, [treeAgent(PARTS, [work.tool]).agent]);
    const { runId, conversationId, result } = await here.start("root", "Go");
    const two = await until(() => work.begun[0]);
    const elsewhere = hostOf(path, []);
    await elsewhere.runs.cancel(two, { reason: "not this one" });
    expect((await result()).output).toBe("done");
    expect(await entries(here, conversationId)).toMatchObject([
      { index: 0, status: "success" },
      { index: 1, status: "error", error: { code: "cancelled", message: "not this one" } },
    ]);
    expect((await here.runs.get(runId)).status).toBe("completed");
  });
});

describe("X2 a child that cannot go on", () => {
  /** A tree that was left while its child worked, and whose child's rows are then changed. */
  async function spoiled(how: (body: string) => string) {
    const path = file();
    const stuck = gated("work", { effect: "none" });
    const first = hostOf(path, [treeAgent(NESTED, [stuck.tool]).agent]);
    const { runId, conversationId } = await first.start("root", "Go");
    const bottom = await until(() => stuck.begun[0]);
    const [middle] = await childrenOf(first, runId);
    await first.close();
    const [kept] = (await meddle(path, function* (db) {
      const found = yield* rows(
        db.selectFrom("commits").selectAll().where("run_id", "=", bottom).where("ord", "=", 1),
      );
      const body = how(found[0]?.body ?? "");
      yield* rows(db.updateTable("commits").set({ body }).where("run_id", "=", bottom).where("ord", "=", 1));
      return found;
    })) as readonly { body: string }[]; // as it was selected
    const restore = () =>
      meddle(path, (db) =>
        rows(
          db
            .updateTable("commits")
            .set({ body: kept?.body ?? "" })
            .where("run_id", "=", bottom)
            .where("ord", "=", 1),
        ),
      );
    return { path, runId, conversationId, middle: middle?.id ?? "", bottom, restore };
  }
  const diverging = (body: string) => body.replace('"begun":["1/0/tool/1"]', '"begun":["1/9/tool/1"]');

  test("X2 a child that diverged parks everybody above it, who say so; resuming the root resumes them", async () => {
    const { path, runId, middle, bottom, restore } = await spoiled(diverging);
    const work = gated("work", { effect: "none" });
    work.go();
    const notices: string[] = [];
    const second = hostOf(path, [treeAgent(NESTED, [work.tool]).agent], notices);
    await second.open();
    const parked = await becomes(second, runId, "parked");
    expect(parked.parked).toContain(`sub-agent ${middle} is parked`);
    expect(parked.parked).toContain(`sub-agent ${bottom} is parked`);
    expect(parked.parked?.match(/Bring the old version back/g)).toHaveLength(1);
    for (const id of [middle, bottom]) expect((await second.runs.get(id)).status).toBe("parked");
    expect(notices).toHaveLength(3);
    await second.close();

    await restore();
    const third = hostOf(path, [treeAgent(NESTED, [work.tool]).agent]);
    await third.runs.resume(bottom); // whichever of them is named
    expect((await third.runs.result(runId)).output).toBe("done");
    expect(work.begun).toEqual([bottom]);
    for (const id of [runId, middle, bottom]) {
      expect((await third.runs.get(id)).status).toBe("completed");
      const events = await third.runs.events(id);
      expect(events.filter((event) => event.type === "status" && event.status === "parked")).toHaveLength(1);
      expect(isWhole(events as never)).toBe(true);
    }
  });

  test("X2 a child whose effect killed its process too often parks its tree, until somebody resumes it", async () => {
    const { path, runId, bottom } = await spoiled((body) => body);
    await meddle(path, function* (db) {
      const [row] = yield* rows(db.selectFrom("runs").select("body").where("id", "=", bottom));
      const body = { ...JSON.parse(row?.body ?? "{}"), recoveries: { "1/0/tool/1": 3 } };
      const died = { owner: "proc_gone", body: JSON.stringify(body) };
      yield* rows(db.updateTable("runs").set(died).where("id", "=", bottom));
    });
    const work = gated("work", { effect: "none" });
    work.go();
    const second = hostOf(path, [treeAgent(NESTED, [work.tool]).agent]);
    await second.open();
    const { parked } = await becomes(second, runId, "parked");
    expect(parked).toContain("Its process died 4 times in 1/0/tool/1");
    await second.runs.resume(runId);
    expect((await second.runs.result(runId)).output).toBe("done");
    expect(work.begun).toEqual([bottom]);
  });

  test("X5 a parked tree that is cancelled ends whole, with a result for every call, and frees its branch", async () => {
    const { path, runId, conversationId, middle, bottom } = await spoiled(diverging);
    const second = hostOf(path, [treeAgent(NESTED, [gated("work", { effect: "none" }).tool]).agent]);
    await second.open();
    await becomes(second, runId, "parked");
    await second.runs.cancel(runId, { reason: "enough" });
    for (const id of [runId, middle, bottom]) {
      expect((await second.runs.get(id)).status).toBe("cancelled");
      const events = await second.runs.events(id);
      expect(isWhole(events as never)).toBe(true);
      for (const [one, other] of [
        ["tool_call", "tool_result"],
        ["subagent", "subagent"],
      ] as const) {
        const begun = events.filter(
          (event) => event.type === one && !("state" in event && event.state !== "started"),
        );
        const ended = events.filter(
          (event) => event.type === other && !("state" in event && event.state !== "completed"),
        );
        expect(ended).toHaveLength(begun.length);
      }
    }
    await expect(second.runs.result(runId)).rejects.toThrow("enough");
    const { output } = await second.run("root", "and?", { conversation: conversationId });
    expect(output).toBe("done");
  });
});

test("X2 the result of a child can be read by its id, while it runs and after, here and elsewhere", async () => {
  const path = file();
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const parts: Cast = {
    Go: [spawn({ task: "count", output_schema: schema }, "two"), "done"],
    count: ['{"n":7}'],
    two: PARTS["two"] ?? [],
  };
  const work = gated("work");
  const here = hostOf(path, [treeAgent(parts, [work.tool]).agent]);
  const { runId, result } = await here.start("root", "Go");
  const two = await until(() => work.begun[0]);
  const waiting = here.runs.result(two);
  work.go();
  expect((await waiting).output).toBe("two is done");
  await result();
  const elsewhere = hostOf(path, []);
  const [count] = await childrenOf(elsewhere, runId);
  const found = await elsewhere.runs.result(count?.id ?? "");
  expect(found).toMatchObject({
    output: { n: 7 },
    text: '{"n":7}',
    runId: count?.id,
    stopReason: "answered",
  });
  expect(found.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  await expect(elsewhere.runs.retry(count?.id ?? "")).rejects.toThrow(`Retry ${runId}`);
});

test("X12 a conversation is erased with its sub-agents, and kept as long as they run", async () => {
  const path = file();
  const work = gated("work");
  const here = hostOf(path, [treeAgent(PARTS, [work.tool]).agent]);
  const { runId, conversationId } = await here.start("root", "Go");
  const two = await until(() => work.begun[0]);
  await here.conversations.delete(conversationId);
  for (const id of [runId, two]) await expect(here.runs.get(id)).rejects.toThrow("There is no run");
  const left = await here.engine.store.read(function* (db) {
    const found: number[] = [];
    for (const table of ["runs", "commits", "branches", "conversations", "outcomes"] as const)
      found.push((yield* rows(db.selectFrom(table).selectAll())).length);
    return found;
  });
  expect(left).toEqual([0, 0, 0, 0, 0]);
  work.go();
});
