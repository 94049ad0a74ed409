import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Store, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "../engine/support/database.ts";
import { everything } from "./suite/canary.ts";
import { accessSuite } from "./suite/index.ts";
import type { Stores } from "./support.ts";

const on = (file: string): Stores => {
  return async (count) => {
    const first = sqlite(file);
    const all: [Store, ...Store[]] = [first, ...Array.from({ length: count - 1 }, () => sqlite(file))];
    onTestFinished(async () => {
      for (const store of all) await store.close();
    });
    for (const store of all) await store.open();
    return all;
  };
};

describe("access on SQLite", () => {
  accessSuite((count) => on(databaseFile())(count));

  test("no password and no secret is in the database's files", async () => {
    const file = databaseFile();
    const { store, secrets } = await everything(on(file));
    const read = () => readdirSync(dirname(file)).map((name) => readFileSync(join(dirname(file), name)));
    const open = read();
    await store.close();
    const bytes = Buffer.concat([...open, ...read()]);
    expect(bytes.includes("session.signed_in")).toBe(true);
    for (const secret of secrets) expect(bytes.includes(secret), secret).toBe(false);
  });
});
