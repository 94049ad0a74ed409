import { bigRun } from "./big-run.ts";
import { canvas300 } from "./canvas-300.ts";
import { children } from "./children.ts";
import { concurrent } from "./concurrent.ts";
import { compaction, contextGrowth, contextIdle } from "./context.ts";
import { durableConcurrent, durableSteps } from "./durable.ts";
import { growth } from "./growth.ts";
import { hooks, rails } from "./hooks.ts";
import { cancelling, cancellingTrees, reading, recovery } from "./hosted.ts";
import { httpRuns } from "./http-runs.ts";
import { kills } from "./kills.ts";
import type { Scenario } from "./scenario.ts";
import { sseReaders } from "./sse-readers.ts";
import { steps } from "./steps.ts";
import { stream } from "./stream.ts";
import { temporal } from "./temporal.ts";
import { webFirstPage } from "./web-first-page.ts";
import { workflow } from "./workflow.ts";

export const scenarios: Record<string, Scenario> = {
  steps,
  growth,
  stream,
  concurrent,
  hooks,
  rails,
  "context-idle": contextIdle,
  "context-growth": contextGrowth,
  compaction,
  children,
  "durable-steps": durableSteps,
  "durable-concurrent": durableConcurrent,
  recovery,
  reading,
  cancelling,
  "cancelling-trees": cancellingTrees,
  kills,
  workflow,
  temporal,
  "http-runs": httpRuns,
  "sse-readers": sseReaders,
  "web-first-page": webFirstPage,
  "big-run": bigRun,
  "canvas-300": canvas300,
};
