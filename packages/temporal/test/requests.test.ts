import { behavioursFor, engineSuite } from "trackside/testing";
import { afterAll, describe, test } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../scripts/services/index.ts";
import { compareRequests } from "../../host/test/requests/support/tapped.ts";
import { Stage } from "./support/stage.ts";

/** Every engine writes the same rows, so the rules whose runs leave most rows are enough. */
const TELLING = ["R4", "H2", "H4", "H5", "B4", "P2", "S7", "X6"];

await serviceSuite("R4 on Temporal requests are rebuilt as they were sent", sharedTemporal, ({ address }) => {
  const stage = new Stage(address);
  afterAll(() => stage.close());

  describe.concurrent("R4", () => {
    const behaviours = behavioursFor(engineSuite, "temporal");
    for (const behaviour of behaviours.filter(({ tags }) => TELLING.some((rule) => tags.includes(rule))))
      test(behaviour.title, async () => {
        await compareRequests(behaviour, (options) => stage.engine(options));
      });
  });
});
