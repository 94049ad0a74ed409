import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";

// A process has one runtime, which its test files share: every file that starts workers imports this module.
Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: {
    logging: { forward: {}, filter: makeTelemetryFilterString({ core: "ERROR", other: "ERROR" }) },
  },
  shutdownSignals: [],
});
