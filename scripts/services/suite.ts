import { afterAll, describe, test, vi } from "vitest";
import type { Missing } from "./service.ts";

/** Hundreds of databases are gigabytes to remove, on a disk that others write to as well. */
const STOPS_WITHIN_MS = 300_000;
/** What asks a server gets its answer when that gets a turn. */
const PATIENCE_MS = 300_000;

/** A `describe` for tests that need a service. Where it cannot be had they are skipped, and the title says why. */
export async function serviceSuite<S extends object>(
  title: string,
  provide: () => Promise<S | Missing>,
  body: (service: S) => void,
): Promise<void> {
  const service = await provide();
  if ("missing" in service) {
    process.stderr.write(`services: skipped "${title}": ${service.missing}\n`);
    describe(title, () => test.skip(`needs ${service.missing}`, () => {}));
    return;
  }
  vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });
  describe(title, () => {
    // A shared service has no `stop`: it serves other files too.
    if ("stop" in service && typeof service.stop === "function")
      afterAll(() => (service as S & { stop(): Promise<void> }).stop(), STOPS_WITHIN_MS);
    body(service);
  });
}
