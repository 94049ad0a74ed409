import { expect, test } from "vitest";
import { postgresServer, serviceSuite } from "../../../../../scripts/services/index.ts";
import { script } from "./support/agents.ts";
import { isProof, type Place, placeOn, sqlitePlace, tempDir, until, type Worker } from "./support/place.ts";

const RUNS = 60;

// `npm test` restarts PostgreSQL under the store alone, in store/postgres-faults.test.ts.
if (isProof)
  await serviceSuite("a database that comes and goes", postgresServer, (server) => {
    const fresh = async () => placeOn("postgres", await server.createDatabase(), tempDir());
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

    test("X3 PostgreSQL restarted and killed again and again under load: all runs end, nothing twice, nothing lost", async () => {
      const place = await fresh();
      const workers = await Promise.all([place.process(), place.process()]);
      const ids = await load(workers);
      for (const how of ["restart", "kill", "restart", "kill"] as const) {
        await pause(700);
        if (how === "kill") await server.kill();
        await server.restart();
      }
      await finished(place, ids);
    });

    test("X4 PostgreSQL away for longer than a lease: nobody loses a run, and nobody has to be asked", async () => {
      const place = await fresh();
      const lease = { leaseMs: 5_000 };
      const workers = await Promise.all([place.process(lease), place.process(lease)]);
      const ids = await load(workers);
      await pause(700);
      await server.kill();
      await pause(6_500);
      await server.restart();
      await finished(place, ids);
      for (const { notices } of workers) {
        expect(notices.filter((told) => told.includes("others have taken"))).toEqual([]);
        expect(notices.filter((told) => told.includes("has not been reachable"))).not.toEqual([]);
      }
    });
  });

test("X3 SQLite on a full disk: it says what to do, and when there is room again the runs go on by themselves", async () => {
  const place = await sqlitePlace();
  const worker = await place.process();
  await worker.ask({ do: "fill", pages: 40 });
  const ids = await load([worker]);
  const told = await until("a notice", () =>
    worker.notices.find((notice) => notice.includes("disk is full")),
  );
  expect(told).toMatch(/runs wait .*Free some space on the disk/);
  const [refused] = await worker.ask({ do: "start", runs: [charges(999)] });
  expect(refused).toMatchObject({ message: expect.stringContaining("Free some space") });
  const stuck = await place.runs();
  expect(stuck.some(({ ended_at }) => ended_at === null)).toBe(true);
  await worker.ask({ do: "fill" });
  await finished(place, ids);
  expect(worker.notices.filter((notice) => notice.includes("disk is full"))).toHaveLength(1);
  const [later] = await worker.start([charges(998)]);
  await place.ended(RUNS + 1);
  expect(later).toBeDefined();
});

/** Three charges one after the other, which take a moment each. */
function charges(n: number) {
  const step = (k: number) => ({ calls: [{ tool: "charge", args: { n: n * 10 + k, ms: 150 } }] });
  return { agent: "free" as const, input: script(n, [step(1), step(2), step(3), "done"]) };
}

async function load(workers: readonly Worker[]): Promise<string[]> {
  const runs = Array.from({ length: RUNS }, (_, n) => charges(n));
  const each = RUNS / workers.length;
  const started = workers.map((worker, w) => worker.start(runs.slice(w * each, (w + 1) * each)));
  return (await Promise.all(started)).flat();
}

async function finished(place: Place, ids: readonly string[]): Promise<void> {
  const ended = await place.ended(RUNS);
  expect(ended.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["completed"]));
  expect(await place.approvals()).toEqual([]);
  expect(place.ran().size).toBe(RUNS * 3);
  expect([...place.ran().values()].filter((times) => times !== 1)).toEqual([]);
  for (const id of ids.slice(0, 10)) expect(await place.loose(id)).toEqual([]);
}
