import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { ApiProblem, type Client } from "../../src/client/index.ts";
import { problem } from "../../src/contract/index.ts";
import { openRoom, type Room } from "./support/room.ts";

let room: Room;
let operator: Client;
beforeAll(async () => {
  room = await openRoom();
  operator = room.client("operator");
});

const cron = (pattern: string, time_zone = "Europe/Berlin") =>
  ({ kind: "cron", pattern, time_zone }) as const;
const nightly = (name: string) => ({
  name,
  target: { kind: "agent", name: "clerk" } as const,
  input: "What is new?",
  trigger: cron("0 3 * * *"),
});

async function refused(asked: Promise<unknown>): Promise<ApiProblem> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiProblem)) throw new Error("it was not refused");
  return error;
}

test("a schedule is made, shown with its next five times, changed, switched, fired and deleted", async () => {
  const made = await operator.createSchedule({ body: nightly("report") });
  expect(made).toMatchObject({
    version: 1,
    words: "at 03:00 every day",
    missed: "once",
    overlap: "allow",
    enabled: true,
    webhook_url: null,
    created_by: "operator",
  });
  const params = { id: made.id };
  const shown = await room.client("viewer").getSchedule({ params });
  expect(shown.next_times).toHaveLength(5);
  expect(shown.next_times[0]).toBe(shown.next_at);
  expect((await operator.getSchedule({ params: { id: "report" } })).id).toBe(made.id);

  const changed = { ...nightly("report"), missed: "all", overlap: "skip", version: 1 } as const;
  expect(await operator.saveSchedule({ params, body: changed })).toMatchObject({ version: 2, missed: "all" });
  const stale = await refused(operator.saveSchedule({ params, body: changed }));
  expect([stale.status, stale.code]).toEqual([409, "version_conflict"]);

  const off = await operator.disableSchedule({ params, body: {} });
  expect(off).toMatchObject({ enabled: false, next_at: null });
  expect((await operator.getSchedule({ params })).next_times).toEqual([]);
  expect(await operator.enableSchedule({ params, body: { version: off.version } })).toMatchObject({
    enabled: true,
  });

  const fired = await operator.fireSchedule({ params }, { idempotencyKey: "now" });
  expect(fired).toMatchObject({ cause: "person", state: "started" });
  expect(await operator.fireSchedule({ params }, { idempotencyKey: "now" })).toEqual(fired);
  await room.trackside.runs.result(fired.run_id ?? "");
  const { items } = await operator.listFirings({ params });
  expect(items).toMatchObject([{ run_id: fired.run_id, run_status: "completed" }]);
  expect((await operator.listSchedules({})).items).toMatchObject([
    { name: "report", last: { state: "started" } },
  ]);
  const run = await operator.getRun({ params: { id: fired.run_id ?? "" } });
  expect(run.scope).toMatchObject({ tenant: "default", user: "operator", schedule: made.id });

  await operator.deleteSchedule({ params });
  expect((await refused(operator.getSchedule({ params }))).status).toBe(404);
});

test("a trigger is looked at before it is saved: its words and times, or everything that is wrong with it", async () => {
  const viewer = room.client("viewer");
  const good = await viewer.previewSchedule({ body: { trigger: cron("0 7 * * 1-5") } });
  expect(good).toMatchObject({ ok: true, issues: [], words: "at 07:00 on weekdays" });
  expect(good.next_times).toHaveLength(5);
  const never = await viewer.previewSchedule({ body: { trigger: cron("0 0 30 2 *") } });
  expect(never).toMatchObject({ ok: false, next_times: [], issues: [{ path: "trigger.pattern" }] });
  const nowhere = await viewer.previewSchedule({ body: { trigger: cron("0 0 * * *", "Mars/Olympus") } });
  expect(nowhere.issues).toMatchObject([{ path: "trigger.time_zone" }]);
  const wrong = await refused(
    operator.createSchedule({ body: { ...nightly(""), target: { kind: "agent", name: "nobody" } } }),
  );
  expect(wrong.status).toBe(422);
  expect(wrong.issues.map(({ path }) => path)).toEqual(["name", "target.name"]);
});

