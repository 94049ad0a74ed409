import { type Budget, gc, type Measured, median, nanosPerRunOfEach } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const OURS = ["trackside"];
const STEPS = 50;
const script = { steps: STEPS, deltas: 0 };

/**
 * A few percent are to be seen here, and a collection of young garbage takes 10 ms every 40 ms or so: each batch has to
 * have its share of them, or every other way that is measured gets them all.
 */
function patient({ warmMs, measureMs }: Budget): Budget {
  return { warmMs, measureMs: Math.max(2000, measureMs * 2), batchMs: 150 };
}

/** Loaded where they are needed: the process that only prints tables has no use for agents. */
const agents = () => import("../context/agents.ts");

export const contextIdle: Scenario = {
  title: "50 steps with a budget, sub-agents and handoffs that have nothing to do",
  contestants: OURS,
  metrics: [
    { key: "plainMicros", label: "µs per step without", digits: 1 },
    { key: "limitTimes", label: "`limit:90` against without", digits: 2 },
    { key: "delegatingTimes", label: "sub-agents and handoffs", digits: 2 },
    { key: "allTimes", label: "those and `limit:90`", digits: 2 },
    { key: "perMessageTimes", label: "`per-message`, which stamps each message", digits: 2 },
  ],
  async measure(_, budget) {
    const { budgeted, delegating } = await agents();
    const plain = budgeted(null);
    const others = {
      limitTimes: budgeted("limit:90"),
      delegatingTimes: delegating(null),
      allTimes: delegating("limit:90"),
      perMessageTimes: budgeted("per-message"),
    };
    const runs = [plain, ...Object.values(others)].map((run) => () => run(script));
    const [base = Number.NaN, ...nanos] = await nanosPerRunOfEach(runs, patient(budget));
    const values: Measured = { plainMicros: base / STEPS / 1e3 };
    for (const [i, key] of Object.keys(others).entries()) values[key] = (nanos[i] ?? Number.NaN) / base;
    return { values };
  },
};

/** The last one has 2,001 messages in its log. */
const SIZES = [10, 50, 200, 500, 1000];

export const contextGrowth: Scenario = {
  title: "Growth with `limit:100`: time per step in runs of 10 to 1,000 steps, which have 2,000 messages",
  contestants: OURS,
  metrics: [
    ...SIZES.map((steps) => ({ key: `at${steps}`, label: `µs per step at ${steps}`, digits: 1 })),
    { key: "ratio", label: "500 against 10", digits: 2 },
    { key: "longRatio", label: "1,000 against 10", digits: 2 },
  ],
  async measure(_, budget) {
    const run = (await agents()).budgeted("limit:100");
    const runs = SIZES.map((steps) => () => run({ steps, deltas: 0 }));
    const nanos = await nanosPerRunOfEach(runs, patient(budget));
    const values: Measured = {};
    for (const [i, steps] of SIZES.entries()) values[`at${steps}`] = (nanos[i] ?? Number.NaN) / steps / 1e3;
    const against = (steps: number) => (values[`at${steps}`] ?? Number.NaN) / (values.at10 ?? Number.NaN);
    return { values: { ...values, ratio: against(500), longRatio: against(1000) } };
  },
};

const MESSAGES = 10_000;
const TURNS = 15;

/** CPU time, of all threads: what else the machine does meanwhile does not count, collecting our garbage does. */
export const compaction: Scenario = {
  title: "A turn in a conversation of 10,000 messages that has to be compacted first",
  contestants: OURS,
  metrics: [
    { key: "cpuMillis", label: "ms of CPU for the turn", digits: 1 },
    { key: "fitsMillis", label: "the same with room enough", digits: 1 },
    { key: "firstMillis", label: "the first one in a process", digits: 1 },
    { key: "summaries", label: "model calls for summaries", digits: 0 },
  ],
  async measure() {
    const { longTurn } = await agents();
    const [compacting, fitting] = [await longTurn(MESSAGES, false), await longTurn(MESSAGES, true)];
    const [took, took2]: [number[], number[]] = [[], []];
    let summaries = 0;
    for (let i = 0; i < TURNS; i++) {
      gc(); // of making the conversation
      const turn = await compacting();
      took.push(turn.cpuMillis);
      summaries = turn.summaries;
      took2.push((await fitting()).cpuMillis);
    }
    const [firstMillis = Number.NaN, ...warm] = took;
    return {
      values: { cpuMillis: median(warm), fitsMillis: median(took2.slice(1)), firstMillis, summaries },
    };
  },
};
