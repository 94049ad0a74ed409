import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measured } from "../measure.ts";
import { nanosPerRun } from "../measure.ts";
import { JOBS, PARENT_PROMPT, PROMPT } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const LEFT_RUNS = 1000;
const CANCELS = 40;
const IN_FLIGHT = ["in a model", "in a tool", "in an approval"];
const OURS = ["trackside"];

export const recovery: Scenario = {
  title: "1,000 unfinished runs, taken up by a new process",
  contestants: OURS,
  metrics: [
    { key: "firstMillis", label: "ms from its start to the first run", digits: 0 },
    { key: "allMillis", label: "ms to the last", digits: 0 },
    { key: "heldMillis", label: "ms the event loop was held at most", digits: 1 },
  ],
  measure: () =>
    inFolder(async (folder) => {
      const args = [join(folder, "bench.db"), String(LEFT_RUNS)];
      await answerOf("leave-runs.ts", args);
      return { values: (await answerOf("take-up-runs.ts", args)) as Measured }; // what that file sends
    }),
};

export const reading: Scenario = {
  title: "Reading a run of 10,000 events",
  contestants: OURS,
  metrics: [
    { key: "readMillis", label: "ms for `runs.events(id)`", digits: 1 },
    { key: "events", label: "events", digits: 0 },
  ],
  measure: (_, budget) =>
    inFolder(async (folder) => {
      const { openHost } = await import("../hosted/host.ts");
      const trackside = openHost(join(folder, "bench.db"));
      const { runId, result } = await trackside.start("long", PROMPT);
      await result();
      const events = (await trackside.runs.events(runId)).length;
      const readMillis = (await nanosPerRun(() => trackside.runs.events(runId), budget)) / 1e6;
      await trackside.close();
      return { values: { readMillis, events } };
    }),
};

export const cancelling: Scenario = {
  title: "Cancelling a run with a model, a tool or an approval in flight",
  contestants: OURS,
  metrics: [
    { key: "p50Millis", label: "ms to the terminal event, median", digits: 1 },
    { key: "p95Millis", label: "95th percentile", digits: 1 },
    { key: "mostMillis", label: "longest", digits: 1 },
  ],
  measure: () =>
    inFolder(async (folder) => {
      const { openHost } = await import("../hosted/host.ts");
      const trackside = openHost(join(folder, "bench.db"));
      const took: number[] = [];
      for (let i = 0; i < CANCELS; i++)
        for (const agent of IN_FLIGHT) {
          const { runId, result } = await trackside.start(agent, PROMPT);
          result().catch(() => {}); // cancelled
          const seen = terminal(trackside.runs.follow(runId));
          await new Promise((resolve) => setTimeout(resolve, 20));
          const start = performance.now();
          const cancelled = trackside.runs.cancel(runId);
          took.push((await seen) - start);
          await cancelled;
        }
      await trackside.close();
      return { values: spread(took) };
    }),
};

export const cancellingTrees: Scenario = {
  title: "Cancelling a run with 7 sub-agents, each with an MCP call in flight",
  contestants: OURS,
  metrics: cancelling.metrics,
  measure: () =>
    inFolder(async (folder) => {
      const { openHost } = await import("../hosted/host.ts");
      const trackside = openHost(join(folder, "bench.db"));
      const took: number[] = [];
      for (let i = 0; i < CANCELS; i++) {
        const { runId, result } = await trackside.start("in a tree", PARENT_PROMPT);
        result().catch(() => {}); // cancelled
        await atWork(trackside.runs.follow(runId), JOBS.length);
        const seen = terminal(trackside.runs.follow(runId));
        const start = performance.now();
        const cancelled = trackside.runs.cancel(runId);
        took.push((await seen) - start);
        await cancelled;
      }
      await trackside.close();
      return { values: spread(took) };
    }),
};

function spread(took: number[]): Measured {
  took.sort((a, b) => a - b);
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? Number.NaN;
  return { p50Millis: at(0.5), p95Millis: at(0.95), mostMillis: at(1) };
}

interface Seen {
  readonly event: { type: string; status?: string; path: readonly string[] };
}

/** Until so many calls have reported that the server has them. */
async function atWork(events: AsyncIterable<Seen>, calls: number): Promise<void> {
  let reported = 0;
  for await (const { event } of events) if (event.type === "mcp_progress" && ++reported === calls) return;
  throw new Error(`the run ended when ${reported} of ${calls} calls were in flight`);
}

/** When the run's reader was given its last event. */
async function terminal(events: AsyncIterable<Seen>): Promise<number> {
  for await (const { event } of events)
    if (event.type === "status" && event.status === "cancelled" && event.path.length === 0)
      return performance.now();
  throw new Error("the run did not end cancelled");
}

/** Runs a program of `hosted/` until it has said what it has to say, and kills it in the middle of its work. */
async function answerOf(program: string, args: string[]): Promise<unknown> {
  const child = fork(join(import.meta.dirname, "..", "hosted", program), args, { execArgv: [] });
  try {
    return await firstMessage(child);
  } finally {
    child.kill("SIGKILL");
    await ended(child);
  }
}

function firstMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code, signal) => reject(new Error(`the program ended with ${signal ?? code}`)));
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "trackside-bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