describe("webhooks", () => {
  const sign = (secret: string, body: string, at = Math.floor(Date.now() / 1000)) =>
    `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`;
  const post = (id: string, body: string, headers: Record<string, string>) =>
    room.send(`/triggers/${id}`, { method: "POST", body, headers });

  test("whoever has signed one starts a run, once for each delivery, without being signed in", async () => {
    const made = await operator.createSchedule({
      body: { ...nightly("hook"), trigger: { kind: "webhook" } },
    });
    const { id, secret = "", webhook_url } = made;
    expect(webhook_url).toBe(`${room.url}/api/v1/triggers/${id}`);
    expect(JSON.stringify(await operator.getSchedule({ params: { id } }))).not.toContain(secret);
    const body = JSON.stringify({ ticket: 17 });
    const headers = { "trackside-signature": sign(secret, body), "trackside-event-id": "e1" };
    const answer = await post(id, body, headers);
    const told = (await answer.json()) as { run_id: string; state: string };
    expect([answer.status, told.state]).toEqual([202, "started"]);
    expect(await (await post(id, body, headers)).json()).toEqual(told);
    const run = await operator.getRun({ params: { id: told.run_id } });
    expect(run.scope).toMatchObject({ user: "webhook:hook" });
    expect((await operator.listFirings({ params: { id } })).items).toHaveLength(1);

    const rotated = await operator.rotateScheduleSecret({ params: { id }, body: {} });
    expect(rotated.secret).not.toBe(secret);
    expect((await post(id, body, { "trackside-signature": sign(secret, body) })).status).toBe(401);
  });

  test("anybody else is told one thing: 401, and not what is wrong", async () => {
    const { id, secret = "" } = await operator.createSchedule({
      body: { ...nightly("other hook"), trigger: { kind: "webhook" } },
    });
    const cronId = (await operator.createSchedule({ body: nightly("by the clock") })).id;
    const old = Math.floor(Date.now() / 1000) - 301;
    const answers = [
      await post(id, "{}", {}),
      await post(id, "{}", { "trackside-signature": "nonsense" }),
      await post(id, "{}", { "trackside-signature": sign("wrong", "{}") }),
      await post(id, "{}", { "trackside-signature": sign(secret, "{ }") }),
      await post(id, "{}", { "trackside-signature": sign(secret, "{}", old) }),
      await post("schedule_unknown", "{}", { "trackside-signature": sign(secret, "{}") }),
      await post(cronId, "{}", { "trackside-signature": sign(secret, "{}") }),
    ];
    const said = await Promise.all(answers.map(async (answer) => problem.parse(await answer.json())));
    expect(new Set(said.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(said[0]).toMatchObject({ status: 401, code: "not_signed" });
    const signed = { "trackside-signature": sign(secret, "{}") };
    await operator.disableSchedule({ params: { id }, body: {} });
    expect(problem.parse(await (await post(id, "{}", signed)).json())).toMatchObject({
      code: "schedule_off",
    });
  });

  test("what is no JSON, too large, or comes too often is refused", async () => {
    const small = await openRoom({
      server: { limits: { body: 1000, trigger: { burst: 3, perSecond: 0.001 } } },
    });
    const send = (body: string, type = "application/json") =>
      small.send("/triggers/schedule_x", { method: "POST", body, headers: { "content-type": type } });
    expect((await send("x".repeat(1001))).status).toBe(413);
    expect((await send("{")).status).toBe(400);
    expect((await send("a=b", "application/x-www-form-urlencoded")).status).toBe(415);
    expect([(await send("{}")).status, (await send("{}")).status, (await send("{}")).status]).toEqual([
      401, 401, 401,
    ]);
    const answer = await send("{}");
    expect(answer.status).toBe(429);
    const seconds = Number(answer.headers.get("retry-after")); // less on a slow machine: time has passed
    expect(seconds).toBeGreaterThan(900);
    expect(seconds).toBeLessThanOrEqual(1000);
  });
});
