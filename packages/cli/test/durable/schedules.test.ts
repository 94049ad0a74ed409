import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { configOf, project } from "../support/project.ts";

const CONFIG = configOf("served");
const ANN = { by: "ann" };

/** A place with an agent and two schedules of it, as the control room would have made them. */
async function filled() {
  const place = project(CONFIG);
  const trackside = new Trackside({
    store: sqlite(join(place.folder, "trackside.db")),
    agents: [],
    models: { "demo:scripted": scriptedModel(["Hello."]) },
    claims: false,
  });
  const target = { kind: "agent", name: "greeter" } as const;
  const trigger = { kind: "cron", pattern: "0 7 * * 1-5", time_zone: "Europe/Berlin" } as const;
  await trackside.agents.create({ definition: { name: "greeter", model: "demo:scripted" } }, ANN);
  await trackside.schedules.create({ name: "morning", target, trigger, input: "Hi" }, ANN);
  await trackside.schedules.create({ name: "hook", target, trigger: { kind: "webhook" } }, ANN);
  await trackside.close();
  return place;
}

describe("trackside schedules", () => {
  test("they are listed, switched and fired, and say when they are due", async () => {
    const place = await filled();
    const { stdout: all } = await place.cli(["schedules"]);
    expect(all).toMatch(/^SCHEDULE +STARTS +WHEN +NEXT/);
    expect(all).toMatch(/hook +agent greeter +a webhook comes/);
    expect(all).toMatch(
      /morning +agent greeter +at 07:00 on weekdays, Europe\/Berlin +\w{3},? \d\d \w+ \d{4}/,
    );

    const { stdout: times } = await place.cli(["schedules", "next", "morning"]);
    expect(times.trim().split("\n")).toHaveLength(6);
    expect(times).toMatch(/07:00:00 GMT\+[12]$/m);
    expect((await place.cli(["schedules", "next", "hook"])).stdout).toContain("waits for a webhook");
    const [pattern] = await place.json("schedules", "next", "0 12 29 2 *", "--zone", "UTC");
    expect(pattern).toMatchObject({ words: "at 12:00 on day 29 of February", time_zone: "UTC" });

    expect((await place.cli(["schedules", "disable", "morning"])).stdout).toBe("morning is off.\n");
    expect((await place.cli(["schedules"])).stdout).toMatch(/morning .* off/);
    expect((await place.cli(["schedules", "enable", "morning"])).stdout).toMatch(
      /^morning is on. It is due next: /,
    );

    const { stdout: ran, code } = await place.cli(["schedules", "run", "morning"]);
    expect(ran).toMatch(/^run_\w+ is started\.\nIt is completed\./);
    expect(code).toBe(0);
    const [, morning] = await place.json("schedules");
    expect(morning).toMatchObject({ name: "morning", last: { cause: "person", run_status: "completed" } });
  });

  test.each([
    [["schedules", "next"], "Something is missing"],
    [["schedules", "next", "0 7 * * *"], "A pattern needs the zone it is for"],
    [["schedules", "next", "0 0 30 2 *", "--zone", "UTC"], "never fires"],
    [["schedules", "next", "0 0 * * *", "--zone", "Mars"], "IANA"],
    [["schedules", "run", "nothing"], 'There is no schedule "nothing"'],
    [["schedules", "enabel", "morning"], "Did you mean enable?"],
  ])("%j is refused with what to do", async (args, message) => {
    const { stderr, code } = await project(CONFIG).cli(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
