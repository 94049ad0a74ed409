import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { CRASH_AT } from "../support/crash-point.ts";
import { Programs } from "../support/programs.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

const dir = temporaryFolder("variable");
let programs: Programs;

beforeAll(async () => {
  programs = await Programs.build();
});

afterAll(() => programs.remove());

/** Plays the first scenario by hand, as the program's own words say. */
async function play(name: string, variables: Record<string, string>) {
  const worker = programs.start("worker", [], variables);
  const ended = once(worker, "exit");
  const job = {
    place: join(dir, `${name}.db`),
    ledger: join(dir, `${name}.ledger`),
    scenario: SCENARIOS[0]?.name,
  };
  worker.stdin.end(`${JSON.stringify(job)}\n`);
  const [said, errors] = await Promise.all([text(worker.stdout), text(worker.stderr)]);
  const [code, signal] = await ended;
  return { said, errors, code, signal };
}

test("a process kills itself where TRACKSIDE_CRASH_AT says, and the next one ends the run", async () => {
  const first = await play("killed", { [CRASH_AT]: "6:after" });
  expect(first).toMatchObject({ said: "", signal: "SIGKILL" });
  const second = await play("killed", {});
  expect(second).toMatchObject({ code: 0, errors: "" });
  expect(JSON.parse(second.said)).toMatchObject({
    output: "paid",
    report: { runs: [{ status: "completed" }] },
  });
});

test("a point that cannot be read is refused, with what can", async () => {
  const { code, errors } = await play("refused", { [CRASH_AT]: "six" });
  expect(code).not.toBe(0);
  expect(errors).toContain(
    'TRACKSIDE_CRASH_AT is "six"; write a number and when, such as 12:before or 12:after',
  );
});
