import { setTimeout as sleep } from "node:timers/promises";
import { post, type Reader, readEvents, type Where } from "../control-room/http.ts";
import { inRoom, type Room } from "../control-room/room.ts";
import type { Measured } from "../measure.ts";
import { PROMPT } from "../workload.ts";
import { load, percentile } from "./http-runs.ts";
import type { Scenario } from "./scenario.ts";

const READERS = 500;
const TALKING = 25;
const SECONDS = 15;
const now = () => performance.timeOrigin + performance.now();

export const sseReaders: Scenario = {
  title: "500 concurrent readers of live events",
  contestants: ["trackside"],
  metrics: [
    { key: "deltaP50", label: "ms from a delta to its reader, median", digits: 1 },
    { key: "deltaP99", label: "99th percentile", digits: 1 },
    { key: "lost", label: "deltas that a reader missed", digits: 0 },
    { key: "readerKiB", label: "KiB of memory per reader in the server", digits: 0 },
    { key: "busyPerSecond", label: "runs per second beside 500 readers who wait", digits: 0 },
    { key: "busyEndP99", label: "ms until such a run is read to its end, 99th percentile", digits: 1 },
    { key: "busyFailed", label: "failed", digits: 0 },
  ],
  measure: () => inRoom(async (room) => ({ values: { ...(await talk(room)), ...(await beside(room)) } })),
};

/** Runs that say the time, each read by as many: how late is it when they hear it? */
async function talk(where: Room): Promise<Measured> {
  const took: number[] = [];
  const before = where.used();
  const runs = await started(where, "talking", TALKING);
  const said = /(?:^|[" ])(\d{13}\.?\d*) /g;
  const counts = new Map<number, number>();
  const readers = await Promise.all(
    Array.from({ length: READERS }, (_, i) => {
      const run = runs[i % TALKING] ?? "";
      // Live words are heard when they are said; the whole answer, which comes once more at the end, is not one of them.
      return readEvents(where, `/runs/${run}/stream`, (piece) => {
        const heard = now();
        for (const event of piece.split("\n\n")) {
          if (!event.includes("text_delta")) continue;
          for (const [, at] of event.matchAll(said)) {
            took.push(heard - Number(at));
            counts.set(i, (counts.get(i) ?? 0) + 1);
          }
        }
      });
    }),
  );
  const during = where.used();
  where.speak();
  await Promise.all(readers.map(({ ended }) => ended));
  const most = Math.max(...counts.values());
  const lost = Array.from({ length: READERS }, (_, i) => most - (counts.get(i) ?? 0)).reduce(
    (a, b) => a + b,
    0,
  );
  return {
    deltaP50: percentile(took, 0.5),
    deltaP99: percentile(took, 0.99),
    lost,
    readerKiB: (during.rssKiB - before.rssKiB) / READERS,
  };
}

/** The runs of `http-runs` while five hundred others are connected. */
async function beside(where: Where): Promise<Measured> {
  const runs = await started(where, "silent", TALKING);
  const readers: Reader[] = await Promise.all(
    Array.from({ length: READERS }, (_, i) =>
      readEvents(where, `/runs/${runs[i % TALKING]}/stream`, () => {}),
    ),
  );
  await load(where, 3);
  const { values } = await load(where, SECONDS);
  for (const reader of readers) reader.close();
  await Promise.all(runs.map((run) => post(where, `/runs/${run}/cancel`, {})));
  await sleep(100);
  return {
    busyPerSecond: values["perSecond"] ?? null,
    busyEndP99: values["endP99"] ?? null,
    busyFailed: values["failed"] ?? null,
  };
}

async function started(where: Where, agent: string, runs: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: runs }, () => post<{ run_id: string }>(where, "/runs", { agent, input: PROMPT })),
  );
  return answers.map(({ run_id }) => run_id);
}
