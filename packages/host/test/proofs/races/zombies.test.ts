import { expect, test } from "vitest";
import { claimRuns } from "../../../src/journal/claim.ts";
import { FENCED } from "../../../src/journal/lease.ts";
import { rows } from "../../../src/store/index.ts";
import { script } from "./support/agents.ts";
import { frozen, onEveryStore, type Place, sqlitePlace, until } from "./support/place.ts";

/** Short, for a lease that lapses; long enough for a process that is busy starting its threads among others. */
const LEASE = { leaseMs: 4000 };
/** It has begun a tool, and is frozen before the tool ends: the tool is done the moment it thaws. */
const FROZEN = { ...LEASE, claims: false, freezesInTool: 1 };

await onEveryStore("zombies", (fresh) => {
  test("X4 a process frozen in a tool is taken over, writes nothing when it thaws, and goes on with new runs", async () => {
    const place = await fresh();
    const [old, killed] = await Promise.all([place.process(FROZEN), place.process(FROZEN)]);
    const [one, two] = [await old.start([twoCharges(1)]), await killed.start([twoCharges(2)])].flat();
    for (const worker of [old, killed]) await frozen(worker);
    const heir = await place.process(LEASE); // not earlier: on a busy machine it could think them dead before they freeze

    const asked = await place.pending(2);
    expect(asked.map(({ kind }) => kind)).toEqual(["unknown_outcome", "unknown_outcome"]);
    const of = (run: string | undefined) => asked.find(({ run_id }) => run_id === run)?.id ?? "";
    const runIt = async (run: string | undefined) =>
      (
        await heir.ask({
          do: "decide",
          decisions: [{ id: of(run), decision: { choice: "run", by: "ann" } }],
        })
      )[0];
    // Both may still be in the middle of it.
    for (const run of [one, two])
      expect(await runIt(run)).toMatchObject({
        code: "decision_invalid",
        message: expect.stringContaining("known to be gone"),
      });
    await killed.kill();
    expect(await runIt(two)).toMatchObject({ state: "approved" });
    expect(await runIt(one)).toMatchObject({ code: "decision_invalid" });

    const before = await place.notes(one ?? "");
    old.signal("SIGCONT");
    await until("the fence to be seen", () =>
      old.notices.some((told) => told.includes("others have taken its runs")) ? true : undefined,
    );
    expect(await place.notes(one ?? "")).toEqual(before); // its tool has ended; that did not land
    expect(await runIt(one)).toMatchObject({ state: "approved" });
    await place.ended(2);
    // Once by the one that froze, once because a human said so; what came after it only once, by the heir.
    expect(place.ran()).toEqual(new Map([[1, 2], [2, 2], [101, 1], [102, 1]])); // biome-ignore format: pairs
    for (const n of [101, 102]) expect(pidsOf(place, n)).toEqual([heir.pid]);
    for (const run of [one, two]) expect(await place.loose(run ?? "")).toEqual([]);

    await heir.kill(); // it would take the next run, too, if the old process were slow
    await old.start([{ agent: "free", input: script(3, [{ calls: [{ tool: "charge", args: { n: 3 } }] }]) }]);
    await place.ended(3);
    expect(pidsOf(place, 3)).toEqual([old.pid]);
  });

  test("X4 frozen after each of its commits in turn: no tool starts on a lapsed lease, each runs once", async () => {
    const place = await fresh();
    const points = [1, 2, 3, 4, 5];
    // Longer than a process takes to start its threads: a lease renewed by the main thread is a commit, and would be counted.
    const lease = { leaseMs: 10_000 };
    const olds = await Promise.all(
      points.map((n) => place.process({ ...lease, claims: false, freeze: { when: "after", n } })),
    );
    const input = (n: number) => script(n, [{ calls: [{ tool: "charge", args: { n } }] }, "done"]);
    for (const [i, old] of olds.entries())
      void old.ask({ do: "start", runs: [{ agent: "free", input: input(points[i] ?? 0) }] });
    for (const old of olds) await frozen(old);
    const heir = await place.process(lease);
    // The one that froze between writing down that it begins and beginning: nobody can tell that it never started.
    const [asked] = await place.pending(1);
    await until("the others to go on", () => (place.ran().size === 4 ? true : undefined));
    await until("all to be fenced off", async () => {
      const processes = await place.store.read((db) => rows(db.selectFrom("processes").select("expires_at")));
      return processes.filter(({ expires_at }) => expires_at === FENCED).length === olds.length
        ? true
        : undefined;
    });
    expect(place.ran()).toEqual(new Map([[1, 1], [2, 1], [4, 1], [5, 1]])); // biome-ignore format: pairs
    for (const old of olds) old.signal("SIGCONT");
    await until("all to see the fence", () =>
      olds.every(({ notices }) => notices.length > 0) ? true : undefined,
    );
    expect(place.ran().get(3)).toBe(undefined);
    const decisions = [{ id: asked?.id ?? "", decision: { choice: "run", by: "ann" } }];
    await until("the run to be allowed", async () => {
      const [got] = await heir.ask({ do: "decide", decisions });
      return got?.state === "approved" ? true : undefined;
    });
    for (const { id, status } of await place.ended(points.length)) {
      expect(status).toBe("completed");
      expect(await place.loose(id)).toEqual([]);
    }
    expect(place.ran()).toEqual(new Map([1, 2, 4, 5, 3].map((n) => [n, 1])));
    const pids = points.map((n) => pidsOf(place, n)[0]);
    expect(pids).toEqual([heir.pid, heir.pid, heir.pid, olds[3]?.pid, olds[4]?.pid]);
  });

  test("X4 a write of the one that thaws does not land, though nobody else has written anything", async () => {
    const place = await fresh();
    const old = await place.process(FROZEN);
    const [id = ""] = await old.start([twoCharges(1)]);
    await frozen(old);
    const before = await place.notes(id);
    const { claimed } = await place.store.write((db) =>
      claimRuns(db, {
        me: "nobody",
        agents: ["free"],
        limit: 10,
        isActive: () => false,
        lapsed: () => true,
        at: Date.now(),
      }),
    );
    expect(claimed).toEqual([{ runId: id, wasLeft: false }]);
    old.signal("SIGCONT");
    await until("the fence to be seen", () => old.notices[0]);
    expect(await place.notes(id)).toEqual(before);
    expect(place.ran()).toEqual(new Map([[1, 1]]));
  });

  test("the counter sees a tool that runs twice: one that may be repeated is, in the old and the new process", async () => {
    const place = await fresh();
    const old = await place.process(FROZEN);
    const put = { calls: [{ tool: "put", args: { n: 1 } }] };
    await old.start([{ agent: "free", input: script(1, [put, "done"]) }]);
    await frozen(old);
    const heir = await place.process(LEASE);
    await place.ended(1);
    expect(place.ran("put")).toEqual(new Map([[1, 2]]));
    expect(pidsOf(place, 1, "put")).toEqual([old.pid, heir.pid]);
  });
});

