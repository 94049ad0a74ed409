import { type Client, type Connection, ScheduleClient, WorkflowClient } from "@temporalio/client";
import { cipher, type Keyring, type ScheduledElsewhere } from "@trackside/host";
import { sealedPayloads } from "../common/sealed-payloads.ts";
import { startRun } from "../common/start-run.ts";
import { engineName } from "../common/wire.ts";
import { scheduleMirror } from "./schedules.ts";

export interface TemporalOptions {
  /** From `Connection.connect({ address })` of `@temporalio/client`. */
  readonly connection: Connection | Client["connection"];
  /** The task queue of the workers. */
  readonly taskQueue: string;
  /** `default` unless given. */
  readonly namespace?: string;
  /** Encrypts what goes through Temporal. The workers have the same. */
  readonly keyring?: Keyring;
}

/**
 * Has Temporal drive the runs. The interface stays what it is: `run`, `stream`, `steer`, `approvals.decide`.
 *
 * @example
 * const connection = await Connection.connect({ address: "127.0.0.1:7233" });
 * const trackside = new Trackside({ store, bus, agents, engine: temporal({ connection, taskQueue: "agents" }) });
 */
export function temporal(options: TemporalOptions): ScheduledElsewhere {
  const { connection, taskQueue, namespace = "default", keyring } = options;
  const sealed = keyring && { dataConverter: { payloadCodecs: [sealedPayloads(cipher(keyring))] } };
  const workflows = new WorkflowClient({ connection, namespace, ...sealed });
  const schedules = new ScheduleClient({ connection, namespace, ...sealed });
  return {
    name: engineName(namespace, taskQueue),
    start: startRun(workflows, taskQueue),
    schedules: scheduleMirror(schedules, taskQueue),
  };
}
