import { describe, expect, test } from "vitest";
import { cli, fixture } from "../support/cli.ts";
import { project } from "../support/project.ts";

const AGENT = fixture("calculator");

describe("what is wrong with Temporal's options", () => {
  const refused = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await project(null).cli(args, { env });
    expect(stdout).toBe("");
    expect(stderr).not.toContain("node:internal");
    expect(code).toBe(2);
    return stderr;
  };

  test("an engine that is none", async () => {
    expect(await refused(["run", AGENT, "go", "--engine", "temporel"])).toBe(
      '--engine: "temporel" is none of local, temporal. Did you mean temporal?\n',
    );
    expect(await refused(["worker", AGENT, "--engine", "local"])).toContain('"local" is none of temporal');
    expect(await refused(["run", AGENT, "go", "--engine", "local", "--temporal", "here:1"])).toContain(
      "contradict each other",
    );
  });

  test("options that would do nothing without it", async () => {
    expect(await refused(["run", AGENT, "go", "--task-queue", "mine"])).toBe(
      "--task-queue is for Temporal: add --engine temporal, or --temporal with an address.\n",
    );
    expect(await refused(["worker", "--store", "here.db"])).toContain("--store is for Temporal");
    expect(await refused(["worker", AGENT])).toContain("With Temporal it may have an agent");
  });

  test("an address, a name or a store that is none", async () => {
    const address = ["run", AGENT, "go", "--temporal", "http://localhost:7233"];
    expect(await refused(address)).toContain("a host and a port expected, such as 127.0.0.1:7233");
    expect(await refused(["worker", AGENT, "--engine", "temporal", "--task-queue", " "])).toContain(
      '--task-queue: a name expected, " " given.',
    );
    const stores = ["mysql://ann:secret@db", "sqlite:", ":memory:"];
    for (const store of stores) {
      const told = await refused(["run", AGENT, "go", "--engine", "temporal", "--store", store]);
      expect(told).toMatch(/^--store: /);
      expect(told).not.toContain("secret");
    }
    const told = await refused(["run", AGENT, "go", "--engine", "temporal"], {
      TRACKSIDE_BUS: "ann:secret@redis",
    });
    expect(told).toMatch(/^--bus: the address of Redis expected/);
    expect(told).not.toContain("secret");
  });

  test("a key that is not there", async () => {
    expect(await refused(["run", AGENT, "go", "--engine", "temporal", "--api-key-env", "CLOUD"])).toContain(
      'the environment has no "CLOUD"',
    );
  });

  test("no server: what was tried, and what to do", async () => {
    const told = await refused(["run", AGENT, "go", "--temporal", "127.0.0.1:2"]);
    expect(told).toMatch(/^No Temporal server answers at 127\.0\.0\.1:2, tried for up to 10 s without TLS: /);
    expect(told).toContain("temporal server start-dev");
    const env = { TEMPORAL_ADDRESS: "127.0.0.1:2", TEMPORAL_API_KEY: "secret" };
    const other = await refused(["worker", AGENT, "--engine", "temporal"], env);
    expect(other).toContain(
      "at 127.0.0.1:2, tried for up to 10 s with TLS, since TEMPORAL_API_KEY has a key",
    );
    expect(other).not.toContain("secret");
  });

  test("an agent of the config has its engine there", async () => {
    const place = project();
    const { code, stderr } = await place.cli(["run", "greeter", "go", "--engine", "temporal"]);
    expect(stderr).toContain("--engine is for a file: what greeter runs on is said in the config");
    expect(stderr).toContain("engine: temporal({ connection");
    expect(code).toBe(2);
    const worker = await place.cli(["worker", "--engine", "temporal", "--bus", "redis://here"]);
    expect(worker.stderr).toContain("--bus is for the file of an agent: a config has its own.");
    expect(worker.code).toBe(2);
  });

  test("a model that only this process would know", async () => {
    const args = ["run", AGENT, "go", "--engine", "temporal", "--model", "ollama:x"];
    expect(await refused(args)).toContain("an agent runs on the model its file says");
  });

  test("it is in the help", async () => {
    for (const name of ["run", "worker"]) {
      const { stdout } = await cli([name, "--help"]);
      for (const option of [
        "--engine temporal",
        "--temporal address",
        "--task-queue",
        "--namespace",
        "--tls",
      ])
        expect(stdout).toContain(option);
    }
  });
});
