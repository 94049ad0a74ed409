import type { AgentBinding } from "trackside";
import { keyring, type Trackside, type TracksideOptions } from "../../src/index.ts";

/** What a host is made with; the stage adds its store, keys and engine. */
export interface HostOptions
  extends Omit<TracksideOptions, "store" | "agents" | "engine" | "keyring" | "bus"> {
  readonly agents?: readonly object[];
}

/**
 * Where one behaviour is checked: an empty database and the engine under test. Hosts and workers of the same stage share the
 * database. The suite closes all of them after the check.
 */
export interface HostStage {
  /** Opens a host whose runs the engine under test executes. */
  host(options: HostOptions): Promise<Trackside>;
  /** Opens a host that has the database and no agents, and executes no runs. */
  desk(): Promise<Trackside>;
  /** Closes every host and worker, as when their processes end. Runs stay where they are. */
  stop(): Promise<void>;
  /** Everything the engine keeps outside the database, as text: Temporal keeps workflow histories. */
  histories(): Promise<string>;
  /** Calls back after the hosts are closed. */
  afterwards(close: () => unknown): void;
}

export const KEYS = keyring({ current: "k1", keys: { k1: new Uint8Array(32).fill(7) } });

/** The options of every host of a stage. */
export function optionsOf({ agents = [], ...options }: HostOptions) {
  return {
    keyring: KEYS,
    notice: () => {},
    ...options,
    agents: agents as readonly AgentBinding[], // agents of any tools and output
  };
}
