import { expect, test } from "vitest";
import { serviceSuite, temporalServer } from "../../../../scripts/services/index.ts";
import { fixture } from "../support/cli.ts";
import { project, until } from "../support/project.ts";

await serviceSuite("trackside with a Temporal server that is killed", temporalServer, (server) => {
  test("a server that is away for a while: the worker says so once and goes on", async () => {
    const place = project(null);
    const where = ["--temporal", server.address];
    const worker = place.worker([fixture("counter"), ...where]);
    await worker.said("ready");
    const running = place.cli(["run", fixture("counter"), "go", ...where]);
    await until(() => (place.ledger().length > 0 ? true : undefined));
    await server.kill();
    await worker.until(() => worker.stderr.includes("is away") || undefined, "a notice");
    await server.restart();
    place.write("go.txt", "");
    const { code, stdout } = await running;
    expect(stdout).toMatch(/I read .*42/s);
    expect(code).toBe(0);
    worker.signal("SIGTERM");
    // Where the server stays away for longer than a heartbeat may, it has the tool run again: that may be told, too.
    const told = (await worker.ended).stderr.split("\n").filter((line) => !/Activity not found/.test(line));
    expect(told).toEqual([
      `! the Temporal server at ${server.address} is away; this worker goes on when it is back`,
      "",
    ]);
  });
});
