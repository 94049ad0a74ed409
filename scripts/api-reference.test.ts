import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiReference } from "./api-reference.ts";

test("docs/api.md is what the contract says", () => {
  expect(readFileSync(join(import.meta.dirname, "../docs/api.md"), "utf8")).toBe(apiReference());
});
