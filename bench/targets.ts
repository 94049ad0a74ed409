/** What Trackside promises, relative to the other contestants of the same run. */
export interface Target {
  scenario: string;
  metric: string;
  atMost?: number;
  atLeast?: number;
  /** Divide by the baseline's value, or by that of the best peer. Absent: the value itself. */
  against?: "baseline" | "best peer";
  says: string;
}

const IDLE = {
  limitTimes: "`limit:90`",
  delegatingTimes: "sub-agents and handoffs",
  allTimes: "sub-agents, handoffs and `limit:90`",
};

export const targets: Target[] = [
  {
    scenario: "steps",
    metric: "stepMicros",
    against: "baseline",
    atMost: 5,
    says: "per step at most 5× bare",
  },
  {
    scenario: "steps",
    metric: "stepMicros",
    against: "best peer",
    atMost: 1 / 5,
    says: "per step at least 5× faster than the fastest peer",
  },
  { scenario: "steps", metric: "heapKiB", atMost: 10, says: "at most 10 KiB of heap per step" },
  {
    scenario: "growth",
    metric: "ratio",
    atMost: 1.2,
    says: "a step at 500 steps costs at most 1.2× one at 10",
  },
  {
    scenario: "stream",
    metric: "deltaMicros",
    against: "baseline",
    atMost: 2,
    says: "streaming at most 2× bare",
  },
  {
    scenario: "stream",
    metric: "deltaMicros",
    against: "best peer",
    atMost: 1,
    says: "streaming ahead of every peer",
  },
  { scenario: "stream", metric: "firstDeltaMillis", atMost: 0.2, says: "first delta within 0.2 ms" },
  {
    scenario: "concurrent",
    metric: "totalMillis",
    against: "baseline",
    atMost: 4,
    says: "1,000 concurrent runs at most 4× bare",
  },
  { scenario: "concurrent", metric: "heapMB", atMost: 40, says: "1,000 concurrent runs within 40 MB" },
  { scenario: "hooks", metric: "hookNanos", atMost: 200, says: "a no-op hook at most 200 ns" },
  { scenario: "rails", metric: "railNanos", atMost: 200, says: "a no-op rail at most 200 ns" },
  ...(["limitTimes", "delegatingTimes", "allTimes"] as const).map((metric) => ({
    scenario: "context-idle",
    metric,
    atMost: 1.1,
    says: `${IDLE[metric]} with nothing to do at most 10 % of a step`,
  })),
  {
    scenario: "context-growth",
    metric: "ratio",
    atMost: 1.2,
    says: "with `limit:100` a step at 500 steps costs at most 1.2× one at 10",
  },
  {
    scenario: "context-growth",
    metric: "longRatio",
    atMost: 1.2,
    says: "with `limit:100` a step at 2,000 messages costs at most 1.2× one at 20",
  },
  {
    scenario: "compaction",
    metric: "cpuMillis",
    atMost: 100,
    says: "a turn that compacts 10,000 messages takes at most 100 ms of CPU",
  },
  {
    scenario: "children",
    metric: "totalMillis",
    against: "baseline",
    atMost: 4,
    says: "100 parents with 7 sub-agents each at most 4× bare",
  },
  {
    scenario: "durable-steps",
    metric: "stepTimes",
    atMost: 2.5,
    says: "a durable step at most 2.5× the hand-written durable loop",
  },
  {
    scenario: "durable-steps",
    metric: "fullTimes",
    atMost: 2.5,
    says: "a durable step with full sync at most 2.5× the hand-written durable loop",
  },
  {
    scenario: "durable-steps",
    metric: "stepMicros",
    against: "best peer",
    atMost: 1 / 5,
    says: "a durable step at least 5× faster than the fastest peer",
  },
  {
    scenario: "durable-concurrent",
    metric: "totalTimes",
    atMost: 1.5,
    says: "1,000 concurrent durable runs at most 1.5× the hand-written durable loop",
  },
  {
    scenario: "durable-concurrent",
    metric: "fullTimes",
    atMost: 1,
    says: "1,000 concurrent durable runs with full sync faster than the hand-written durable loop",
  },
  {
    scenario: "recovery",
    metric: "firstMillis",
    atMost: 2000,
    says: "recovery of 1,000 unfinished runs starts within 2 s",
  },
  {
    scenario: "recovery",
    metric: "heldMillis",
    atMost: 50,
    says: "recovery never holds the event loop for more than 50 ms",
  },
  { scenario: "reading", metric: "readMillis", atMost: 500, says: "10,000 events read within 500 ms" },
  {
    scenario: "cancelling",
    metric: "p95Millis",
    atMost: 200,
    says: "a cancelled run ends within 200 ms, 95 times of 100",
  },
  {
    scenario: "cancelling-trees",
    metric: "p95Millis",
    atMost: 200,
    says: "a cancelled run with 7 sub-agents and MCP calls ends within 200 ms, 95 times of 100",
  },
  {
    scenario: "kills",
    metric: "unfinished",
    atMost: 0,
    says: "every one of 1,000 runs ends though its process is killed again and again",
  },
  {
    scenario: "kills",
    metric: "problems",
    atMost: 0,
    says: "nothing is lost, parked or done twice by those kills",
  },
  {
    scenario: "workflow",
    metric: "nodeTimes",
    atMost: 2,
    says: "a workflow's node at most 2× an agent's step without its model call",
  },
  {
    scenario: "workflow",
    metric: "durableNodeTimes",
    atMost: 2,
    says: "a durable node at most 2× an agent's durable step",
  },
  {
    scenario: "workflow",
    metric: "totalTimes",
    atMost: 1.5,
    says: "1,000 concurrent runs of a 10-node workflow at most 1.5× the hand-written durable loop",
  },
  {
    scenario: "workflow",
    metric: "fullTimes",
    atMost: 1,
    says: "the same with full sync faster than the hand-written durable loop",
  },
  {
    scenario: "temporal",
    metric: "ratio",
    atLeast: 0.7,
    says: "on Temporal at least 70 % of the steps per second of a hand-written workflow",
  },
  {
    scenario: "temporal",
    metric: "stepEvents",
    atMost: 13,
    says: "on Temporal at most 13 history events per one-tool step, with guards on every point",
  },
  {
    scenario: "temporal",
    metric: "deltaP95",
    atMost: 50,
    says: "a live delta reaches a reader in another process within 50 ms, 95 times of 100",
  },
  {
    scenario: "temporal",
    metric: "killMillis",
    atMost: 5000,
    says: "another worker goes on within 5 s when one is killed in a tool",
  },
  {
    scenario: "temporal",
    metric: "killModelMillis",
    atMost: 5000,
    says: "another worker goes on within 5 s when one is killed in a model call",
  },
  {
    scenario: "http-runs",
    metric: "perSecond",
    atLeast: 195,
    says: "200 runs per second over HTTP are kept up with",
  },
  { scenario: "http-runs", metric: "failed", atMost: 0, says: "none of them fails" },
  {
    scenario: "http-runs",
    metric: "endP99",
    atMost: 250,
    says: "such a run is over, and its reader told, within 250 ms, 99 times of 100",
  },
  {
    scenario: "sse-readers",
    metric: "deltaP99",
    atMost: 250,
    says: "500 readers have a delta within 250 ms, 99 times of 100",
  },
  { scenario: "sse-readers", metric: "lost", atMost: 0, says: "none of 500 readers misses a delta" },
  {
    scenario: "sse-readers",
    metric: "busyEndP99",
    atMost: 250,
    says: "beside 500 readers a run is over within 250 ms, 99 times of 100, at 200 runs per second",
  },
  { scenario: "sse-readers", metric: "busyFailed", atMost: 0, says: "beside 500 readers none of them fails" },
  {
    scenario: "web-first-page",
    metric: "paintMillis",
    atMost: 1000,
    says: "the first page paints within 1 s",
  },
  {
    scenario: "web-first-page",
    metric: "scriptKB",
    atMost: 250,
    says: "the first page loads at most 250 kB of compressed script",
  },
  {
    scenario: "canvas-300",
    metric: "panPerSecond",
    atLeast: 55,
    says: "a workflow of 300 nodes is panned at 60 frames per second",
  },
  {
    scenario: "canvas-300",
    metric: "dragPerSecond",
    atLeast: 55,
    says: "a node among 300 is dragged at 60 frames per second",
  },
  {
    scenario: "canvas-300",
    metric: "busyMillis",
    atMost: 16,
    says: "a frame of the canvas takes the page's thread less than a frame has",
  },
  {
    scenario: "canvas-300",
    metric: "validateMillis",
    atMost: 50,
    says: "a workflow of 300 nodes is validated within 50 ms, over HTTP",
  },
  {
    scenario: "big-run",
    metric: "openMillis",
    atMost: 1500,
    says: "a run of 10,000 events opens within 1.5 s",
  },
  {
    scenario: "import",
    metric: "importMillis",
    against: "baseline",
    atMost: 1.5,
    says: "import at most 1.5× importing zod",
  },
  { scenario: "import", metric: "packages", atMost: 5, says: "at most 5 transitive packages" },
];
