import { afterAll } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../scripts/services/index.ts";
import { conforms } from "../../host/test/conformance/conforms.ts";
import { TemporalStage } from "./support/host-stage.ts";
import { SharedWorker } from "./support/shared-worker.ts";

await serviceSuite("X9 a host on Temporal", sharedTemporal, ({ address }) => {
  let shared: Promise<SharedWorker> | undefined;
  afterAll(async () => (await shared)?.close());
  conforms("temporal", async () => {
    shared ??= SharedWorker.start(address);
    return new TemporalStage(await shared);
  });
});
