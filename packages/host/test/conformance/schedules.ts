import assert from "node:assert/strict";
import { Agent } from "trackside";
import { behaviour, scriptedModel } from "trackside/testing";
import type { Delivery, ScheduleFields, Trackside } from "../../src/index.ts";
import { signWebhook } from "../../src/webhooks/signature.ts";
import type { HostOptions, HostStage } from "./stage.ts";
import { gate, rejection, until } from "./waiting.ts";
import { wall } from "./wall.ts";

const ANN = { by: "ann" };
const HOURLY: ScheduleFields = {
  name: "news",
  target: { kind: "agent", name: "clerk" },
  input: "What is new?",
  trigger: { kind: "cron", pattern: "0 * * * *", time_zone: "UTC" },
};
const WEBHOOK: ScheduleFields = { ...HOURLY, trigger: { kind: "webhook" } };
const at = (time: string) => Date.parse(`2026-06-15T${time}:00Z`);

/** A host on a clock that the check sets. */
async function scheduling(stage: HostStage, options: Partial<HostOptions> = {}) {
  const clock = wall();
  const model = scriptedModel(["Nothing."], { loop: true });
  const host = await stage.host({ agents: [new Agent({ name: "clerk", model })], clock, ...options });
  return { host, schedules: host.schedules, clock, model };
}

/** The firings of a schedule, the oldest first. */
async function firingsOf({ schedules }: Trackside, name = "news"): Promise<readonly string[]> {
  const { firings } = await schedules.history(name);
  return firings
    .map(({ scheduled_for, state }) => `${new Date(scheduled_for).toISOString().slice(11, 16)} ${state}`)
    .reverse();
}

async function completed({ schedules }: Trackside, count: number, name = "news"): Promise<void> {
  await until(`${count} completed runs`, async () => {
    const { firings } = await schedules.history(name);
    return firings.filter(({ run_status }) => run_status === "completed").length === count || undefined;
  });
}

function signed(body: object, secret: string, time: number, id: string | null = null): Delivery {
  const text = JSON.stringify(body);
  return {
    bytes: Buffer.from(text),
    body,
    signature: signWebhook(text, [secret], Math.floor(time / 1000)),
    id,
  };
}

