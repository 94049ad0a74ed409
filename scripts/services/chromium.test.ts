import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { fixture } from "../fixture.ts";
import { chromiumBrowser, serviceSuite } from "./index.ts";

await serviceSuite("Chromium for tests", chromiumBrowser, (chromium) => {
  test("it is a program that says its version, with a folder for what is made meanwhile", () => {
    expect(chromium.version).toMatch(/^\d+\.\d+/);
    expect(existsSync(chromium.program)).toBe(true);
    expect(existsSync(chromium.dir)).toBe(true);
  });

  test("a stopped one leaves no folder", async () => {
    const other = await found();
    await other.stop();
    expect(existsSync(other.dir)).toBe(false);
  });

  test("the one on the PATH comes first, and one that only says how to install it is passed over", async () => {
    const path = fixture({ other: "" });
    const program = (name: string, says: string) => {
      writeFileSync(join(path, name), `#!/bin/sh\necho '${says}'\n`);
      chmodSync(join(path, name), 0o755);
    };
    program("chromium", "Chromium is not installed: snap install chromium");
    vi.stubEnv("PATH", path);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await found()).program).not.toContain(path);
    program("chromium", "Chromium 156.0.1 built on a test");
    expect(await found()).toMatchObject({ program: join(path, "chromium"), version: "156.0.1" });
  });
});

async function found() {
  const chromium = await chromiumBrowser();
  if ("missing" in chromium) throw new Error(chromium.missing);
  onTestFinished(() => chromium.stop());
  return chromium;
}
