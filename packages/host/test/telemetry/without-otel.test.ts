import { expect, test, vi } from "vitest";
import { telemetryOf } from "../../src/telemetry/index.ts";

vi.mock("@opentelemetry/api", () => {
  throw new Error("Cannot find package '@opentelemetry/api'");
});

test("without OpenTelemetry nothing is missed until telemetry is switched on, then it says what to install", async () => {
  expect(await telemetryOf(undefined)).toBeUndefined();
  await expect(telemetryOf({})).rejects.toThrow(/npm install @opentelemetry\/api/);
});
