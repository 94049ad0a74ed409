/** A worker of the hand-written workflow, set up as Trackside's. Both of its activities are empty. */
import { fileURLToPath } from "node:url";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import type { Place } from "./servers.ts";

Runtime.install({ logger: new DefaultLogger("WARN") });
const place: Place = JSON.parse(process.argv[2] ?? "");
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: place.temporal }),
  taskQueue: "hand",
  workflowsPath: fileURLToPath(new URL("./hand-workflow.ts", import.meta.url)),
  activities: { model: async (step: number) => step, tool: async (step: number) => step },
  maxConcurrentActivityTaskExecutions: 100,
  stickyQueueScheduleToStartTimeout: 1000,
});
process.on("disconnect", () => process.exit());
const running = worker.run();
process.send?.("ready");
await running;
process.exit();