/** Schedules and webhooks that start runs. */
export const schedules = [
  behaviour<HostStage>(
    "X10 a due schedule starts one run, however many look, and none before its time",
    ["schedules"],
    async (stage) => {
      const { host, clock } = await scheduling(stage);
      await host.schedules.create(HOURLY, ANN);
      await host.schedules.fireAllDue();
      assert.deepEqual(await firingsOf(host), []);
      clock.time = at("08:00");
      await Promise.all([host, host, host].map((one) => one.schedules.fireAllDue()));
      assert.deepEqual(await firingsOf(host), ["08:00 started"]);
      await completed(host, 1);
      const { last, next_at } = await host.schedules.get("news");
      assert.equal(next_at, at("09:00"));
      const run = await host.runs.get(last?.run_id ?? "");
      assert.deepEqual([run.agent, run.scope["user"]], ["clerk", "ann"]);
    },
  ),

  behaviour<HostStage>(
    "X10 times that passed while no host was up are skipped, made up for once, or run each",
    ["schedules"],
    async (stage) => {
      const { host, clock } = await scheduling(stage);
      for (const missed of ["skip", "once", "all"] as const)
        await host.schedules.create({ ...HOURLY, name: missed, missed }, ANN);
      clock.time = at("10:30");
      await host.schedules.fireAllDue();
      assert.deepEqual(await firingsOf(host, "skip"), ["10:00 missed"]);
      assert.deepEqual(await firingsOf(host, "once"), ["09:00 missed", "10:00 started"]);
      assert.deepEqual(await firingsOf(host, "all"), ["08:00 started", "09:00 started", "10:00 started"]);
      await completed(host, 1, "once");
      await completed(host, 3, "all");
    },
  ),

  behaviour<HostStage>(
    "X7 while a run of a schedule is open, the next time is skipped or allowed, as the schedule says",
    ["schedules"],
    async (stage) => {
      const held = gate();
      const model = scriptedModel([() => held.opened.then(() => "Nothing.")], { loop: true });
      const { host, clock } = await scheduling(stage, { agents: [new Agent({ name: "clerk", model })] });
      await host.schedules.create({ ...HOURLY, overlap: "skip" }, ANN);
      await host.schedules.create({ ...HOURLY, name: "many", overlap: "allow" }, ANN);
      for (const time of ["08:00", "09:00"]) {
        clock.time = at(time);
        await host.schedules.fireAllDue();
      }
      assert.deepEqual(await firingsOf(host), ["08:00 started", "09:00 skipped"]);
      assert.deepEqual(await firingsOf(host, "many"), ["08:00 started", "09:00 started"]);
      held.open();
      await completed(host, 1);
      await completed(host, 2, "many");
      clock.time = at("10:00");
      await host.schedules.fireAllDue();
      assert.deepEqual(await firingsOf(host), ["08:00 started", "09:00 skipped", "10:00 started"]);
      await completed(host, 2);
    },
  ),

  behaviour<HostStage>(
    "X10 a paused schedule starts nothing by the clock, a person starts it once per request, and it goes on when enabled",
    ["schedules"],
    async (stage) => {
      const { host, clock } = await scheduling(stage);
      await host.schedules.create(HOURLY, ANN);
      await host.schedules.disable("news", ANN);
      clock.time = at("08:00");
      await host.schedules.fireAllDue();
      assert.deepEqual(await firingsOf(host), []);
      const fired = await Promise.all(
        [1, 2].map(() => host.schedules.fire("news", { ...ANN, requestId: "r1" })),
      );
      assert.equal(new Set(fired.map(({ run_id }) => run_id)).size, 1);
      await completed(host, 1);
      await host.schedules.enable("news", ANN);
      clock.time = at("09:00");
      await host.schedules.fireAllDue();
      assert.equal((await firingsOf(host)).at(-1), "09:00 started");
      await completed(host, 2);
    },
  ),

  behaviour<HostStage>(
    "X10 a signed webhook starts one run, told its body; an unsigned or copied one starts none",
    ["schedules"],
    async (stage) => {
      const { host, clock, model } = await scheduling(stage);
      const { id, secret = "" } = await host.schedules.create({ ...WEBHOOK, input: "Triage: {{body}}" }, ANN);
      const deliver = (delivery: Delivery) => host.schedules.deliver(id, delivery);
      const first = signed({ ticket: 17 }, secret, clock.time, "e1");
      assert.equal((await rejection(deliver({ ...first, signature: null }))).code, "not_signed");
      const { run_id } = await deliver(first);
      assert.equal((await deliver({ ...first, id: "e2" })).run_id, run_id);
      await completed(host, 1);
      assert.equal((await host.runs.list()).length, 1);
      assert.match(JSON.stringify(model.requests[0]?.prompt.at(-1)), /Triage: .*ticket.*17/);
      await host.schedules.disable("news", ANN);
      assert.equal((await rejection(deliver(signed({ n: 2 }, secret, clock.time)))).code, "schedule_off");
    },
  ),

  behaviour<HostStage>("W2 a schedule runs the active plan of an agent", ["schedules"], async (stage) => {
    const { host, clock } = await scheduling(stage);
    const steps = [{ id: "a", title: "Look" }];
    const { id } = await host.plans.create("clerk", { goal: "g", steps }, ANN);
    await host.schedules.create({ ...HOURLY, target: { kind: "plan", name: "clerk" }, input: null }, ANN);
    clock.time = at("08:00");
    await host.schedules.fireAllDue();
    await until(
      "the plan is completed",
      async () => (await host.plans.get(id)).state === "completed" || undefined,
    );
    assert.deepEqual(await firingsOf(host), ["08:00 started"]);
  }),
];
