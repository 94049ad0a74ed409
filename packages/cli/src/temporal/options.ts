import { readWord } from "../arguments.ts";
import { Complaint } from "../complaint.ts";
import type { Io } from "../io.ts";

/** Options of commands that may have Temporal drive the runs. */
export const TEMPORAL_OPTIONS = {
  engine: { type: "string" },
  temporal: { type: "string" },
  "task-queue": { type: "string" },
  namespace: { type: "string" },
  "api-key-env": { type: "string" },
  tls: { type: "boolean" },
  store: { type: "string" },
  bus: { type: "string" },
} as const;

export interface TemporalValues {
  readonly engine?: string | undefined;
  readonly temporal?: string | undefined;
  readonly "task-queue"?: string | undefined;
  readonly namespace?: string | undefined;
  readonly "api-key-env"?: string | undefined;
  readonly tls?: boolean | undefined;
  readonly store?: string | undefined;
  readonly bus?: string | undefined;
}

export const TEMPORAL_OPTIONS_HELP = `  --temporal address      the server, such as 127.0.0.1:7233; else TEMPORAL_ADDRESS
  --task-queue name       of the workers; "trackside" unless given
  --namespace name        else TEMPORAL_NAMESPACE, or "default"
  --api-key-env NAME      the environment variable with the key for Temporal Cloud; else TEMPORAL_API_KEY, if set
  --tls                   connects with TLS; with a key this is the default
  --store where           with a file: postgres://… or a file for SQLite; else TRACKSIDE_STORE, or trackside.db here
  --bus url               with a file: redis://…, for text as it is written; else TRACKSIDE_BUS`;

/** A Temporal server, and the task queue on it. */
export interface Target {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly tls: boolean;
  readonly apiKey?: { readonly value: string; readonly from: string };
}

const ADDRESS = "127.0.0.1:7233";
const TASK_QUEUE = "trackside";

/** The server to connect to; undefined when Temporal has no part in it. */
export function readTarget(
  values: TemporalValues,
  env: Io["env"],
  engines: readonly ("local" | "temporal")[],
): Target | undefined {
  const engine = readWord("--engine", values.engine, engines);
  if (engine === "local" && values.temporal !== undefined)
    throw new Complaint("--engine local and --temporal contradict each other: leave one of them out.");
  if (engine !== "temporal" && values.temporal === undefined) {
    refuseWithout(values);
    return undefined;
  }
  const apiKey = readKey(values["api-key-env"], env);
  return {
    address: readAddress(values.temporal ?? (env.TEMPORAL_ADDRESS || ADDRESS)),
    namespace: named("--namespace", values.namespace ?? (env.TEMPORAL_NAMESPACE || "default")),
    taskQueue: named("--task-queue", values["task-queue"] ?? TASK_QUEUE),
    tls: values.tls === true || apiKey !== undefined,
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Whether the server is on this machine. */
export function isLoopback({ address }: Target): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/.test(address);
}

/** An option that would do nothing is a mistake. */
function refuseWithout(values: TemporalValues): void {
  const names = ["task-queue", "namespace", "api-key-env", "tls", "store", "bus"] as const;
  const given = names.find((name) => values[name] !== undefined);
  if (given !== undefined)
    throw new Complaint(`--${given} is for Temporal: add --engine temporal, or --temporal with an address.`);
}

function readAddress(given: string): string {
  if (/^(\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+)(:\d{1,5})?$/.test(given)) return given;
  throw new Complaint(
    `--temporal: a host and a port expected, such as ${ADDRESS}, ${JSON.stringify(given)} given.`,
  );
}

function named(option: string, given: string): string {
  if (given.trim() !== "") return given;
  throw new Complaint(`${option}: a name expected, ${JSON.stringify(given)} given.`);
}

function readKey(name: string | undefined, env: Io["env"]): Target["apiKey"] {
  const from = name ?? "TEMPORAL_API_KEY";
  const value = env[from];
  if (value) return { value, from };
  if (name === undefined) return undefined;
  throw new Complaint(
    `--api-key-env: the environment has no ${JSON.stringify(name)}. It is the name of a variable, not the key.`,
  );
}
