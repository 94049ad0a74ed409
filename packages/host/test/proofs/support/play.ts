import { DurableEngine } from "../../../src/journal/durable-engine.ts";
import type { ProcessIdentity } from "../../../src/journal/process-identity.ts";
import { postgres, type Store, sqlite } from "../../../src/store/index.ts";
import { SCENARIOS } from "../crash/scenarios.ts";
import { CrashPoint, type Death } from "./crash-point.ts";
import type { Done, Job } from "./job.ts";
import { lateFence } from "./late-fence.ts";
import { Ledger } from "./ledger.ts";
import { decideAll } from "./people.ts";
import { isBusy, report } from "./report.ts";
import { Stage } from "./stage.ts";

/** Who plays: a process under its own identity, or a simulated one. */
export interface Player extends Death {
  readonly identity?: () => ProcessIdentity;
}

/**
 * Plays a scenario to its end, from wherever an earlier life left it. Every life does the very same: it opens the store,
 * starts the run under the same request id, decides what is asked, and waits. Nothing is resumed by hand.
 */
export async function play(job: Job, player: Player): Promise<Done> {
  const scenario = SCENARIOS.find(({ name }) => name === job.scenario);
  if (scenario === undefined) throw new Error(`there is no scenario ${job.scenario}`);
  const crash = new CrashPoint(job.crashAt, player);
  const stage = new Stage(new Ledger(job.ledger, () => crash.check()), job.broken);
  const agent = scenario.agent(stage);
  const notices: string[] = [];
  const { identity } = player;
  const store = storeOf(job, crash);
  // A simulated life renews its lease itself: it has no thread that could outlive it.
  const engine = new DurableEngine({
    store: identity === undefined ? store : { ...store, reach: undefined },
    agents: [agent],
    tasks: scenario.tasks?.(stage) ?? [],
    ...(scenario.servers ? { toolServers: scenario.servers(stage) } : {}),
    notice: (message) => void notices.push(message),
    retry: { baseMs: 20, maxMs: 20 },
    claims: job.broken !== "never-claims",
    ...(identity === undefined ? {} : { identity }),
  });
  stage.engine = engine;
  const changed = () => crash.changed();
  await engine.open();
  const deciding = decideAll(engine, stage, (approval) => scenario.decide?.(approval), changed);
  const started = engine.start(agent, scenario.input ?? "Go", { requestId: "the run" });
  const ended = started.result.then(({ output }) => asText(output), String); // some scenarios end in an error
  for (let change = changed(); await isBusy(engine); change = changed()) await change;
  deciding.stop();
  const standing = await report(engine);
  const isParked = standing.runs.some(({ status }) => status === "parked"); // it has no result yet
  const output = isParked ? "" : await ended;
  await engine.close();
  return { writes: crash.writes, calls: crash.calls, output, report: standing, notices };
}

function asText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

function storeOf({ place, broken }: Job, crash: CrashPoint): Store {
  const raw = place.startsWith("postgres:")
    ? postgres(place, {}, crash)
    : sqlite(place, { sync: "normal" }, crash);
  const store = crash.guard(broken === "late-fence" ? lateFence(raw) : raw);
  if (broken !== "early-answer") return store;
  const { append } = store;
  store.append = async (entry, with_) => {
    setTimeout(() => void append(entry, with_).catch(() => {}), 10); // said to be written, and then it is not
    return true;
  };
  return store;
}
