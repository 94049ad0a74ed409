import { behavioursFor, engineSuite } from "trackside/testing";
import { afterAll, describe, test } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../scripts/services/index.ts";
import { Stage } from "./support/stage.ts";

/** The same promises on every engine: here with the loop in a workflow (X9). */
await serviceSuite("the Temporal engine", sharedTemporal, ({ address }) => {
  const stage = new Stage(address);
  afterAll(() => stage.close());

  // Most of the time is waiting: for a poll, a worker that comes up, a timer of the server.
  describe.concurrent("X9 conforms", () => {
    for (const { title, check } of behavioursFor(engineSuite, "temporal")) {
      test(title, async () => {
        const made: { close(): Promise<void> }[] = [];
        try {
          await check(async (options) => {
            const one = await stage.engine(options);
            made.push(one);
            return one.engine;
          });
        } finally {
          for (const one of made) await one.close();
        }
      });
    }
  });
});
