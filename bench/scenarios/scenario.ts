import type { Budget, Measured } from "../measure.ts";
import type { Contestant } from "../workload.ts";

export interface Metric {
  key: string;
  label: string;
  digits: number;
  /** Show the ratio to the baseline beside the value. */
  ratio?: boolean;
}

export interface Outcome {
  values: Measured;
  /** The entry point that was measured, where the contestant has several. */
  way?: string | undefined;
}

/** Measured in a process of its own per contestant. */
export interface Scenario {
  title: string;
  metrics: Metric[];
  /** Who takes part; absent: everyone that runs agents in memory. */
  contestants?: string[];
  /** Measured in one process only, however many are asked for: it takes long, or is no measurement of time. */
  once?: boolean;
  measure(contestant: Contestant, budget: Budget): Promise<Outcome>;
}
