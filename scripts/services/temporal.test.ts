import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { serviceSuite, temporalServer } from "./index.ts";
import { isAlive } from "./lock-file.ts";

const run = promisify(execFile);
type Temporal = Exclude<Awaited<ReturnType<typeof temporalServer>>, { missing: string }>;

await serviceSuite("Temporal for tests", temporalServer, (temporal) => {
  test("a restart and a kill keep address and workflows", async () => {
    const { address, pid: first } = temporal;
    await begin(temporal, "one");
    await temporal.restart();
    await begin(temporal, "two");
    await temporal.kill();
    expect(() => temporal.pid).toThrow("Temporal does not run");
    await temporal.restart();
    await begin(temporal, "three");
    expect(temporal.address).toBe(address);
    for (const id of ["one", "two", "three"])
      expect(await describeWorkflow(temporal, id)).toMatch(new RegExp(`WorkflowId +${id}\\b`));
    expect(isAlive(first)).toBe(false);
  });

  test("a frozen one is restarted all the same", async () => {
    process.kill(temporal.pid, "SIGSTOP");
    await temporal.restart();
    await begin(temporal, "after-the-frost");
  });

  test("what it was asked to see whether it is ready is out of the way", async () => {
    const other = await started();
    expect((await temporalCli(other, "workflow", "count")).trim()).toBe("Total: 0");
  });

  test("servers are apart from each other, and what the user configured for others does not reach them", async () => {
    vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:1");
    vi.stubEnv("TEMPORAL_NAMESPACE", "theirs");
    vi.stubEnv("TEMPORAL_API_KEY", "theirs");
    onTestFinished(() => void vi.unstubAllEnvs());
    const other = await started();
    await begin(temporal, "here");
    await expect(describeWorkflow(other, "here")).rejects.toThrow("not found");
  });

  test("a stopped one leaves nothing", async () => {
    const other = await started();
    const { pid } = other;
    await other.stop();
    await other.stop();
    expect([isAlive(pid), existsSync(other.dir)]).toEqual([false, false]);
  });

  test("its settings are those of the server", async () => {
    const small = await started({ settings: { "limit.maxIDLength": 100 } });
    await begin(small, "short");
    await expect(begin(small, "x".repeat(101))).rejects.toThrow(/length/i);
  });
});

async function started(options?: Parameters<typeof temporalServer>[0]): Promise<Temporal> {
  const server = await temporalServer(options);
  if ("missing" in server) throw new Error(server.missing);
  onTestFinished(() => server.stop());
  return server;
}

async function temporalCli(temporal: Temporal, ...args: readonly string[]): Promise<string> {
  const env = { HOME: temporal.dir };
  const where = [`--address=${temporal.address}`, `--namespace=${temporal.namespace}`];
  return (await run(temporal.program, [...args, ...where], { env })).stdout;
}

const begin = (temporal: Temporal, id: string) =>
  temporalCli(temporal, "workflow", "start", "--type=none", "--task-queue=none", `--workflow-id=${id}`);

const describeWorkflow = (temporal: Temporal, id: string) =>
  temporalCli(temporal, "workflow", "describe", `--workflow-id=${id}`);
