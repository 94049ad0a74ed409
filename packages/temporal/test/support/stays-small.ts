import { expect } from "vitest";
import { call, script } from "./agents.ts";
import { historiesOf } from "./histories.ts";
import type { Place } from "./place.ts";

const ALL = 500;
const MB = 1024 * 1024;

/** Runs so many steps with a rail on every point; 500 like them stay far from the limits of the server. */
export async function staysSmall(place: Place, steps: number): Promise<void> {
  await place.inside();
  const n = "limits";
  const all = [...Array.from({ length: steps }, (_, i) => call("look", `${n}-${i}`)), "done"];
  const runId = await place.start("guarded", script(n, all));
  expect((await place.ended(runId)).text).toBe("done");

  const histories = await historiesOf(place.workflows, runId);
  const events = histories.flatMap((history) => history.events ?? []);
  const sizes = events.map((event) => Buffer.byteLength(JSON.stringify(event)));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const tenth = Math.floor(sizes.length / 10);
  const most = (from: number) => Math.max(...sizes.slice(from, from + tenth));
  // How many workflow tasks there are depends on the speed of the machine.
  const own = events.filter((event) => !Object.keys(event).some((key) => key.startsWith("workflowTask")));
  expect(own.length).toBeLessThanOrEqual(20 + 6 * steps); // a beginning and an end, and two effects a step
  expect(most(8 * tenth)).toBeLessThan(most(tenth) * 1.2); // what is said does not grow with what was said
  expect(Math.max(...sizes)).toBeLessThan(MB / 4); // of 2 MB
  expect((bytes / steps) * ALL).toBeLessThan(10 * MB); // of 50 MB
  expect((events.length / steps) * ALL).toBeLessThan(10_000); // of 50,000
}
