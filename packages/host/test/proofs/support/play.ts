import { setTimeout as sleep } from "node:timers/promises";
import { DurableEngine } from "../../../src/journal/durable-engine.ts";
import { postgres, type Store, sqlite } from "../../../src/store/index.ts";
import { SCENARIOS } from "../crash/scenarios.ts";
import { CRASH_AT, CrashPoint } from "./crash-point.ts";
import type { Done, Job } from "./job.ts";
import { Ledger } from "./ledger.ts";
import { decideAll } from "./people.ts";
import { isBusy, report } from "./report.ts";
import { Stage } from "./stage.ts";

const LOOK_MS = 5;

/**
 * Plays a scenario to its end, from wherever an earlier process left it. Every process does the very same: it opens the
 * store, starts the run under the same request id, decides what is asked, and waits. Nobody resumes anything.
 */
export async function play(job: Job): Promise<Done> {
  const scenario = SCENARIOS.find(({ name }) => name === job.scenario);
  if (scenario === undefined) throw new Error(`there is no scenario ${job.scenario}`);
  const crash = new CrashPoint(job.crashAt ?? process.env[CRASH_AT]);
  const stage = new Stage(new Ledger(job.ledger), job.broken);
  const agent = scenario.agent(stage);
  const notices: string[] = [];
  const engine = new DurableEngine({
    store: storeOf(job, crash),
    agents: [agent],
    tasks: scenario.tasks?.(stage) ?? [],
    ...(scenario.servers ? { toolServers: scenario.servers(stage) } : {}),
    notice: (message) => void notices.push(message),
    retry: { baseMs: 20, maxMs: 20 },
    claims: job.broken !== "never-claims",
  });
  stage.engine = engine;
  await engine.open();
  const deciding = decideAll(engine, stage, (approval) => scenario.decide?.(approval));
  const started = engine.start(agent, scenario.input ?? "Go", { requestId: "the run" });
  const ended = started.result.then(({ output }) => asText(output), String); // some scenarios end in an error
  while (await isBusy(engine)) await sleep(LOOK_MS);
  deciding.stop();
  const standing = await report(engine);
  const isParked = standing.runs.some(({ status }) => status === "parked"); // it has no result yet
  const output = isParked ? "" : await ended;
  await engine.close();
  return { writes: crash.writes, output, report: standing, notices };
}

function asText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

function storeOf({ place, broken }: Job, crash: CrashPoint): Store {
  const store = place.startsWith("postgres:")
    ? postgres(place, {}, crash)
    : sqlite(place, { sync: "normal" }, crash);
  if (broken !== "early-answer") return store;
  const append = store.append.bind(store);
  store.append = async (entry, with_) => {
    setTimeout(() => void append(entry, with_).catch(() => {}), 10); // said to be written, and then it is not
    return true;
  };
  return store;
}
