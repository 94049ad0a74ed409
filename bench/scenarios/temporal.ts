import type { ChildProcess } from "node:child_process";
import { type Measured, median } from "../measure.ts";
import type { History } from "../temporal/client.ts";
import { cpuMillis } from "../temporal/cpu.ts";
import { ask, killed, messageOf, started } from "../temporal/programs.ts";
import { type Place, type Servers, withServers } from "../temporal/servers.ts";
import type { Scenario } from "./scenario.ts";

const RUNS = 50;
const STEPS = 20;
const WARM_STEPS = 5;
const ROUNDS = 3;
/** Enough of them, on a machine that is slow or busy. */
const ROUNDS_MS = 180_000;
const WORKERS = 2;
const TALKING = 10;
const KILLS = ["in a tool", "in a model", "in a tool", "in a model", "in a tool", "in a model"];

export const temporal: Scenario = {
  title: "50 concurrent runs on Temporal's development server, two workers, PostgreSQL and Redis",
  contestants: ["trackside"],
  once: true,
  metrics: [
    { key: "perSecond", label: "one-tool steps per second", digits: 0 },
    { key: "handPerSecond", label: "of a hand-written workflow", digits: 0 },
    { key: "ratio", label: "against it", digits: 2 },
    { key: "workerCpu", label: "ms of CPU per step in the workers", digits: 1 },
    { key: "handCpu", label: "in those of the hand-written one", digits: 1 },
    { key: "serverCpu", label: "in Temporal", digits: 1 },
    { key: "handServerCpu", label: "for the hand-written one", digits: 1 },
    { key: "postgresCpu", label: "in PostgreSQL", digits: 1 },
    { key: "redisCpu", label: "in Redis", digits: 2 },
    { key: "stepEvents", label: "history events per step, all guards", digits: 1 },
    { key: "stepBytes", label: "history bytes per step", digits: 0 },
    { key: "runBytes", label: "of a run of 20 steps", digits: 0 },
    { key: "runActions", label: "actions of that run", digits: 0 },
    { key: "deltaP50", label: "ms from a delta to its reader, median", digits: 1 },
    { key: "deltaP95", label: "95th percentile", digits: 1 },
    { key: "deltaRedisMicros", label: "µs of CPU per delta in Redis", digits: 0 },
    {
      key: "killMillis",
      label: "ms until another worker has begun a killed one's tool again, at most",
      digits: 0,
    },
    { key: "killModelMillis", label: "its model call", digits: 0 },
  ],
  measure: () =>
    withServers(async (servers) => {
      const { place } = servers;
      const client = await started("client", place);
      const crew = new Crew(place);
      const hands: ChildProcess[] = [];
      try {
        for (let i = 0; i < WORKERS; i++) {
          hands.push(await started("hand-worker", place));
          await crew.hire();
        }
        const values = {
          ...(await throughput(client, servers, { ours: crew.workers, hands })),
          ...(await histories(client)),
          ...(await deltas(client, servers)),
        };
        await killed(hands); // they have no part in what follows
        return { values: { ...values, ...(await kills(client, crew)) } };
      } finally {
        await killed([client, ...hands, ...crew.workers]);
      }
    }),
};

interface Workers {
  readonly ours: readonly ChildProcess[];
  readonly hands: readonly ChildProcess[];
}

