import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../../scripts/services/index.ts";
import { fixture } from "../support/cli.ts";
import { type Project, project, until } from "../support/project.ts";

await serviceSuite("trackside with Temporal", sharedTemporal, (server) => {
  /** A folder with a store of its own, and a task queue for it. */
  const started = (config: string | null = null) => {
    const place = project(config);
    const queue = `queue-${randomUUID()}`;
    const where = ["--temporal", server.address, "--task-queue", queue];
    return { place, queue, where };
  };
  const counting = (place: Project) => until(() => (place.ledger().length > 0 ? true : undefined));

  test("X9 a run that one process starts is done by another, and shown as it happens", async () => {
    const { place, queue, where } = started();
    place.write("go.txt", "");
    const worker = place.worker([fixture("counter"), ...where], { process: true });
    expect(await worker.said("ready")).toMatchObject({
      agents: ["counter"],
      temporal: server.address,
      namespace: "default",
      task_queue: queue,
    });
    const run = ["run", fixture("counter"), "go", "--engine", "temporal", ...where];
    const { code, stdout, stderr } = await place.cli(run);
    expect(stderr).toBe("");
    expect(stdout).toContain("counter on scripted:scripted, in sqlite trackside.db");
    expect(stdout).toContain("✓ 1.1 count");
    expect(stdout).toMatch(/I read .*42/);
    expect(stdout).toContain("● done");
    expect(code).toBe(0);
    const over = await worker.said("ended");
    expect(over).toMatchObject({ agent: "counter", status: "completed" });
    await worker.said("started", String(over["run_id"]));

    const json = await place.cli([...run, "--json"]);
    const events = json.stdout.trim().split("\n");
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "status", status: "completed" });

    worker.signal("SIGTERM");
    expect(await worker.said("stopped")).toMatchObject({ left: 0 });
    expect(await worker.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("X2 a worker that is killed in the middle of a tool: another one goes on, and the run is finished", async () => {
    const { place, where } = started();
    const first = place.worker([fixture("counter"), ...where], { process: true });
    await first.said("ready");
    const running = place.cli(["run", fixture("counter"), "go", ...where]);
    await counting(place);
    first.signal("SIGKILL");
    await first.ended;
    const second = place.worker([fixture("counter"), ...where]);
    await second.said("taken_up");
    place.write("go.txt", "");
    const { code, stdout } = await running;
    expect(stdout).toMatch(/I read .*42/);
    expect(code).toBe(0);
    expect(await second.said("ended")).toMatchObject({ status: "completed" });
    expect(place.ledger()).toEqual(["counting", "counting"]);
  });

  test("SIGTERM lets a tool finish first", async () => {
    const { place, where } = started();
    const worker = place.worker([fixture("counter"), ...where]);
    await worker.said("ready");
    const queued = await place.cli(["run", fixture("counter"), "go", "--queue", ...where]);
    expect(queued.stdout).toMatch(/^run_\w+\n$/);
    await counting(place);
    worker.signal("SIGTERM");
    place.write("go.txt", "");
    expect((await worker.ended).code).toBe(0);
    const second = place.worker([fixture("counter"), ...where]);
    expect(await second.said("ended", queued.stdout.trim())).toMatchObject({ status: "completed" });
    expect(place.ledger()).toEqual(["counting"]);
  });

  test("SIGTERM leaves a run whose tool does not finish to the next worker, and exits with 0", async () => {
    const { place, where } = started();
    const first = place.worker([fixture("counter"), ...where]);
    await first.said("ready");
    const queued = await place.cli(["run", fixture("counter"), "go", "--queue", ...where]);
    await counting(place);
    first.signal("SIGTERM");
    expect(await first.said("stopped")).toMatchObject({ left: 1 });
    expect(await first.ended).toMatchObject({ code: 0, stderr: "" });
    place.write("go.txt", "");
    const second = place.worker([fixture("counter"), ...where]);
    expect(await second.said("ended", queued.stdout.trim())).toMatchObject({ status: "completed" });
  });

  test("a run that is started before any worker says so, and waits for one", async () => {
    const { place, where } = started();
    place.write("go.txt", "");
    const running = place.start(["run", fixture("counter"), "go", ...where]);
    await running.see("no worker is up");
    place.worker([fixture("counter"), ...where]);
    const { code, stdout } = await running.ended;
    expect(stdout).toContain(
      `Start one: trackside worker ${fixture("counter")} --temporal ${server.address}`,
    );
    expect(stdout).toMatch(/I read .*42/);
    expect(code).toBe(0);
  });

  test("L1 approvals are decided where the run was started", async () => {
    const { place, where } = started();
    const worker = place.worker([fixture("gated"), ...where]);
    await worker.said("ready");
    const all = await place.cli(["run", fixture("gated"), "one", "--approve", "all", ...where]);
    expect(all.stdout).toMatch(/I read .*deployed/);
    expect(all.code).toBe(0);
    const none = await place.cli(["run", fixture("gated"), "one", ...where]);
    expect(none.stdout).toContain("rejected");
    expect(none.stdout).not.toMatch(/I read .*deployed/);
    expect(none.code).toBe(0);
  });

  test("X5 Ctrl-C cancels the run, wherever its tool is", async () => {
    const { place, where } = started();
    const worker = place.worker([fixture("counter"), ...where]);
    await worker.said("ready");
    const running = place.start(["run", fixture("counter"), "go", ...where]);
    await running.see("count {}");
    running.signal("SIGINT");
    const { code, stdout } = await running.ended;
    expect(stdout).toContain("■ stopped");
    expect(code).toBe(130);
    expect(await worker.said("ended")).toMatchObject({ status: "cancelled" });
  });

  test("where no worker has the agent, the run is refused or parked, and whoever started it hears why", async () => {
    const { place, where } = started();
    const running = place.start(["run", fixture("counter"), "go", ...where]);
    await running.see(/run_\w+\n/); // it is in the store, so it is too late to refuse it
    place.worker([fixture("calculator"), ...where]);
    const early = await running.ended;
    expect(early.stdout).toMatch(/! parked\s.*counter/s);
    expect(early.stdout).toContain("These need a trackside.config.ts on the same store.");
    expect(early.code).toBe(1);
    const late = await place.cli(["run", fixture("counter"), "go", ...where]);
    expect(late.stdout).toMatch(/(parked|No worker)\s.*counter/s);
    expect([1, 2]).toContain(late.code);
  });

  test("X7 a chat goes on with what was said, whoever did the work", async () => {
    const { place, where } = started();
    const worker = place.worker([fixture("memory"), ...where]);
    await worker.said("ready");
    const { code, stdout } = await place.cli(["chat", fixture("memory"), ...where], { input: "one\ntwo\n" });
    expect(stdout).toMatch(/in sqlite trackside\.db/);
    expect(stdout).toMatch(/› one\n.*Message 1\..*› two\n.*Message 2\./s);
    expect(code).toBe(0);
  });

  test("the agents of a config work for Temporal, too", async () => {
    const { place, queue } = started();
    writeFileSync(join(place.folder, "go.txt"), "");
    const imports = `import { Connection } from ${JSON.stringify(import.meta.resolve("@temporalio/client"))};
import { temporal } from ${JSON.stringify(import.meta.resolve("@trackside/temporal"))};
import { Agent, scriptedModel, sqlite, Trackside } from ${JSON.stringify(import.meta.resolve("../fixtures/durable.ts"))};
`;
    place.write(
      "trackside.config.ts",
      `${imports}
const connection = Connection.lazy({ address: ${JSON.stringify(server.address)} });
export default new Trackside({
  store: sqlite("trackside.db", { sync: "normal" }),
  agents: [new Agent({ name: "greeter", model: scriptedModel(["Hello there."], { loop: true }) })],
  engine: temporal({ connection, taskQueue: ${JSON.stringify(queue)} }),
});
`,
    );
    const worker = place.worker(["--temporal", server.address, "--task-queue", queue]);
    await worker.said("ready");
    const { code, stdout } = await place.cli(["run", "greeter", "go"]);
    expect(stdout).toContain("Hello there.");
    expect(code).toBe(0);
    expect(await worker.said("ended")).toMatchObject({ agent: "greeter", status: "completed" });
    const [run] = await place.json("runs");
    expect(run).toMatchObject({ agent: "greeter", status: "completed" });
  });

  test("a namespace that is not there is named", async () => {
    const { place, where } = started();
    const { code, stderr } = await place.cli([
      "worker",
      fixture("counter"),
      ...where,
      "--namespace",
      "nowhere",
    ]);
    expect(stderr).toContain(`The Temporal server at ${server.address} has no namespace "nowhere".`);
    expect(code).toBe(2);
  });
});