test("X4 SQLite: one frozen inside a write holds the others up, which name it; then all goes on, nothing twice", async () => {
  // When it opens its run, and when it ends it: these are transactions of several statements.
  for (const n of [1, 7]) {
    const place = await sqlitePlace();
    const heir = await place.process();
    const old = await place.process({ claims: false, freeze: { when: "before", n } });
    void old.ask({ do: "start", runs: [twoCharges(1)] });
    await frozen(old);
    void heir.ask({ do: "start", runs: [twoCharges(2)] });
    const told = await until("the holder to be named", () =>
      heir.notices.find((notice) => notice.includes("has held the write lock")),
    );
    expect(told).toContain(`pid ${old.pid} (`);
    old.signal("SIGCONT");
    await place.settle(heir, 2);
    expect(place.ran()).toEqual(new Map([1, 101, 2, 102].map((one) => [one, 1])));
    await Promise.all([old.kill(), heir.kill()]);
  }
});

/** A charge, and another one after it. */
function twoCharges(n: number) {
  const steps = [
    { calls: [{ tool: "charge", args: { n } }] },
    { calls: [{ tool: "charge", args: { n: n + 100 } }] },
    "done",
  ];
  return { agent: "free" as const, input: script(n, steps) };
}

function pidsOf(place: Place, n: number, tool = "charge"): readonly number[] {
  return place.effects.filter((line) => line.tool === tool && line.n === n).map(({ pid }) => pid);
}
