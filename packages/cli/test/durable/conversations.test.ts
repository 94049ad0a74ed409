import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { project } from "../support/project.ts";

describe("trackside conversations", () => {
  test("are exported, imported and deleted (X12)", async () => {
    const place = project();
    await place.cli(["run", "greeter", "hi\x1b[2J there"]);
    const [one] = await place.json("conversations");
    const id = String(one?.["id"]);
    const shown = await place.cli(["conversations", "show", id.slice(-8)]);
    expect(shown.stdout).toBe(`${id} · 2 messages\n\nuser\n  hi␛[2J there\n\nassistant\n  Hello there.\n`);
    const exported = await place.cli(["conversations", "export", id]);
    expect(exported.stdout.trimEnd().split("\n")).toHaveLength(3);
    const imported = await place.cli(["conversations", "import", "-"], { input: exported.stdout });
    expect(imported.stdout).toMatch(/^conv_\S+\n$/);
    const broken = await place.cli(["conversations", "import", "-"], { input: "{}\n" });
    expect(broken.stderr).toContain("Line 1 is no exported conversation");

    const asked = await place.cli(["conversations", "delete", id]);
    expect(asked.stderr).toContain("Add --yes");
    expect([broken.code, asked.code]).toEqual([2, 2]);
    const gone = await place.cli(["conversations", "delete", id, "--yes"]);
    expect(gone.stdout).toBe(`${id} is erased.\n`);
    const left = await place.json("conversations");
    expect(left.map((conversation) => conversation["id"])).toEqual([imported.stdout.trim()]);
  });
});

describe("trackside audit", () => {
  test("verify names the first bad row and exits with 1", async () => {
    const place = project();
    const empty = await place.cli(["audit", "verify"]);
    expect(empty.stdout).toContain("● The audit is intact: 0 rows.");
    expect(empty.code).toBe(0);
    for (let i = 0; i < 2; i++) await place.cli(["run", "clerk", "go", "--approve", "none"]);
    const intact = await place.cli(["audit", "verify"]);
    expect(intact.stdout).toContain("The audit is intact: 2 rows.");

    // Somebody with the file and a little SQL.
    const Database = createRequire(new URL("../../../host/package.json", import.meta.url))("better-sqlite3");
    const database = new Database(join(place.folder, "trackside.db"));
    database.exec("update audit set body = replace(body, '--approve none', 'ann') where n = 2");
    database.close();
    const found = await place.cli(["audit", "verify"]);
    expect(found.stdout).toContain("✗ The audit is not intact, from row 2 on.\n  row 2 was edited");
    expect(found.code).toBe(1);
    const [report] = (await place.cli(["audit", "verify", "--json"])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(report).toMatchObject({ ok: false, problems: [{ n: 2, kind: "edited" }] });
  });
});
