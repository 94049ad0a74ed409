import assert from "node:assert/strict";
import { holdsFence } from "../fence.ts";
import { type Builder, type CommitEntry, changed, rows, type Store } from "../store.ts";
import { aRun, behaviour, insertRuns, journal, opened, refused, wake, wakes } from "./behaviour.ts";

const entry = (run_id: string, ord: number, fence = 1, body = `{"v":1,"n":${ord}}`): CommitEntry => ({
  run_id,
  ord,
  seq: ord * 2,
  body,
  fence,
});

/** Takes the run over, and answers how many deliveries the new owner found: whatever comes later must not land. */
const claim = (run: string, fence: number) =>
  function* (db: Builder) {
    yield* changed(db.updateTable("runs").set({ fence }).where("id", "=", run));
    return (yield* rows(db.selectFrom("commits").select("ord").where("run_id", "=", run))).length;
  };

/** The journal: fenced, grouped, never half. */
export const appends = [
  behaviour("X4 an append with the run's fence lands, one with an older fence does not", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("r"));
    assert.equal(await store.append(entry("r", 1)), true);
    await store.write(claim("r", 2));
    assert.equal(await store.append(entry("r", 2)), false);
    assert.equal(await store.append(entry("r", 2, 2)), true);
    assert.equal(await store.append(entry("nobody", 1)), false, "nor of a run that is not there");
    assert.deepEqual(await journal(store, "r"), ['1:{"v":1,"n":1}', '2:{"v":1,"n":2}']);
  }),

  behaviour("X4 work beside an append lands with it, or not at all", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("r"));
    assert.equal(await store.append(entry("r", 1), wake("one")), true);
    assert.equal(await store.append(entry("r", 2, 7), wake("stale")), false);
    const problem = new Error("no");
    const failing = store.append(entry("r", 2), function* (db) {
      yield* wake("failed")(db);
      throw problem;
    });
    await assert.rejects(failing, (error) => error === problem);
    assert.deepEqual(await wakes(store), ["one"]);
    assert.deepEqual(await journal(store, "r"), ['1:{"v":1,"n":1}']);
  }),

  behaviour("a delivery that is there already is refused, and harms no other of that turn", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("r", "s"));
    await store.append(entry("r", 1));
    const [again, next, other, stale] = await Promise.allSettled([
      store.append(entry("r", 1, 1, '{"v":1,"other":true}')),
      store.append(entry("r", 2)),
      store.append(entry("s", 1)),
      store.append(entry("s", 2, 9)),
    ]);
    assert.equal(again?.status === "rejected" && again.reason.fault, "conflict");
    assert.deepEqual(
      [next, other, stale].map((result) => result?.status === "fulfilled" && result.value),
      [true, true, false],
    );
    assert.deepEqual(await journal(store, "r"), ['1:{"v":1,"n":1}', '2:{"v":1,"n":2}']);
  }),

  behaviour(
    "X4 while runs are claimed under load, nothing lands that the claimant has not read",
    async (place) => {
      const [owner, claimant] = [await opened(place), await opened(place)];
      const runs = Array.from({ length: 20 }, (_, i) => `r${i}`);
      await owner.write(insertRuns(...runs));
      const landed = new Map<string, number>();
      const appending = runs.map(async (run) => {
        for (
          let ord = 1;
          await owner.append(entry(run, ord), ord % 3 === 0 ? wake(run) : undefined);
          ord += 1
        )
          landed.set(run, ord);
      });
      const found = new Map<string, number>();
      for (const run of runs) found.set(run, await claimant.write(claim(run, 2)));
      await Promise.all(appending);
      for (const run of runs) {
        assert.equal(landed.get(run) ?? 0, found.get(run), `${run}: acknowledged and found by the claimant`);
        assert.equal((await journal(owner, run)).length, found.get(run), `${run}: there at the end`);
      }
    },
  ),

  behaviour("X4 other work of a run checks its fence in the same transaction", async (place) => {
    const [owner, claimant] = [await opened(place), await opened(place)];
    await owner.write(insertRuns("r"));
    const note = (store: Store, fence: number) =>
      store.write(function* (db) {
        if (!(yield* holdsFence(db, "r", fence))) return false;
        yield* wake(`by ${fence}`)(db);
        return true;
      });
    assert.equal(await note(owner, 1), true);
    const [, ...stale] = await Promise.all([claimant.write(claim("r", 2)), note(owner, 1), note(owner, 1)]);
    const before = (await wakes(owner)).filter((what) => what === "by 1").length;
    assert.equal(before, 1 + stale.filter(Boolean).length);
    assert.equal(await note(owner, 1), false);
    assert.equal(await note(claimant, 2), true);
  }),

  behaviour("2,000 appends at once all land, each once", async (place) => {
    const store = await opened(place);
    const runs = Array.from({ length: 400 }, (_, i) => `r${i}`);
    await store.write(insertRuns(...runs));
    const entries = runs.flatMap((run) => [1, 2, 3, 4, 5].map((ord) => entry(run, ord)));
    const landed = await Promise.all(entries.map((each) => store.append(each)));
    assert.deepEqual(new Set(landed), new Set([true]));
    const there = await store.read((db) => rows(db.selectFrom("commits").select(["run_id", "ord", "seq"])));
    assert.equal(there.length, 2_000);
    assert.equal(new Set(there.map(({ run_id, ord }) => `${run_id} ${ord}`)).size, 2_000);
    assert.deepEqual(
      (await journal(store, "r7")).map((line) => line.split(":")[0]),
      ["1", "2", "3", "4", "5"],
    );
  }),

  behaviour("any text that JSON can carry comes back as it was", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("r"));
    const texts = [
      "",
      "\0",
      "a\0b",
      "\ud800",
      "\udc00 alone",
      "🦤 é ß \u2028 \u2029",
      "'\"\\\n\r\t",
      "\\u0000",
      "{}",
      "NULL",
    ];
    for (const [i, text] of texts.entries()) {
      const body = JSON.stringify({ v: 1, text });
      assert.equal(await store.append(entry("r", i, 1, body)), true);
      await store.write((db) => rows(db.insertInto("definitions").values({ digest: `d${i}`, body })));
    }
    const back = await store.read(function* (db) {
      const journalled = yield* rows(db.selectFrom("commits").select("body").orderBy("ord"));
      const defined = yield* rows(db.selectFrom("definitions").selectAll());
      return { journalled, defined: texts.map((_, i) => defined.find(({ digest }) => digest === `d${i}`)) };
    });
    for (const stored of [back.journalled, back.defined])
      assert.deepEqual(
        stored.map((row) => JSON.parse(row?.body ?? "null").text),
        texts,
      );
  }),

  behaviour("large bodies come back whole, beside small ones", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("r", "s"));
    const large = JSON.stringify({ v: 1, text: 'ä"\\'.repeat(1_500_000) });
    const landed = await Promise.all([
      store.append(entry("r", 1, 1, large)),
      store.append(entry("s", 1)),
      store.append(entry("r", 2, 1, large)),
      store.append(entry("r", 3)),
    ]);
    assert.deepEqual(landed, [true, true, true, true]);
    const lines = await journal(store, "r");
    assert.deepEqual(
      lines.map((line) => line.length),
      [large.length + 2, large.length + 2, 13 + 2],
    );
    assert.ok(lines[0] === `1:${large}`);
  }),

  behaviour("a run that is deleted takes no more deliveries", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("r"));
    await store.write((db) => rows(db.deleteFrom("runs").where("id", "=", "r")));
    assert.equal(await store.append(entry("r", 1)), false);
    await store.write((db) => rows(db.insertInto("runs").values(aRun("r", { fence: 3 }))));
    assert.equal(await store.append(entry("r", 1, 3)), true);
  }),

  behaviour("a store that is closed, or not open, says so", async (place) => {
    const store = place.store();
    await refused(store.append(entry("r", 1)), "closed", /not open/);
    await refused(store.write(wake("w")), "closed", /open\(\)/);
    await refused(store.read(wake("w")), "closed", /not open/);
    await store.open();
    const last = store.write(wake("last"));
    await last;
    await store.close();
    await store.close();
    await refused(store.append(entry("r", 1)), "closed", /is closed/);
    await refused(store.open(), "closed", /is closed/);
    assert.deepEqual(await wakes(await opened(place)), ["last"]);
  }),
];
