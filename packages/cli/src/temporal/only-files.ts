import { Complaint } from "../complaint.ts";
import { TEMPORAL_OPTIONS, type TemporalValues } from "./options.ts";

/** The engine, the store and the bus of an agent of the config are said there. */
export function onlyFiles(name: string, values: TemporalValues): void {
  const options = Object.keys(TEMPORAL_OPTIONS) as (keyof TemporalValues)[]; // their names
  const given = options.find((option) => values[option] !== undefined);
  if (given === undefined) return;
  throw new Complaint(
    `--${given} is for a file: what ${name} runs on is said in the config, such as:\n\n  new Trackside({ store, agents, engine: temporal({ connection, taskQueue: "trackside" }) })`,
  );
}
