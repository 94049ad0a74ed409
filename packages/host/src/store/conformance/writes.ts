import assert from "node:assert/strict";
import { changed, rows } from "../store.ts";
import { behaviour, insertRuns, opened, refused, wake, wakes } from "./behaviour.ts";

/** Transactions: whole or not at all, each by itself, many at once. */
export const writes = [
  behaviour(
    "what was written is there for every reader, and the work's answer is the caller's",
    async (place) => {
      const [one, other] = [await opened(place), await opened(place)];
      const answer = await one.write(function* (db) {
        yield* wake("hello")(db);
        const seen = yield* rows(db.selectFrom("wakes").selectAll());
        return seen.map(({ n, what, at }) => ({ n, what, at }));
      });
      assert.deepEqual(answer, [{ n: 1, what: "hello", at: 1 }]);
      assert.deepEqual(await wakes(one), ["hello"]);
      assert.deepEqual(await wakes(other), ["hello"]);
    },
  ),

  behaviour("work that throws leaves nothing, and its own error is what the caller gets", async (place) => {
    const store = await opened(place);
    const problem = new Error("changed my mind");
    const work = store.write(function* (db) {
      yield* wake("gone")(db);
      throw problem;
    });
    await assert.rejects(work, (error) => error === problem);
    assert.deepEqual(await wakes(store), []);
  }),

  behaviour(
    "of many writes in one turn each lands whole or not at all, and none harms another",
    async (place) => {
      const store = await opened(place);
      await store.write(insertRuns("taken"));
      const all = Array.from({ length: 40 }, (_, i) =>
        store.write(function* (db) {
          yield* wake(`${i} begins`)(db);
          if (i % 4 === 1) throw new Error(`no ${i}`);
          if (i % 4 === 2) yield* insertRuns("taken")(db);
          yield* wake(`${i} ends`)(db);
          return i;
        }),
      );
      const settled = await Promise.allSettled(all);
      settled.forEach((result, i) => {
        if (i % 4 === 1) assert.equal(result.status === "rejected" && result.reason.message, `no ${i}`);
        else if (i % 4 === 2) assert.equal(result.status === "rejected" && result.reason.fault, "conflict");
        else assert.equal(result.status === "fulfilled" && result.value, i);
      });
      const there = await wakes(store);
      const expected = [...Array(40).keys()].filter((i) => i % 4 === 0 || i % 4 === 3);
      assert.deepEqual([...there].sort(), expected.flatMap((i) => [`${i} begins`, `${i} ends`]).sort());
    },
  ),

  behaviour("a query that fails ends the operation, even one that catches the error", async (place) => {
    const store = await opened(place);
    await store.write(insertRuns("taken"));
    let tidied = false;
    const work = store.write(function* (db) {
      yield* wake("before")(db);
      try {
        yield* insertRuns("taken")(db);
      } catch {
        yield* wake("after")(db);
      } finally {
        tidied = true;
      }
    });
    await refused(work, "conflict", /refused a row/);
    assert.ok(tidied, "its finally ran");
    assert.deepEqual(await wakes(store), []);
  }),

  behaviour("L4 of many who decide at once by compare-and-set one wins", async (place) => {
    const stores = [await opened(place), await opened(place)];
    await stores[0]?.write(insertRuns("r"));
    const deciders = Array.from({ length: 50 }, (_, i) =>
      stores[i % 2]?.write((db) =>
        changed(
          db
            .updateTable("runs")
            .set({ status: `decided by ${i}` })
            .where("id", "=", "r")
            .where("status", "=", "running"),
        ),
      ),
    );
    const won = (await Promise.all(deciders)).flatMap((count, i) => (count === 1 ? [i] : []));
    assert.equal(won.length, 1, "one winner");
    const [run] = (await stores[1]?.read((db) => rows(db.selectFrom("runs").select("status")))) ?? [];
    assert.equal(run?.status, `decided by ${won[0]}`);
  }),

  behaviour("how many rows were written is told, with and without their return", async (place) => {
    const store = await opened(place);
    const counts = await store.write(function* (db) {
      const made = yield* changed(
        db.insertInto("wakes").values([1, 2, 3].map((at) => ({ run_id: "r", what: "w", at }))),
      );
      const set = yield* changed(db.updateTable("wakes").set({ what: "x" }).where("at", ">", 1));
      const returned = yield db.deleteFrom("wakes").where("at", "=", 3).returning("at").compile();
      const none = yield* changed(db.deleteFrom("wakes").where("at", "=", 9));
      const looked = yield* changed(db.selectFrom("wakes").selectAll());
      return { made, set, returned, none, looked };
    });
    const { returned, ...others } = counts;
    assert.deepEqual(others, { made: 3, set: 2, none: 0, looked: 0 });
    assert.equal(returned.changed, 1);
    assert.deepEqual(
      returned.rows.map((row) => ({ ...(row as object) })),
      [{ at: 3 }],
    ); // rows of any shape
  }),

  behaviour("a read sees one moment, however much is written meanwhile", async (place) => {
    const [reader, writer] = [await opened(place), await opened(place)];
    let done = false;
    const writing = (async () => {
      for (let i = 0; i < 60; i += 1)
        await writer.write(function* (db) {
          yield* wake(`${i} a`)(db);
          yield* wake(`${i} b`)(db);
        });
      done = true;
    })();
    while (!done) {
      const [first, second] = await reader.read(function* (db) {
        const count = db.selectFrom("wakes").select("n");
        return [(yield* rows(count)).length, (yield* rows(count)).length];
      });
      assert.equal(first, second);
      assert.equal((first ?? 1) % 2, 0, "never half of a write");
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
  }),

  behaviour("work given to read() cannot write", async (place) => {
    const store = await opened(place);
    await refused(store.read(wake("sneaky")), "misuse", /read\(\)/);
    assert.deepEqual(await wakes(store), []);
    await store.write(wake("open"));
    assert.deepEqual(await wakes(store), ["open"], "and the store goes on");
  }),

  behaviour("somebody who listens hears of what another process has written", async (place) => {
    const [here, there] = [await opened(place), await opened(place)];
    let calls = 0;
    const heard = new Promise<void>((resolve) => {
      const stop = here.onChange(() => {
        calls += 1;
        here
          .read((db) => rows(db.selectFrom("wakes").selectAll()))
          .then((found) => {
            if (found.length === 0) return;
            stop();
            resolve();
          });
      });
    });
    await there.write(wake("decided"));
    await heard;
    assert.ok(calls > 0);
  }),
];
