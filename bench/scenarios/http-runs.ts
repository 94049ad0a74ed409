import { setTimeout as sleep } from "node:timers/promises";
import { post, readEvents, type Where } from "../control-room/http.ts";
import { inRoom } from "../control-room/room.ts";
import type { Measured } from "../measure.ts";
import { PROMPT } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const PER_SECOND = 200;
const WARM_SECONDS = 5;
const SECONDS = 15;

export const httpRuns: Scenario = {
  title: "200 runs per second of a one-step agent over HTTP, each followed to its end",
  contestants: ["trackside"],
  metrics: [
    { key: "perSecond", label: "runs per second", digits: 0 },
    { key: "startP50", label: "ms until a run is accepted, median", digits: 1 },
    { key: "startP99", label: "99th percentile", digits: 1 },
    { key: "endP50", label: "ms until its last event is read, median", digits: 1 },
    { key: "endP99", label: "99th percentile", digits: 1 },
    { key: "failed", label: "failed", digits: 0 },
    { key: "cpuMillis", label: "ms of CPU per run in the server", digits: 2 },
  ],
  measure: () =>
    inRoom(async (room) => {
      await load(room, WARM_SECONDS);
      const before = room.used();
      const { values, runs } = await load(room, SECONDS);
      const after = room.used();
      return { values: { ...values, cpuMillis: (after.cpuMillis - before.cpuMillis) / runs } };
    }),
};

/** Runs begin when they are due, whatever became of those before: a server that stalls is measured by all it kept waiting. */
export async function load(where: Where, seconds: number): Promise<{ values: Measured; runs: number }> {
  const [accepted, ended]: [number[], number[]] = [[], []];
  const reasons: unknown[] = [];
  const runs = PER_SECOND * seconds;
  const begin = performance.now();
  const one = async (due: number) => {
    const { run_id } = await post<{ run_id: string }>(where, "/runs", { agent: "one-step", input: PROMPT });
    accepted.push(performance.now() - due);
    let heard = "";
    const reader = await readEvents(where, `/runs/${run_id}/stream`, (piece) => {
      heard += piece;
    });
    await reader.ended;
    if (!heard.includes('"completed"'))
      throw new Error(`the stream of ${run_id} ended before the run: ${heard}`);
    ended.push(performance.now() - due);
  };
  const under: Promise<void>[] = [];
  for (let i = 0; i < runs; i++) {
    const due = begin + (i * 1000) / PER_SECOND;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
    under.push(one(due).catch((reason) => void reasons.push(reason)));
  }
  await Promise.all(under);
  const took = (performance.now() - begin) / 1000;
  if (reasons.length > 0) console.error(`${reasons.length} failed, the first: ${reasons[0]}`);
  return {
    runs,
    values: {
      perSecond: ended.length / took,
      startP50: percentile(accepted, 0.5),
      startP99: percentile(accepted, 0.99),
      endP50: percentile(ended, 0.5),
      endP99: percentile(ended, 0.99),
      failed: reasons.length,
    },
  };
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