/** In turns, so that what else the machine does meanwhile falls on both alike. */
async function throughput(client: ChildProcess, servers: Servers, workers: Workers): Promise<Measured> {
  const burst = async (who: "trackside" | "hand", steps: number) => {
    const before = cpus(servers, workers);
    const ms = await ask<number>(client, { do: who, runs: RUNS, steps });
    const after = cpus(servers, workers);
    const per = (what: keyof typeof before) => (after[what] - before[what]) / (RUNS * steps);
    return {
      perSecond: (RUNS * steps * 1e3) / ms,
      ours: per("ours"),
      hands: per("hands"),
      temporal: per("temporal"),
      postgres: per("postgres"),
      redis: per("redis"),
    };
  };
  type Burst = Awaited<ReturnType<typeof burst>>;
  await burst("hand", WARM_STEPS);
  await burst("trackside", WARM_STEPS);
  const [hand, ours]: [Burst[], Burst[]] = [[], []];
  const end = performance.now() + ROUNDS_MS;
  for (let i = 0; i < ROUNDS && (i === 0 || performance.now() < end); i++) {
    hand.push(await burst("hand", STEPS));
    ours.push(await burst("trackside", STEPS));
  }
  const typical = (bursts: Burst[], what: keyof Burst) => median(bursts.map((each) => each[what]));
  return {
    perSecond: typical(ours, "perSecond"),
    handPerSecond: typical(hand, "perSecond"),
    ratio: median(ours.map(({ perSecond }, i) => perSecond / (hand[i]?.perSecond ?? Number.NaN))),
    workerCpu: typical(ours, "ours"),
    handCpu: typical(hand, "hands"),
    serverCpu: typical(ours, "temporal"),
    handServerCpu: typical(hand, "temporal"),
    postgresCpu: typical(ours, "postgres"),
    redisCpu: typical(ours, "redis"),
  };
}

function cpus({ temporal, postgres, redis }: Servers, { ours, hands }: Workers) {
  const all = (children: readonly ChildProcess[]) =>
    children.reduce((sum, { pid }) => sum + cpuMillis(pid), 0);
  return {
    ours: all(ours),
    hands: all(hands),
    temporal: cpuMillis(temporal.pid),
    postgres: cpuMillis(postgres.pid),
    redis: cpuMillis(redis.pid),
  };
}

/** What a step adds to a history, from two runs that differ in their steps alone. */
async function histories(client: ChildProcess): Promise<Measured> {
  const of = (agent: string) => ask<History>(client, { do: "history", agent });
  const [few, many, run] = [await of("guarded 5"), await of("guarded 25"), await of(`guarded ${STEPS}`)];
  const perStep = (key: keyof History) => (many[key] - few[key]) / 20;
  return {
    stepEvents: perStep("events"),
    stepBytes: perStep("bytes"),
    stepActions: perStep("actions"),
    runBytes: run.bytes,
    runActions: run.actions,
  };
}

async function deltas(client: ChildProcess, { redis }: Servers): Promise<Measured> {
  const order = { do: "talk", runs: TALKING } as const;
  await ask(client, order);
  const before = cpuMillis(redis.pid);
  const took = (await ask<number[]>(client, order)).sort((a, b) => a - b);
  const deltaRedisMicros = ((cpuMillis(redis.pid) - before) * 1e3) / took.length;
  const at = (part: number) => took[Math.floor(took.length * part)] ?? Number.NaN;
  return { deltaP50: at(0.5), deltaP95: at(0.95), deltaRedisMicros };
}

/** The longest time from the death of a worker until another one has begun what it was doing. */
async function kills(client: ChildProcess, crew: Crew): Promise<Measured> {
  const longest = new Map<string, number>();
  for (const agent of KILLS) {
    const begun = crew.begun();
    const runId = await ask<string>(client, { do: "leave", agent });
    const { worker } = await begun;
    const again = crew.begun();
    await killed([worker]);
    const killedAt = performance.timeOrigin + performance.now();
    longest.set(agent, Math.max(longest.get(agent) ?? 0, (await again).at - killedAt));
    await ask(client, { do: "cancel", runId });
    await crew.hire();
  }
  return {
    killMillis: longest.get("in a tool") ?? null,
    killModelMillis: longest.get("in a model") ?? null,
  };
}

interface Begun {
  readonly worker: ChildProcess;
  readonly at: number;
}

/** The workers, and word from whichever of them begins something that never ends. */
class Crew {
  readonly workers: ChildProcess[] = [];
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  async hire(): Promise<void> {
    this.workers.push(await started("worker", this.#place));
  }

  begun(): Promise<Begun> {
    const alive = this.workers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    return Promise.race(
      alive.map(async (worker) => {
        const { at } = await messageOf<{ at: number }>(worker, "worker").catch(() => NEVER);
        return { worker, at };
      }),
    );
  }
}

const NEVER = new Promise<never>(() => {}); // of a worker that was killed
