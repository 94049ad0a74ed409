import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Connection, ScheduleClient, WorkflowClient } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { type ScheduleFields, sqlite, Trackside } from "@trackside/host";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { temporal } from "../src/client/index.ts";
import { specOf } from "../src/client/schedules.ts";
import { temporalScheduleId } from "../src/common/wire.ts";
import { createWorker } from "../src/worker/index.ts";
import { bundleFile } from "./support/bundle-file.ts";
import { KEYS } from "./support/keys.ts";
import "./support/runtime.ts";

const ANN = { by: "ann" };
const PATIENT = { timeout: 240_000, interval: 50 };

const spec = (pattern: string, moved: readonly number[] = []) =>
  specOf({ id: "s", tenant: "t", name: "n", enabled: true, pattern, time_zone: "Europe/Berlin", moved });

test("Temporal is told at least the times of a pattern, in its own words", () => {
  expect(spec("0 7 * * 1-5").cronExpressions).toEqual(["0 0 7 * * 1-5 *"]);
  expect(spec("*/10 * * * * *").cronExpressions).toEqual(["*/10 * * * * * *"]);
  expect(spec("0 7 * * mon,wed").cronExpressions).toEqual(["0 0 7 * * MON,WED *"]);
  // Either day, as cron has it; and what it has no words for, every day.
  expect(spec("0 7 1 * MON").cronExpressions).toEqual(["0 0 7 1 * * *", "0 0 7 * * MON *"]);
  expect(spec("0 7 L * *").cronExpressions).toEqual(["0 0 7 * * * *"]);
  expect(spec("0 7 * * FRI#2").cronExpressions).toEqual(["0 0 7 * * * *"]);
  // And the moment clocks are set forward over what the pattern says.
  expect(spec("30 2 * * *", [Date.parse("2026-03-29T01:00Z")]).calendars).toMatchObject([
    { year: 2026, month: "MARCH", dayOfMonth: 29, hour: 3, minute: 0, second: 0 },
  ]);
});

await serviceSuite("schedules on Temporal", sharedTemporal, ({ address }) => {
  const taskQueue = `schedules-${randomUUID()}`;
  const dir = temporaryFolder("schedules");
  const stops: (() => Promise<unknown>)[] = [];
  let host: Trackside;
  let clocks: ScheduleClient;
  let workflows: WorkflowClient;
  const clerk = () => new Agent({ name: "clerk", model: scriptedModel(["Good day."], { loop: true }) });
  const fields = (name: string, pattern: string): ScheduleFields => ({
    name,
    target: { kind: "agent", name: "clerk" },
    input: "What is new?",
    trigger: { kind: "cron", pattern, time_zone: "UTC" },
  });

  beforeAll(async () => {
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    clocks = new ScheduleClient({ connection });
    workflows = new WorkflowClient({ connection });
    const of = { store: sqlite(join(dir, "t.db"), { sync: "normal" }), keyring: KEYS, agents: [clerk()] };
    host = new Trackside({ ...of, engine: temporal({ connection, taskQueue }) });
    // It has the store and nothing that says where runs are driven, as `trackside worker` has it.
    const store = sqlite(join(dir, "t.db"), { sync: "normal" });
    const theirs = new Trackside({ ...of, agents: [clerk()], store, claims: false });
    const options = { workflowBundle: { codePath: await bundleFile() } };
    const worker = await createWorker({ connection: native, taskQueue, trackside: theirs, options });
    const running = worker.run();
    stops.push(
      async () => {
        worker.shutdown();
        await running;
      },
      () => theirs.close(),
      () => host.close(),
      () => connection.close(),
      () => native.close(),
    );
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  const described = (id: string) => clocks.getHandle(temporalScheduleId(taskQueue, id)).describe();

  test("X9 one is made, paused, changed and deleted on the server as it is in the store", async () => {
    const made = await host.schedules.create(fields("nightly", "0 3 * * *"), ANN);
    expect(await described(made.id)).toMatchObject({ state: { paused: false, note: "nightly (default)" } });
    await host.schedules.disable("nightly", ANN);
    expect((await described(made.id)).state.paused).toBe(true);
    await host.schedules.save("nightly", { ...fields("daily", "30 2 * * *") }, { ...ANN, version: 2 });
    const { state, spec: now } = await described(made.id);
    expect(state).toMatchObject({ paused: false, note: "daily (default)" });
    expect(now.calendars?.[0]).toMatchObject({ hour: [{ start: 2 }], minute: [{ start: 30 }] });
    await host.schedules.delete("daily", ANN);
    await expect(described(made.id)).rejects.toThrow(/not found/i);
  });

  test("X9 what is due when Temporal says so is started once, on Temporal; what is not due is not", async () => {
    const { id } = await host.schedules.create(fields("yearly", "0 0 1 1 *"), ANN);
    const handle = clocks.getHandle(temporalScheduleId(taskQueue, id));
    await handle.trigger();
    const { workflowId, firstExecutionRunId } = await vi.waitFor(async () => {
      const [fired] = (await handle.describe()).info.recentActions;
      if (fired === undefined) throw new Error("it was not fired yet");
      return fired.action.workflow;
    }, PATIENT);
    await workflows.getHandle(workflowId, firstExecutionRunId).result();
    expect((await host.schedules.history("yearly")).firings).toEqual([]);

    const often = await host.schedules.create(fields("often", "* * * * * *"), ANN);
    const started = await vi.waitFor(async () => {
      const { firings } = await host.schedules.history("often");
      const [first] = firings.filter(({ run_status }) => run_status === "completed");
      if (first === undefined) throw new Error("nothing has come of it yet");
      return first;
    }, PATIENT);
    await host.schedules.disable("often", ANN);
    const run = await host.runs.get(started.run_id ?? "");
    expect(run).toMatchObject({ agent: "clerk", scope: { user: "ann", schedule: often.id } });
    const { firings } = await host.schedules.history("often", { limit: 1000 });
    const times = firings.filter(({ state }) => state === "started").map((one) => one.scheduled_for);
    expect(new Set(times).size).toBe(times.length);
    const engines = await host.engine.store.read(function* (db) {
      return (yield db.selectFrom("runs").select("engine").distinct().compile()).rows;
    });
    expect(engines).toEqual([{ engine: `temporal:default/${taskQueue}` }]);
  });

  test("X9 one that was deleted behind the server's back is forgotten there when it is next asked for", async () => {
    const { id } = await host.schedules.create(fields("gone", "0 3 * * *"), ANN);
    await host.engine.store.write(function* (db) {
      yield db.deleteFrom("schedules").where("id", "=", id).compile();
    });
    await clocks.getHandle(temporalScheduleId(taskQueue, id)).trigger();
    await vi.waitFor(() => expect(described(id)).rejects.toThrow(/not found/i), PATIENT);
  });
});
