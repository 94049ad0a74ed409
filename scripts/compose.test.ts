import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const images = [...read("compose.yaml").matchAll(/^ +image: (\S+?):(\S+)$/gm)].map(
  ([, name = "", tag = ""]) => ({ name, tag }),
);

test("compose.yaml pins every image to a version", () => {
  expect(images.length).toBe(read("compose.yaml").match(/image:/g)?.length);
  for (const { name, tag } of images) expect(`${name} ${tag}`).toMatch(/ \d+\.\d+(\.\d+)?(-alpine)?$/);
});

test("compose.yaml has the Temporal server that the tests run on", () => {
  const [, version] =
    /go\.temporal\.io\/server v(\S+)/.exec(read("scripts/services/temporal-cli/go.mod")) ?? [];
  const tags = images
    .filter(({ name }) => /^temporalio\/(server|admin-tools)$/.test(name))
    .map(({ tag }) => tag);
  expect(new Set(tags)).toEqual(new Set([version]));
});
