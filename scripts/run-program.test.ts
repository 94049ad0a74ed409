import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { fixture } from "./fixture.ts";
import { runProgram } from "./run-program.ts";

vi.setConfig({ testTimeout: 150_000 }); // processes start when they get a turn

const run = (code: string, timeoutMs = 60_000) => {
  const cwd = fixture({ "package.json": `{ "type": "module" }`, "a.ts": code });
  return runProgram(join(cwd, "a.ts"), { cwd, timeoutMs });
};

test("a program that ends well resolves to what it printed", async () => {
  await expect(run(`const said: string = "hi"; console.log(said);`)).resolves.toBe("hi\n");
});

test("a program that fails rejects with its exit code and its output", async () => {
  await expect(run(`console.log("half"); throw new Error("boom");`)).rejects.toThrow(
    /exited with 1\nhalf\n(.|\n)*boom/,
  );
  await expect(run(`process.exit(3);`)).rejects.toThrow("exited with 3");
});

test("a program that does not end rejects", async () => {
  await expect(run(`setInterval(() => {}, 1000);`, 300)).rejects.toThrow("did not end within 300 ms");
});

test("a program sees no API key", async () => {
  process.env.TEST_PROVIDER_API_KEY = "secret";
  try {
    await expect(run(`console.log(process.env.TEST_PROVIDER_API_KEY);`)).resolves.toBe("undefined\n");
  } finally {
    delete process.env.TEST_PROVIDER_API_KEY;
  }
});
