import { concurrent } from "./concurrent.ts";
import { durableConcurrent, durableSteps } from "./durable.ts";
import { growth } from "./growth.ts";
import { hooks, rails } from "./hooks.ts";
import { cancelling, reading, recovery } from "./hosted.ts";
import { kills } from "./kills.ts";
import type { Scenario } from "./scenario.ts";
import { steps } from "./steps.ts";
import { stream } from "./stream.ts";

export const scenarios: Record<string, Scenario> = {
  steps,
  growth,
  stream,
  concurrent,
  hooks,
  rails,
  "durable-steps": durableSteps,
  "durable-concurrent": durableConcurrent,
  recovery,
  reading,
  cancelling,
  kills,
};
