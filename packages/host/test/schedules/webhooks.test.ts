import { describe, expect, test } from "vitest";
import type { Delivery, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/store.ts";
import { signWebhook } from "../../src/webhooks/signature.ts";
import { onBothStores } from "../agents/support/stores.ts";
import { ANN, clerk, HOUR, hourly, quietHost, runInputs, wall, webhook } from "./support.ts";

interface Sent {
  readonly secret: string;
  readonly at: number;
  readonly id?: string;
}

/** A webhook as a sender makes it. */
function signed(body: unknown, { secret, at, id }: Sent): Delivery {
  const text = JSON.stringify(body);
  return {
    bytes: Buffer.from(text),
    body,
    signature: signWebhook(text, [secret], Math.floor(at / 1000)),
    id: id ?? null,
  };
}

async function made(trackside: Trackside, more: Parameters<typeof webhook>[1] = {}) {
  const { id, secret = "" } = await trackside.schedules.create(webhook("hook", more), ANN);
  return { id, secret };
}

await onBothStores("webhooks that start something", (database) => {
  test("the secret is shown when it is made and never again; a signed body is what the agent is told", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    const { id, secret } = await made(trackside, { input: "Triage this: {{body}}" });
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(JSON.stringify([await schedules.get("hook"), await schedules.list()])).not.toContain(secret);
    expect(JSON.stringify(await trackside.secrets.list("default"))).not.toContain(id);
    const kept = await trackside.engine.store.read((db) => rows(db.selectFrom("secrets").selectAll()));
    expect(Buffer.from(JSON.stringify(kept)).includes(secret)).toBe(false);

    const firing = await schedules.deliver(id, signed({ ticket: 17 }, { secret, at: clock.time, id: "e1" }));
    expect(firing).toMatchObject({ cause: "webhook", state: "started", run_id: expect.any(String) });
    expect(await runInputs(trackside)).toEqual(['Triage this: {\n  "ticket": 17\n}']);
    const run = await trackside.runs.get(firing.run_id ?? "");
    expect(run).toMatchObject({ scope: { tenant: "default", user: "webhook:hook" } });
  });

  test("the same delivery again, or a copy of it under another id, answers the same run", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    const { id, secret } = await made(trackside);
    const first = await schedules.deliver(id, signed({ n: 1 }, { secret, at: clock.time, id: "e1" }));
    clock.time += 60_000;
    const again = signed({ n: 1 }, { secret, at: clock.time, id: "e1" }); // signed anew, as a sender does that tries again
    const copy = { ...signed({ n: 1 }, { secret, at: clock.time - 60_000 }), id: "e2" };
    const bare = { ...copy, id: null };
    for (const delivery of [again, copy, bare])
      expect(await schedules.deliver(id, delivery)).toMatchObject({ run_id: first.run_id });
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => schedules.deliver(id, signed({ n: 2 }, { secret, at: clock.time, id: "e3" }))),
    );
    expect(new Set(answers.map(({ run_id }) => run_id)).size).toBe(1);
    expect(await runInputs(trackside)).toHaveLength(2);
  });

  test("whoever has not signed it is told one thing, whatever is wrong", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    const { id, secret } = await made(trackside);
    const cron = await schedules.create(hourly("cron"), ANN);
    const good = signed({ n: 1 }, { secret, at: clock.time });
    const refused: readonly (readonly [string, Delivery])[] = [
      [id, { ...good, signature: null }],
      [id, { ...good, signature: "" }],
      [id, { ...good, signature: "t=1,v1=zz" }],
      [id, signed({ n: 1 }, { secret: "whsec_other", at: clock.time })],
      [id, signed({ n: 1 }, { secret: "none", at: clock.time })],
      [id, { ...good, bytes: Buffer.from('{"n":2}') }],
      [id, signed({ n: 1 }, { secret, at: clock.time - 301_000 })],
      [id, signed({ n: 1 }, { secret, at: clock.time + 301_000 })],
      ["schedule_unknown", good],
      ["schedule_unknown", signed({ n: 1 }, { secret: "none", at: clock.time })],
      [cron.id, good],
      [cron.id, signed({ n: 1 }, { secret: "none", at: clock.time })],
      ["hook", good],
    ];
    const words = new Set<string>();
    for (const [to, delivery] of refused)
      await schedules.deliver(to, delivery).then(
        () => words.add("accepted"),
        (error: Error & { code?: string }) => words.add(`${error.code}: ${error.message}`),
      );
    expect([...words]).toEqual([expect.stringMatching(/^not_signed: /)]);
    expect(await runInputs(trackside)).toEqual([]);
  });

  test("a new secret ends the old one at once, or after the time it is given", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    const { id, secret } = await made(trackside);
    const send = (by: string, n: number) =>
      schedules.deliver(id, signed({ n }, { secret: by, at: clock.time }));
    const second = (await schedules.rotateSecret("hook", ANN)).secret ?? "";
    expect(second).not.toBe(secret);
    await expect(send(secret, 1)).rejects.toMatchObject({ code: "not_signed" });
    await send(second, 2);
    const third = (await schedules.rotateSecret("hook", { ...ANN, keepMs: HOUR })).secret ?? "";
    await send(second, 3);
    await send(third, 4);
    clock.time += HOUR;
    await expect(send(second, 5)).rejects.toMatchObject({ code: "not_signed" });
    await send(third, 6);
    await schedules.create(hourly("cron"), ANN);
    await expect(schedules.rotateSecret("cron", ANN)).rejects.toThrow(/waits for no webhook/);
  });

  test("switched off it says so to who has signed; changed to the clock it has no secret any more, and back a new one", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { schedules } = trackside;
    const { id, secret } = await made(trackside);
    const send = (by: string, n: number) =>
      schedules.deliver(id, signed({ n }, { secret: by, at: clock.time }));
    await schedules.disable("hook", ANN);
    await expect(send(secret, 1)).rejects.toMatchObject({ code: "schedule_off" });
    await schedules.save("hook", hourly("hook"), { ...ANN, version: 2 });
    await expect(send(secret, 2)).rejects.toMatchObject({ code: "not_signed" });
    const back = await schedules.save("hook", webhook("hook"), { ...ANN, version: 3 });
    expect(back.secret).toMatch(/^whsec_/);
    await expect(send(secret, 3)).rejects.toMatchObject({ code: "not_signed" });
    expect(await send(back.secret ?? "", 4)).toMatchObject({ state: "started" });
  });

  test("while a run of it is open another one is left out, where it says so, and the sender is told", async () => {
    const clock = wall();
    const never = new Promise<void>(() => {});
    const trackside = quietHost((await database())(), { clock, agents: [clerk(() => never)] });
    const { id, secret } = await made(trackside, { overlap: "skip" });
    const send = (n: number) => trackside.schedules.deliver(id, signed({ n }, { secret, at: clock.time }));
    const first = await send(1);
    expect(await send(2)).toMatchObject({ state: "skipped", run_id: null, reason: /still open/ });
    expect(await send(1)).toMatchObject({ state: "started", run_id: first.run_id });
  });

  test("what came is kept no longer than until its run is started", async () => {
    const clock = wall();
    const trackside = quietHost((await database())(), { clock });
    const { id, secret } = await made(trackside, { input: null });
    await trackside.schedules.deliver(id, signed({ word: "confidential" }, { secret, at: clock.time }));
    const kept = await trackside.engine.store.read((db) =>
      rows(db.selectFrom("schedule_firings").selectAll()),
    );
    expect(JSON.stringify(kept)).not.toContain("confidential");
    expect(await runInputs(trackside)).toEqual(['{\n  "word": "confidential"\n}']);
  });
});

describe("ids of deliveries", () => {
  test("are 1 to 200 visible characters", async () => {
    const { sqliteDatabase } = await import("../agents/support/stores.ts");
    const clock = wall();
    const trackside = quietHost(sqliteDatabase()(), { clock });
    const { id, secret } = await made(trackside);
    for (const wrong of ["", "a b", "x".repeat(201), "é"])
      await expect(
        trackside.schedules.deliver(id, { ...signed({}, { secret, at: clock.time }), id: wrong }),
      ).rejects.toMatchObject({ code: "delivery_invalid" });
    const longest = { ...signed({}, { secret, at: clock.time }), id: "x".repeat(200) };
    const { state, run_id } = await trackside.schedules.deliver(id, longest);
    expect(state).toBe("started");
    expect(await trackside.schedules.deliver(id, longest)).toMatchObject({ run_id });
  });
});
