import { setTimeout as sleep } from "node:timers/promises";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { afterEach, describe, expect, test } from "vitest";
import { type RunRecord, sqlite, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";
import { until } from "./support/until.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const file = databaseFile;

function host(path: string, config: object, notices: string[] = []): Trackside {
  const agent = new Agent({ name: "clerk", model: scriptedModel(["done"]), ...config });
  const trackside = new Trackside({
    store: sqlite(path),
    agents: [agent as never],
    notice: (message) => notices.push(message),
  });
  open.push(trackside);
  return trackside;
}

const pay = (ran: string[] = []) =>
  defineTool({
    name: "pay",
    execute: () => {
      ran.push("paid");
      return "paid";
    },
  });

async function becomes(trackside: Trackside, id: string, status: RunRecord["status"]): Promise<RunRecord> {
  return until(async () => {
    const run = await trackside.runs.get(id);
    if (run.ended_at !== null && run.status !== status)
      throw new Error(`the run is ${run.status}, not ${status}`);
    return run.status === status ? run : undefined;
  });
}

/** Its process is gone without having left the run in good order. */
async function dies(trackside: Trackside, runId: string): Promise<void> {
  await trackside.close();
  const store = sqlite((trackside.engine.store.reach as { path: string }).path);
  await store.open();
  await store.write((db) => rows(db.updateTable("runs").set({ owner: "proc_gone" }).where("id", "=", runId)));
  await store.close();
}

/** A run that waits for an approval, and the process it was started in is gone. */
async function left(path: string, config: object = {}): Promise<string> {
  const model = scriptedModel([{ calls: [{ tool: "pay" }] }]);
  const first = host(path, { model, tools: [pay()], hitlTools: ["pay"], ...config });
  const { runId } = await first.start("clerk", "pay");
  await becomes(first, runId, "waiting");
  await first.close();
  return runId;
}

describe("X2 runs and the code they began with", () => {
  test("X2 a run keeps its definition; an edit reaches later runs only", async () => {
    const path = file();
    const runId = await left(path, { instructions: "Be brief." });
    const model = scriptedModel(["done", "done"]);
    const second = host(path, { model, tools: [pay()], hitlTools: ["pay"], instructions: "Be verbose." });
    const [waiting] = await second.approvals.list();
    await second.approvals.decide(waiting?.id ?? "", { choice: "approve", by: "ann" });
    await second.runs.result(runId);
    await second.run("clerk", "hello");
    const systems = model.requests.map(({ prompt }) => prompt[0]?.content);
    expect(systems).toEqual(["Be brief.", "Be verbose."]);
  });

  test("X2 a run whose tool is gone is parked, says what to do, and goes on when it is back", async () => {
    const path = file();
    const runId = await left(path);
    const notices: string[] = [];
    const without = host(path, {}, notices);
    await without.open();
    const parked = await becomes(without, runId, "parked");
    expect(parked.parked).toContain('the tool "pay"');
    expect(parked.parked).toContain("resume the run");
    expect(notices.join()).toContain(runId);
    const events = await without.runs.events(runId);
    expect(events.at(-1)).toMatchObject({ type: "status", status: "parked" });
    await without.close();

    const ran: string[] = [];
    const back = host(path, { tools: [pay(ran)], hitlTools: ["pay"] });
    await back.runs.resume(runId);
    const [waiting] = await back.approvals.list();
    await back.approvals.decide(waiting?.id ?? "", { choice: "approve", by: "ann" });
    expect((await back.runs.result(runId)).output).toBe("done");
    expect(ran).toEqual(["paid"]);
    const all = await back.runs.events(runId);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => i + 1));
    await expect(back.runs.resume(runId)).rejects.toThrow("there is nothing to resume");
  });

  test("X5 a parked run that is cancelled ends with a result for every open call", async () => {
    const path = file();
    const runId = await left(path);
    const without = host(path, {});
    await without.open();
    const { conversation_id } = await becomes(without, runId, "parked");
    const ended = await without.runs.cancel(runId, { reason: "enough" });
    expect(ended.status).toBe("cancelled");
    const messages = await without.conversations.messages(conversation_id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    const events = await without.runs.events(runId);
    expect(events.at(-1)).toMatchObject({ type: "status", status: "cancelled", reason: "enough" });
    await expect(without.runs.result(runId)).rejects.toThrow();
    await without.run("clerk", "hello", { conversation: conversation_id }); // the branch is free again
  });

  test("X2 an effect that its process died in three times is not begun again", async () => {
    const path = file();
    const hang = defineTool({ name: "hang", effect: "none", execute: () => new Promise<string>(() => {}) });
    const model = scriptedModel([{ calls: [{ tool: "hang" }] }]);
    const first = host(path, { model, tools: [hang] });
    const { runId } = await first.start("clerk", "go");
    while (!(await first.runs.events(runId)).some(({ type }) => type === "tool_call")) await sleep(5);
    await dies(first, runId);
    for (let times = 1; times <= 3; times++) {
      const next = host(path, { tools: [hang] });
      await next.open();
      await until(async () => {
        const [row] = await next.engine.store.read((db) =>
          rows(db.selectFrom("runs").select("body").where("id", "=", runId)),
        );
        return JSON.parse(row?.body ?? "{}").recoveries?.["1/0/tool/1"] === times ? true : undefined;
      });
      await dies(next, runId);
    }
    const last = host(path, { tools: [hang] });
    await last.open();
    const parked = await becomes(last, runId, "parked");
    expect(parked.parked).toContain("1/0/tool/1");
  });

  test("X2 a run that is left in good order is taken up as often as it takes", async () => {
    const path = file();
    let begun = 0;
    const hang = defineTool({
      name: "hang",
      effect: "none",
      execute: () => {
        begun += 1;
        return begun > 5 ? "at last" : new Promise<string>(() => {});
      },
    });
    const first = host(path, { model: scriptedModel([{ calls: [{ tool: "hang" }] }]), tools: [hang] });
    const { runId } = await first.start("clerk", "go");
    while (begun === 0) await sleep(5);
    await first.close();
    for (let times = 2; times <= 5; times++) {
      const next = host(path, { tools: [hang] });
      await next.open();
      while (begun < times) await sleep(5);
      await next.close();
    }
    const last = host(path, { tools: [hang] });
    expect((await last.runs.result(runId)).output).toBe("done");
    expect(begun).toBe(6);
  });

  test("X2 a function without a name cannot be found again: the run is refused", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel(["hi"]) });
    agent.hookManager.add("START", () => {});
    expect(() => new Trackside({ store: sqlite(":memory:"), agents: [agent as never] })).toThrow(
      "hook without a name",
    );
  });

  test("X3 a once tool that was running when its process died is asked about, and runs only if somebody says so", async () => {
    for (const [choice, response, runs, text] of [
      ["ran", "paid by hand", 0, "paid by hand"],
      ["run", undefined, 1, "paid"],
      ["give_up", undefined, 0, "Whether it ran is unknown"],
    ] as const) {
      const path = file();
      const begun = Promise.withResolvers<void>();
      const stuck = defineTool({
        name: "pay",
        execute: () => {
          begun.resolve();
          return new Promise<string>(() => {});
        },
      });
      const first = host(path, { model: scriptedModel([{ calls: [{ tool: "pay" }] }]), tools: [stuck] });
      const { runId, conversationId } = await first.start("clerk", "pay");
      await begun.promise;
      await first.close();

      const ran: string[] = [];
      const second = host(path, { tools: [pay(ran)] });
      await second.open();
      await becomes(second, runId, "waiting");
      const [asked] = await second.approvals.list();
      expect(asked).toMatchObject({ kind: "unknown_outcome", choices: ["ran", "run", "give_up"] });
      const given = response === undefined ? { choice } : { choice, response };
      await second.approvals.decide(asked?.id ?? "", { by: "ann", ...given });
      await second.runs.result(runId);
      expect(ran).toHaveLength(runs);
      expect(JSON.stringify(await second.conversations.messages(conversationId))).toContain(text);
    }
  });
});

test("X3 a process that is asked to leave lets running tools finish: nobody has to be asked about them", async () => {
  const path = file();
  const ran: string[] = [];
  let begun = 0;
  const slow = defineTool({
    name: "pay",
    execute: async () => {
      begun += 1;
      await sleep(100);
      ran.push("paid");
      return "paid";
    },
  });
  const calls = [{ tool: "pay" }, { tool: "pay" }];
  const first = host(path, { model: scriptedModel([{ calls }, "never said here"]), tools: [slow] });
  const { runId } = await first.start("clerk", "pay");
  await until(() => (begun === 2 ? true : undefined));
  await first.close({ graceMs: 60_000 });
  expect(ran).toHaveLength(2);

  const second = host(path, { tools: [slow] });
  expect((await second.runs.result(runId)).output).toBe("done");
  expect(ran).toHaveLength(2);
  expect(await second.approvals.list({ state: "all" })).toEqual([]);
});
