import { temporalServer } from "../scripts/services/index.ts";
import { findTemporal } from "../scripts/services/temporal-program.ts";

export interface Server {
  readonly address: string;
  stop(): Promise<void>;
}

/** The server at TEMPORAL_ADDRESS, else a development server of our own where there is a `temporal` program to start. */
export async function someServer(): Promise<Server | undefined> {
  const address = process.env["TEMPORAL_ADDRESS"];
  if (address !== undefined) return { address, stop: async () => {} };
  if (findTemporal() === undefined) return undefined;
  const own = await temporalServer();
  return "missing" in own ? undefined : own;
}
