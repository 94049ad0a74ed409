import type { Scope } from "trackside";
import { TracksideError } from "trackside";

/** Which digests of tool definitions somebody approved (M5). */
export interface DefinitionStore {
  get(key: string): Promise<string | undefined> | string | undefined;
  set(key: string, digest: string): Promise<void> | void;
}

export interface Deadlines {
  /** Starting a server, agreeing on a version and listing its tools, together. */
  readonly connectMs: number;
  /** A call without progress. */
  readonly idleMs: number;
  /** A call, whatever progress it makes. The time a person takes to answer its questions does not count. */
  readonly totalMs: number;
}

export interface McpHubOptions {
  /** Finds the value of `{ secret: name }` in `env` and `headers`. */
  readonly secrets?: (name: string, scope: Scope) => Promise<string>;
  readonly deadlines?: Partial<Deadlines>;
  /** The largest message a server may send. 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Where approved definitions are kept; in memory if left out. */
  readonly definitions?: DefinitionStore;
  /** How long a connection that no run needs stays open. 60 seconds; 0 closes it at once. */
  readonly keepMs?: number;
}

export interface HubSettings {
  readonly secrets: McpHubOptions["secrets"];
  readonly deadlines: Deadlines;
  readonly maxMessageBytes: number;
  readonly definitions: DefinitionStore;
  readonly keepMs: number;
}

/** Timers count no further; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const KEYS = ["secrets", "deadlines", "maxMessageBytes", "definitions", "keepMs"];
const DEADLINES: Deadlines = { connectMs: 30_000, idleMs: 60_000, totalMs: 600_000 };

export function readOptions(options: McpHubOptions): HubSettings {
  const problems: string[] = [];
  const number = (name: string, value: number, min: number, max: number) => {
    if (typeof value === "number" && value >= min && value <= max) return value;
    problems.push(`${name} is ${String(value)}; give a number from ${min} to ${max}`);
    return min;
  };
  for (const key of Object.keys(options))
    if (!KEYS.includes(key)) problems.push(`there is no option ${key}; there are ${KEYS.join(", ")}`);
  for (const key of Object.keys(options.deadlines ?? {}))
    if (!(key in DEADLINES))
      problems.push(`there is no deadline ${key}; there are connectMs, idleMs, totalMs`);
  const given = { ...DEADLINES, ...options.deadlines };
  const settings = {
    secrets: options.secrets,
    deadlines: {
      connectMs: number("deadlines.connectMs", given.connectMs, 1, MAX_TIMER_MS),
      idleMs: number("deadlines.idleMs", given.idleMs, 1, MAX_TIMER_MS),
      totalMs: number("deadlines.totalMs", given.totalMs, 1, MAX_TIMER_MS),
    },
    maxMessageBytes: number("maxMessageBytes", options.maxMessageBytes ?? 64 * 2 ** 20, 1024, 2 ** 29),
    definitions: options.definitions ?? inMemory(),
    keepMs: number("keepMs", options.keepMs ?? 60_000, 0, MAX_TIMER_MS),
  };
  if (problems.length > 0)
    throw new TracksideError("config_invalid", `The options of McpHub are wrong: ${problems.join("; ")}`);
  return settings;
}

function inMemory(): DefinitionStore {
  const digests = new Map<string, string>();
  return { get: (key) => digests.get(key), set: (key, digest) => void digests.set(key, digest) };
}
