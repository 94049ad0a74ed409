import { AgentConfigError, TracksideError } from "trackside";
import { expect, test, vi } from "vitest";
import { rows } from "../../src/store/store.ts";
import { onBothStores } from "../agents/support/stores.ts";
import { ANN, clerk, HOUR, hourly, quietHost, runInputs, START, told, wall, webhook } from "./support.ts";

await onBothStores("schedules", (database) => {
  test("one is made, shows what it is and when it is due, and is found by name and by id", async () => {
    const { schedules } = quietHost((await database())(), { clock: wall() });
    const made = await schedules.create(hourly("news"), ANN);
    expect(made).toMatchObject({
      name: "news",
      version: 1,
      enabled: true,
      missed: "once",
      overlap: "allow",
      words: "every hour at 0 past",
      next_at: Date.parse("2026-06-15T08:00Z"),
      last: null,
      created_by: "ann",
    });
    expect(made).not.toHaveProperty("secret");
    expect(await schedules.get("news")).toEqual(made);
    expect(await schedules.get(made.id)).toEqual(made);
    expect(schedules.preview(made.trigger).times).toEqual(
      [1, 2, 3, 4, 5].map((n) => START + n * HOUR - 45 * 60_000),
    );
    await schedules.create(hourly("archive"), ANN);
    expect((await schedules.list()).map(({ name }) => name)).toEqual(["archive", "news"]);
    expect((await schedules.list({ search: "NEW" })).map(({ name }) => name)).toEqual(["news"]);
    expect((await schedules.list({ after: "archive", limit: 1 })).map(({ name }) => name)).toEqual(["news"]);
  });

  test("everything that is wrong with one is said at once, with what it may name", async () => {
    const { schedules } = quietHost((await database())());
    const wrong = schedules.create(
      {
        name: " x",
        target: { kind: "agent", name: "nobody" },
        input: "",
        trigger: { kind: "cron", pattern: "0 0 30 2 *", time_zone: "UTC" },
      },
      ANN,
    );
    await expect(wrong).rejects.toThrow(AgentConfigError);
    await expect(wrong).rejects.toMatchObject({
      issues: [
        { path: "name" },
        { path: "input" },
        { path: "trigger.pattern" },
        { path: "target.name", allowed: 'an agent ("clerk")' },
      ],
    });
    for (const [input, target] of [
      ["text", { kind: "workflow", name: "w" }],
      ["text", { kind: "plan", name: "clerk" }],
      [{ a: 1 }, { kind: "agent", name: "clerk" }],
      ["x".repeat(100_001), { kind: "agent", name: "clerk" }],
    ] as const)
      await expect(schedules.create(hourly("x", { input, target }), ANN)).rejects.toMatchObject({
        issues: expect.arrayContaining([expect.objectContaining({ path: "input" })]),
      });
    expect(await schedules.list()).toEqual([]);
  });

  test("names are one of a kind in a tenant, and tenants see their own only", async () => {
    const { schedules } = quietHost((await database())());
    const mine = await schedules.create(hourly("news"), ANN);
    await expect(schedules.create(hourly("news"), ANN)).rejects.toMatchObject({ code: "name_taken" });
    await schedules.create(hourly("news"), { ...ANN, tenant: "other" });
    expect(await schedules.list({ tenant: "other" })).toHaveLength(1);
    const other = { ...ANN, tenant: "other" };
    for (const work of [
      () => schedules.get(mine.id, other),
      () => schedules.delete(mine.id, other),
      () => schedules.fire(mine.id, other),
      () => schedules.history(mine.id, other),
      () => schedules.disable(mine.id, other),
      () => schedules.rotateSecret(mine.id, other),
    ])
      await expect(work()).rejects.toMatchObject({ code: "not_found" });
  });

  test("of two who save the same version the first wins, and the other is told who that was", async () => {
    const { schedules } = quietHost((await database())());
    await schedules.create(hourly("news"), ANN);
    await schedules.save("news", hourly("news", { input: "And now?" }), { by: "ben", version: 1 });
    const stale = schedules.save("news", hourly("news"), { ...ANN, version: 1 });
    await expect(stale).rejects.toMatchObject({
      code: "version_conflict",
      current: { version: 2, by: "ben" },
      message: expect.stringContaining('The schedule "news" is at version 2, saved by ben; 1 was given'),
    });
    expect(await schedules.get("news")).toMatchObject({ input: "And now?", updated_by: "ben" });
  });

  test("it starts its agent when it is due, and not before", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    await schedules.create(hourly("news"), ANN);
    await schedules.fireAllDue();
    expect(await told(trackside, "news")).toEqual([]);
    clock.time = Date.parse("2026-06-15T08:00:00Z");
    await schedules.fireAllDue();
    await schedules.fireAllDue();
    expect(await told(trackside, "news")).toEqual(["08:00 started"]);
    const { last, next_at } = await schedules.get("news");
    expect(next_at).toBe(Date.parse("2026-06-15T09:00Z"));
    const run = await trackside.runs.get(last?.run_id ?? "");
    expect(run).toMatchObject({ agent: "clerk", scope: { tenant: "default", user: "ann" } });
    await vi.waitFor(async () => expect((await schedules.get("news")).last?.run_status).toBe("completed"), {
      timeout: 50_000,
    });
  });

  test("times that were missed are left out, made up for once, or run each, and the history says so", async () => {
    const clock = wall();
    const make = await database();
    const before = quietHost(make(), { clock });
    for (const missed of ["skip", "once", "all"] as const)
      await before.schedules.create(hourly(missed, { missed }), ANN);
    await before.close();
    clock.time = Date.parse("2026-06-15T11:30:00Z");
    const trackside = quietHost(make(), { clock });
    await trackside.schedules.fireAllDue();
    expect(await told(trackside, "skip")).toEqual(["11:00 missed"]);
    expect(await told(trackside, "once")).toEqual(["10:00 missed", "11:00 started"]);
    expect(await told(trackside, "all")).toEqual([
      "08:00 started",
      "09:00 started",
      "10:00 started",
      "11:00 started",
    ]);
    const { last } = await trackside.schedules.get("skip");
    expect(last?.reason).toBe(
      "4 times passed while nobody was up (2026-06-15T08:00:00Z to 2026-06-15T11:00:00Z): left out.",
    );
  });

  test("of more than a hundred missed times the last hundred are run, and the rest is told", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const trigger = { kind: "cron", pattern: "* * * * *", time_zone: "UTC" } as const;
    await trackside.schedules.create(hourly("each", { missed: "all", trigger, overlap: "skip" }), ANN);
    clock.time += 3 * HOUR;
    await trackside.schedules.fireAllDue();
    const { firings } = await trackside.schedules.history("each", { limit: 1000 });
    expect(firings.filter(({ state }) => state !== "missed")).toHaveLength(100);
    expect(firings.find(({ state }) => state === "missed")?.reason).toMatch(
      /^80 times .* at most 100 are made up for/,
    );
  });

  test("while a run of it is open the next one is left out, where it says so", async () => {
    const clock = wall();
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const trackside = quietHost((await database())(), { clock, agents: [clerk(() => gate)] });
    const { schedules } = trackside;
    await schedules.create(hourly("one", { overlap: "skip" }), ANN);
    await schedules.create(hourly("many"), ANN);
    for (const time of ["08:00", "09:00"]) {
      clock.time = Date.parse(`2026-06-15T${time}:01Z`);
      await schedules.fireAllDue();
    }
    expect(await told(trackside, "one")).toEqual(["08:00 started", "09:00 skipped"]);
    expect(await told(trackside, "many")).toEqual(["08:00 started", "09:00 started"]);
    expect((await schedules.get("one")).last?.reason).toMatch(/^the run run_\w+ was still open$/);
    open();
    await vi.waitFor(
      async () => {
        const { firings } = await schedules.history("one");
        expect(firings.at(-1)?.run_status).toBe("completed");
      },
      { timeout: 50_000 },
    );
    clock.time += HOUR;
    await schedules.fireAllDue();
    expect(await told(trackside, "one")).toEqual(["08:00 started", "09:00 skipped", "10:00 started"]);
  });

  test("several processes that look at the same moment start one run for each time", async () => {
    const clock = wall();
    const make = await database();
    const hosts = [0, 1, 2].map(() => quietHost(make(), { clock }));
    const [first] = hosts;
    if (first === undefined) throw new Error("a host was to be here");
    await first.schedules.create(hourly("news", { missed: "all" }), ANN);
    for (let n = 1; n <= 3; n++) {
      clock.time += HOUR;
      await Promise.all(hosts.map(({ schedules }) => schedules.fireAllDue()));
    }
    expect(await told(first, "news")).toEqual(["08:00 started", "09:00 started", "10:00 started"]);
    expect(await runInputs(first)).toHaveLength(3);
  });

  test("a process that died between the row and the run, or between the run and its note: the run is started once", async () => {
    const clock = wall();
    const make = await database();
    const trackside = quietHost(make(), { clock });
    const { schedules, engine } = trackside;
    const { id } = await schedules.create(hourly("news"), ANN);
    clock.time = Date.parse("2026-06-15T08:00:00Z");
    await schedules.fireAllDue();
    const [{ run_id } = { run_id: null }] = (await schedules.history("news")).firings;
    // As it was before the run was noted down; and a second one, which has no run yet.
    const start = { target: { kind: "agent", name: "clerk" }, input: "What is new?" };
    const body = JSON.stringify({ v: 1, cause: "time", by: "ann", start, attempts: 0, reason: null });
    await engine.store.write(function* (db) {
      yield* rows(db.updateTable("schedule_firings").set({ state: "starting", run_id: null, body }));
      const at = Date.parse("2026-06-15T09:00:00Z");
      const row = { schedule_id: id, key: String(at), tenant: "default", scheduled_for: at, created_at: at };
      yield* rows(
        db
          .insertInto("schedule_firings")
          .values({ ...row, state: "starting", run_id: null, proof: null, body }),
      );
    });
    const next = quietHost(make(), { clock });
    await schedules.save("news", hourly("news", { input: "Something else" }), { ...ANN, version: 1 });
    await Promise.all([next.schedules.fireAllDue(), schedules.fireAllDue()]);
    const { firings } = await schedules.history("news");
    expect(firings.map(({ state }) => state)).toEqual(["started", "started"]);
    expect(firings.at(-1)?.run_id).toBe(run_id);
    expect(await runInputs(trackside)).toEqual(["What is new?", "What is new?"]);
  });

  test("a clock that is set back fires no time again; one that was far ahead does not silence the schedule", async () => {
    const clock = wall();
    const make = await database();
    const trackside = quietHost(make(), { clock });
    await trackside.schedules.create(hourly("news"), ANN);
    clock.time = Date.parse("2026-06-15T09:00:05Z");
    await trackside.schedules.fireAllDue();
    clock.time = Date.parse("2026-06-15T08:59:00Z");
    await trackside.schedules.fireAllDue();
    clock.time = Date.parse("2026-06-15T09:00:10Z");
    await trackside.schedules.fireAllDue();
    expect(await told(trackside, "news")).toEqual(["08:00 missed", "09:00 started"]);
    // A year ahead by mistake, then right again: it is due at the next hour, as if nothing had been.
    clock.time = Date.parse("2027-06-15T09:30:00Z");
    await trackside.schedules.fireAllDue();
    expect((await trackside.schedules.get("news")).next_at).toBe(Date.parse("2027-06-15T10:00:00Z"));
    clock.time = Date.parse("2026-06-15T09:31:00Z");
    await trackside.close();
    const next = quietHost(make(), { clock, claims: true });
    await next.open();
    await vi.waitFor(
      async () => expect((await next.schedules.get("news")).next_at).toBe(Date.parse("2026-06-15T10:00:00Z")),
      { timeout: 50_000 },
    );
  });

  test("switched off and on it does not fire what passed in between, and no time twice", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    await schedules.create(hourly("news", { missed: "all" }), ANN);
    clock.time = Date.parse("2026-06-15T08:00:01Z");
    await schedules.fireAllDue();
    expect(await schedules.disable("news", ANN)).toMatchObject({ enabled: false, next_at: null, version: 2 });
    clock.time = Date.parse("2026-06-15T09:30:00Z");
    await schedules.fireAllDue();
    clock.time = Date.parse("2026-06-15T07:59:00Z"); // and the clock goes back
    await schedules.enable("news", ANN);
    clock.time = Date.parse("2026-06-15T10:00:00Z");
    await schedules.fireAllDue();
    expect(await told(trackside, "news")).toEqual(["08:00 started", "09:00 started", "10:00 started"]);
    expect(await runInputs(trackside)).toHaveLength(3);
  });

  test("what was due stays due when its words are changed; another pattern begins anew", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    await schedules.create(hourly("news"), ANN);
    clock.time = Date.parse("2026-06-15T08:00:30Z");
    await schedules.save("news", hourly("news", { input: "Other words" }), { ...ANN, version: 1 });
    await schedules.fireAllDue();
    expect(await runInputs(trackside)).toEqual(["Other words"]);
    const trigger = { kind: "cron", pattern: "30 12 * * *", time_zone: "Europe/Berlin" } as const;
    const saved = await schedules.save("news", hourly("daily", { trigger }), { ...ANN, version: 2 });
    expect(saved).toMatchObject({ name: "daily", next_at: Date.parse("2026-06-15T10:30:00Z") });
  });

  test("what cannot be started is told in the history, and the next time is tried again", async () => {
    const clock = wall();
    const make = await database();
    await quietHost(make(), { clock }).schedules.create(hourly("news"), ANN);
    const trackside = quietHost(make(), { clock, agents: [] });
    clock.time = Date.parse("2026-06-15T08:00:00Z");
    await trackside.schedules.fireAllDue();
    expect((await trackside.schedules.get("news")).last).toMatchObject({
      state: "failed",
      reason: expect.stringContaining('There is no agent "clerk"'),
      run_id: null,
    });
    expect((await trackside.schedules.get("news")).next_at).toBe(Date.parse("2026-06-15T09:00:00Z"));
  });

  test("one whose zone is gone stops and says why; the others go on", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules, engine } = trackside;
    const { id } = await schedules.create(hourly("a lost one"), ANN);
    await schedules.create(hourly("news"), ANN);
    await engine.store.write(function* (db) {
      const [row] = yield* rows(db.selectFrom("schedules").selectAll().where("id", "=", id));
      const body = String(row?.body).replace('"UTC"', '"Atlantis/Capital"');
      yield* rows(db.updateTable("schedules").set({ body }).where("id", "=", id));
    });
    clock.time = Date.parse("2026-06-15T08:00:00Z");
    await schedules.fireAllDue();
    expect(await told(trackside, "news")).toEqual(["08:00 started"]);
    const lost = await schedules.get(id);
    expect(lost).toMatchObject({
      next_at: null,
      last: { state: "failed", reason: expect.stringContaining("Atlantis/Capital") },
    });
  });

  test("somebody fires it now: once for each request, whether it is on or off", async () => {
    const trackside = quietHost((await database())(), { clock: wall() });
    const { schedules } = trackside;
    await schedules.create(hourly("news", { enabled: false }), ANN);
    const one = await schedules.fire("news", { by: "ben", requestId: "r1" });
    expect(one).toMatchObject({ cause: "person", state: "started" });
    expect(await schedules.fire("news", { by: "ben", requestId: "r1" })).toMatchObject({
      run_id: one.run_id,
    });
    expect((await schedules.fire("news", { by: "ben" })).run_id).not.toBe(one.run_id);
    expect(await trackside.runs.get(one.run_id ?? "")).toMatchObject({ scope: { user: "ben" } });
  });

  test("the history has pages", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    await schedules.create(hourly("news"), ANN);
    for (let n = 0; n < 5; n++) await schedules.fire("news", { ...ANN, requestId: `r${n}` });
    const seen: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await schedules.history("news", { limit: 2, ...(after === undefined ? {} : { after }) });
      seen.push(...page.firings.map(({ key }) => key));
      after = page.next;
    }
    expect(seen).toEqual(["person:r4", "person:r3", "person:r2", "person:r1", "person:r0"]);
  });

  test("deleted it is gone with what it remembers; its runs stay, and the audit tells of all of it", async () => {
    const trackside = quietHost((await database())(), { clock: wall() });
    const { schedules } = trackside;
    const { id } = await schedules.create(webhook("hook"), ANN);
    const { run_id } = await schedules.fire("hook", ANN);
    await schedules.delete("hook", ANN);
    await expect(schedules.get("hook")).rejects.toThrow('There is no schedule "hook".');
    expect(await trackside.runs.get(run_id ?? "")).toMatchObject({ agent: "clerk" });
    const left = await trackside.engine.store.read(function* (db) {
      const firings = yield* rows(db.selectFrom("schedule_firings").select("key"));
      const secrets = yield* rows(db.selectFrom("secrets").select("name").where("name", "like", `%${id}%`));
      return [...firings, ...secrets];
    });
    expect(left).toEqual([]);
    const entries = await trackside.audit.list();
    const actions = entries.map(({ action }) => action).filter((action) => action.startsWith("schedule."));
    expect(actions).toEqual(["schedule.created", "schedule.fired", "schedule.deleted"]);
  });

  test("it is started again where the store was away for a moment", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules, engine } = trackside;
    await schedules.create(hourly("news"), ANN);
    clock.time = Date.parse("2026-06-15T08:00:00Z");
    const away = vi.spyOn(engine, "begin").mockRejectedValueOnce(new TracksideError("busy", "not now"));
    await schedules.fireAllDue();
    expect((await schedules.get("news")).last).toMatchObject({ state: "starting", reason: "not now" });
    await schedules.fireAllDue();
    expect((await schedules.get("news")).last).toMatchObject({ state: "started" });
    expect(away).toHaveBeenCalledTimes(2);
  });
});
