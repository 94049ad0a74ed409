import { afterAll, describe, test } from "vitest";
import type { Missing, Service } from "./service.ts";

/** A `describe` for tests that need a service. Where it cannot be had they are skipped, and the title says why. */
export async function serviceSuite<S extends Service>(
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
  describe(title, () => {
    afterAll(() => service.stop());
    body(service);
  });
}
