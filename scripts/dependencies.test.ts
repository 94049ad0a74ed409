import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

test("docs/dependencies.md lists each dependency with its version, and nothing else", () => {
  const declared = globSync(["package.json", "packages/*/package.json"], { cwd: root }).flatMap((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path), "utf8"));
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }).map(
      ([name, version]) => `${name} ${version}`,
    );
  });
  const text = readFileSync(join(root, "docs/dependencies.md"), "utf8");
  const listed = [...text.matchAll(/^\| `(.+?)` \| (\S+) \| .+ \|$/gm)].map((row) => `${row[1]} ${row[2]}`);
  expect(listed.sort()).toEqual(declared.sort());
});
