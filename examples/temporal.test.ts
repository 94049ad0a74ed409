import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { runProgram } from "../scripts/run-program.ts";
import { serviceSuite, sharedTemporal } from "../scripts/services/index.ts";

const example = join(import.meta.dirname, "20-temporal.ts");
const timeoutMs = 240_000;
afterEach(() => void vi.unstubAllEnvs());

await serviceSuite("the example on Temporal", sharedTemporal, (server) => {
  test("20-temporal.ts shows that a run goes on when its worker is killed", async () => {
    vi.stubEnv("TEMPORAL_ADDRESS", server.address);
    expect(await runProgram(example, { cwd: tmpdir(), timeoutMs })).toBe(
      "the worker that counted is gone\nthe other one counts\nThere are 12 lamps.\n",
    );
  });
});

test("without a server 20-temporal.ts says how to have one", { timeout: timeoutMs + 5_000 }, async () => {
  vi.stubEnv("TEMPORAL_ADDRESS", undefined);
  vi.stubEnv("TEMPORAL_CLI_PATH", join(tmpdir(), "no-such-program"));
  expect(await runProgram(example, { cwd: tmpdir(), timeoutMs })).toMatch(/`temporal server start-dev`/);
});
