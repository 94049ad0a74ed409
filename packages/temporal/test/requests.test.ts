import { engineConformance } from "trackside/testing";
import { afterAll, describe, test } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../scripts/services/index.ts";
import { compareRequests } from "../../host/test/requests/support/tapped.ts";
import { Stage } from "./support/stage.ts";

/** Rows are the same wherever the loop is: those behaviours that leave most to be read are enough. */
const TELLING = /\b(R4|H2|H4|H5|B4|P2|S7|X6)\b/;

await serviceSuite("R4 on Temporal requests are rebuilt as they were sent", sharedTemporal, ({ address }) => {
  const stage = new Stage(address);
  afterAll(() => stage.close());

  describe.concurrent("R4", () => {
    for (const behaviour of engineConformance.filter(({ title }) => TELLING.test(title)))
      test(behaviour.title, async () => {
        await compareRequests(behaviour, (options) => stage.engine(options));
      });
  });
});
