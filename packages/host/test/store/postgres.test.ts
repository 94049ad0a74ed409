import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { insertRuns, journal, opened, refused, wake, wakes } from "../../src/store/conformance/behaviour.ts";
import { storeConformance } from "../../src/store/conformance/index.ts";
import { changed, postgres, rows } from "../../src/store/index.ts";
import { child } from "./support/child.ts";
import { afterwards, closed, tempDir } from "./support/places.ts";

await serviceSuite("a store in PostgreSQL", sharedPostgres, (server) => {
  let url = "";
  beforeEach(async () => {
    url = await server.createDatabase();
  });
  const place = { store: () => closed(postgres(url)) };

  for (const { title, check } of storeConformance) test(title, () => check(place));

  test("several processes write to one database, and nothing is lost", async () => {
    const children = ["a", "b", "c"].map((name) => child("busy-writer.ts", ["postgres", url, name, "40"]));
    for (const each of children) expect(await each.line()).toBe("done");
    const store = await opened(place);
    for (const name of ["a", "b", "c"]) expect(await journal(store, name)).toHaveLength(40);
    expect(await wakes(store)).toHaveLength(120);
  });

  test("X4 an owner that freezes inside a transaction loses it before its lease, and writes nothing when it thaws", async () => {
    const store = await opened(place);
    await store.write(insertRuns("r"));
    const thawed = join(tempDir(), "thawed");
    const owner = child("frozen-owner.ts", [url, thawed]);
    expect(await owner.line()).toBe("frozen");
    const claimed = await store.write((db) =>
      changed(db.updateTable("runs").set({ fence: 2 }).where("id", "=", "r")),
    );
    expect(claimed).toBe(1);
    writeFileSync(thawed, "");
    expect(await owner.line()).toBe("false");
    expect(await journal(store, "r")).toEqual([]);
  });

  test("its sessions are named, and end by themselves when they hold a transaction open", async () => {
    const store = await opened(place);
    const settings = await store.read(function* () {
      const setting = (name: string, as: string) => `current_setting('${name}') AS ${as}`;
      const idle = setting("idle_in_transaction_session_timeout", "idle");
      const all = [setting("application_name", "name"), idle, setting("statement_timeout", "statement")];
      return (yield CompiledQuery.raw(`SELECT ${all.join(", ")}`)).rows[0];
    });
    expect(settings).toMatchObject({
      name: expect.stringMatching(/^trackside /),
      idle: "5s",
      statement: "30s",
    });
  });

  test("numbers are only parsed on its own connections", async () => {
    const store = await opened(place);
    await store.write(wake("one"));
    const own = await store.read((db) => rows(db.selectFrom("wakes").select("n")));
    expect(own).toEqual([{ n: 1 }]);
    const client = new pg.Client(url);
    await client.connect();
    afterwards(() => client.end());
    const { rows: others } = await client.query("SELECT n FROM wakes");
    expect(others).toEqual([{ n: "1" }]);
  });

  test("closing waits for what is under way, however much it is", async () => {
    const store = closed(postgres({ connectionString: url, max: 2 }));
    await store.open();
    const all = Array.from({ length: 30 }, (_, i) => store.write(wake(`${i}`)));
    await store.close();
    await Promise.all(all);
    expect(await wakes(await opened(place))).toHaveLength(30);
  });

  test("its name has no password in it", () => {
    const store = closed(postgres("postgres://ada:secret@db.example:6543/track"));
    expect(store.name).toBe("postgres ada@db.example:6543/track");
  });

  describe("what cannot be opened says why", () => {
    test("a database that is not there", async () => {
      const nowhere = url.replace(/[^/]*$/, "nowhere");
      await refused(closed(postgres(nowhere)).open(), "unavailable", /no such database.*createdb/);
    });

    test("tables of another program", async () => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query("CREATE TABLE runs (shoe TEXT)");
      await client.end();
      await refused(
        closed(postgres(url)).open(),
        "unusable",
        /another program.*"runs" already exists.*of its own/,
      );
    });
  });
});
