import { appendFileSync } from "node:fs";
import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";
import { runLog } from "../../../../scripts/testing/run-log.ts";

// A process has one runtime, which its test files share: every file that starts workers imports this module.
Runtime.install({
  logger: new DefaultLogger("WARN", ({ level, message, meta }) =>
    appendFileSync(runLog(), `${level} ${message} ${JSON.stringify(meta ?? {})}\n`),
  ),
  // Without it the native part of the SDK writes to stderr by itself.
  telemetryOptions: {
    logging: { filter: makeTelemetryFilterString({ core: "WARN", other: "ERROR" }), forward: {} },
  },
  shutdownSignals: [],
});
