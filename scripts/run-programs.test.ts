import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { fixture } from "./fixture.ts";
import { runPrograms } from "./run-programs.ts";

vi.setConfig({ testTimeout: 150_000 });

async function outcomesOf(programs: Record<string, string>, timeoutMs = 60_000) {
  const cwd = fixture({ "package.json": `{ "type": "module" }`, ...programs });
  const files = Object.keys(programs).map((name) => join(cwd, name));
  return [...(await runPrograms(files, { timeoutMs })).values()];
}

test("programs that end well resolve to their output, each in a folder of its own", async () => {
  const note = `
    import { existsSync, writeFileSync } from "node:fs";
    const seen: boolean = existsSync("note");
    writeFileSync("note", "");
    const { TEST_PROVIDER_API_KEY, LEFT } = process.env;
    process.env.LEFT = "by the first";
    setTimeout(() => console.log(seen, TEST_PROVIDER_API_KEY, LEFT), 20);`;
  vi.stubEnv("TEST_PROVIDER_API_KEY", "secret");
  try {
    const output = "false undefined undefined\n";
    expect(await outcomesOf({ "a.ts": note, "b.ts": note })).toEqual([{ output }, { output }]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("a program that fails is reported with its output, and the others run", async () => {
  const outcomes = await outcomesOf({
    "throws.ts": `console.log("half"); throw new Error("boom");`,
    "rejects.ts": `void Promise.reject(new Error("unseen"));`,
    "late.ts": `setTimeout(() => { throw new Error("late"); }, 5);`,
    "exits.ts": `process.exit(3);`,
    "exit-code.ts": `process.exitCode = 4;`,
    "never-settles.ts": `await new Promise(() => {});`,
    "killed.ts": `process.kill(process.pid, "SIGKILL"); await new Promise(() => {});`,
    "fine.ts": `console.log("fine");`,
  });
  const texts = [
    /boom(.|\n)*half\n/,
    /unseen/,
    /late/,
    /exited with 3/,
    /exited with 4/,
    /\(13\)/,
    /SIGKILL/,
  ];
  expect(outcomes).toEqual([
    ...texts.map((text) => ({ failure: expect.stringMatching(text) })),
    { output: "fine\n" },
  ]);
});

test("a program that does not end is reported", async () => {
  const [stuck, fine] = await outcomesOf(
    { "stuck.ts": `setInterval(() => {}, 1000);`, "fine.ts": "" },
    5_000,
  );
  expect(stuck).toEqual({ failure: expect.stringContaining("did not end within 5000 ms") });
  expect(fine).toEqual({ output: "" });
});
