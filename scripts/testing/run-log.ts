import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { RUN_FOLDER } from "./run-folder.ts";

/** The file that takes logs of services, workers and programs. It is printed when a test fails, and removed with the run's folder. */
export function runLog(): string {
  return join(process.env[RUN_FOLDER] ?? "", "log");
}

/** Sends what tests write to stdout and stderr, past vitest's console, to the run's log. */
export function logOutput(): void {
  if (process.env[RUN_FOLDER] === undefined) return;
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      appendFileSync(runLog(), chunk);
      const done = rest.find((one) => typeof one === "function");
      done?.();
      return true;
    };
  }
}
