/** A worker of Trackside. Says when it is ready, and when something has begun that does not end by itself. */
import { Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { createWorker } from "@trackside/temporal/worker";
import { now, openTrackside, silent, TASK_QUEUE } from "./host.ts";
import type { Place } from "./servers.ts";

Runtime.install({ logger: new DefaultLogger("WARN") });
const place: Place = JSON.parse(process.argv[2] ?? "");
silent.onBegun = (what) => process.send?.({ begun: what, at: now() });
const connection = await NativeConnection.connect({ address: place.temporal });
const client = await Connection.connect({ address: place.temporal });
const worker = await createWorker({
  connection,
  taskQueue: TASK_QUEUE,
  trackside: openTrackside(place, client),
});
process.on("disconnect", () => process.exit());
const running = worker.run();
process.send?.("ready");
await running;
process.exit();
