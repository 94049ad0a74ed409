/** The keys of a bus: one stream for each run, and one for each process to wake its own reader with. */
export interface Keys {
  run(runId: string): string;
  bell(busId: string): string;
}

export function keysOf(prefix: string): Keys {
  return { run: (runId) => `${prefix}run:${runId}`, bell: (busId) => `${prefix}bell:${busId}` };
}
