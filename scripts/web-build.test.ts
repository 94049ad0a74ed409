import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixture } from "./fixture.ts";
import { builtWeb } from "./web-build.ts";

const app = () =>
  fixture({
    "index.html": `<!doctype html><title>App</title><script type="module" src="/src/main.ts"></script>`,
    "src/main.ts": `document.title = "first";`,
  });

const built = (web: string) => readFileSync(join(web, "dist/index.html"), "utf8");

test("the web app is built once for all who ask at a time, and not again while nothing changes", async () => {
  const web = app();
  const folders = await Promise.all([1, 2, 3].map(() => builtWeb(web)));
  expect(new Set(folders)).toEqual(new Set([join(web, "dist")]));
  const { ino } = statSync(join(web, "dist"));
  await builtWeb(web);
  expect(statSync(join(web, "dist")).ino).toBe(ino);
});

test("it is built again when a source is newer, and a build that fails leaves the old one and says why", async () => {
  const web = app();
  await builtWeb(web);
  const first = built(web);
  change(web, `document.title = "second";`);
  await builtWeb(web);
  expect(built(web)).not.toBe(first);
  const second = built(web);
  change(web, `import "./no-such-file.ts";`);
  await expect(builtWeb(web)).rejects.toThrow("no-such-file");
  expect(built(web)).toBe(second);
  expect(existsSync(join(web, "node_modules/.web"))).toBe(false);
});

function change(web: string, text: string): void {
  writeFileSync(join(web, "src/main.ts"), text);
  // Both may have been written within one tick of the clock of the files.
  utimesSync(join(web, "dist/index.html"), 0, 0);
}
