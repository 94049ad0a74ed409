import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cipher, fileKeyring, keyring, Secrets } from "../../src/secrets/index.ts";
import { putSecret, rotateSome } from "../../src/secrets/secret-rows.ts";
import { changed, rows, type Store } from "../../src/store/store.ts";
import { memoryStore, tempDir, testCipher } from "./support.ts";

test("a secret is set, replaced, used and removed, and no list gives it back", async () => {
  const store = await memoryStore();
  let now = 1000;
  const secrets = new Secrets(store, testCipher(), () => now);
  await secrets.set("a", "openai", "sk-first");
  now = 2000;
  await secrets.set("a", "openai", "sk-second");
  await secrets.set("b", "openai", "sk-of-b");
  expect(await secrets.list("a")).toEqual([{ name: "openai", key_id: "k1", updated_at: 2000 }]);
  expect(JSON.stringify(await secrets.list("a"))).not.toContain("sk-");
  expect(await secrets.use("a", "openai")).toBe("sk-second");
  expect(await secrets.use("b", "openai")).toBe("sk-of-b");
  expect(await secrets.remove("a", "openai")).toBe(true);
  expect(await secrets.remove("a", "openai")).toBe(false);
  await expect(secrets.use("a", "openai")).rejects.toThrow(/no secret "openai" in the tenant "a"/);
});

test("what was used is known to the redactor from then on", async () => {
  const secrets = new Secrets(await memoryStore(), testCipher());
  await secrets.set("a", "openai", "sk-first-value");
  await secrets.set("a", "other", "sk-other-value");
  const before = secrets.redactor;
  await secrets.use("a", "openai");
  await secrets.use("a", "other");
  expect(before.text("sk-first-value")).toBe("sk-first-value");
  expect(secrets.redactor.text("failed with sk-first-value and sk-other-value")).toBe(
    "failed with [redacted] and [redacted]",
  );
  expect(secrets.redactor).toBe(secrets.redactor);
});

test("nothing of a secret is in the database as it was", async () => {
  const store = await memoryStore();
  await new Secrets(store, testCipher()).set("a", "openai", "sk-very-visible");
  const [row] = await store.read(function* (db) {
    return yield* rows(db.selectFrom("secrets").selectAll());
  });
  expect(Buffer.from(row?.content ?? []).includes("visible")).toBe(false);
});

test("a row moved to another tenant or name does not open", async () => {
  const store = await memoryStore();
  const secrets = new Secrets(store, testCipher());
  await secrets.set("a", "openai", "sk-of-a");
  await store.write(function* (db) {
    yield* changed(db.updateTable("secrets").set({ tenant: "b" }));
  });
  await expect(secrets.use("b", "openai")).rejects.toThrow(/does not open/);
});

test("names and values are checked, and the host's own names are out of reach", async () => {
  const secrets = new Secrets(await memoryStore(), testCipher());
  for (const name of ["", "trackside:audit", "a b", "a".repeat(129)]) {
    await expect(secrets.set("a", name, "value")).rejects.toThrow(/A secret's name is/);
    await expect(secrets.use("a", name)).rejects.toThrow(/A secret's name is/);
    await expect(secrets.remove("a", name)).rejects.toThrow(/A secret's name is/);
  }
  await expect(secrets.set("a", "empty", "")).rejects.toThrow(/0 bytes/);
});

test("rotation brings everything under the current key, goes on after a break, and does not undo what is set meanwhile", async () => {
  const store = await memoryStore();
  const keys = { old: randomBytes(32), new: randomBytes(32) };
  const before = new Secrets(store, cipher(keyring({ current: "old", keys })));
  for (let i = 0; i < 120; i++) await before.set(`t${i % 3}`, `s${i}`, `value ${i}`);
  const after = new Secrets(store, cipher(keyring({ current: "new", keys })));
  await after.set("t0", "s0", "newer");

  let left = 2;
  const breaking: Store = {
    name: store.name,
    open: () => store.open(),
    close: () => store.close(),
    read: (work) => store.read(work),
    write: (work) => (left-- > 0 ? store.write(work) : Promise.reject(new Error("power cut"))),
    append: (entry, work) => store.append(entry, work),
    onChange: (listener) => store.onChange(listener),
  };
  await expect(new Secrets(breaking, cipher(keyring({ current: "new", keys }))).rotate()).rejects.toThrow(
    "power cut",
  );
  expect(await after.rotate()).toBe(19);
  expect(await after.rotate()).toBe(0);

  const onlyNew = new Secrets(store, cipher(keyring({ current: "new", keys: { new: keys.new } })));
  expect(await onlyNew.use("t0", "s0")).toBe("newer");
  for (let i = 1; i < 120; i++) expect(await onlyNew.use(`t${i % 3}`, `s${i}`)).toBe(`value ${i}`);
});

test("rotation leaves alone what somebody sets while it reads, under whichever key", async () => {
  const keys = { old: randomBytes(32), new: randomBytes(32) };
  const [oldBox, newBox] = [keyring({ current: "old", keys }), keyring({ current: "new", keys })].map(cipher);
  if (oldBox === undefined || newBox === undefined) throw new Error("there are two");
  for (const other of [oldBox, newBox]) {
    const store = await memoryStore();
    await new Secrets(store, oldBox).set("a", "openai", "first");
    await store.write(function* (db) {
      const rotation = rotateSome(newBox)(db);
      const read = rotation.next();
      if (read.done) throw new Error("it reads first");
      const found = yield read.value;
      yield* putSecret(other, { tenant: "a", name: "openai", now: 2 }, "second")(db);
      for (let step = rotation.next(found); !step.done; ) step = rotation.next(yield step.value);
    });
    expect(await new Secrets(store, newBox).use("a", "openai")).toBe("second");
  }
});

test("a key file that is gone is not replaced while something waits for it", async () => {
  const store = await memoryStore();
  const path = join(tempDir(), "trackside.key");
  await new Secrets(store, cipher(fileKeyring(path))).set("a", "openai", "sk-1");
  const [{ key_id = "" } = {}] = await new Secrets(store, testCipher()).list("a");
  rmSync(path);
  const secrets = new Secrets(store, cipher(fileKeyring(path)));
  await expect(secrets.set("a", "other", "x")).rejects.toThrow(
    /which .*trackside\.key does not hold \(no key is there\)/,
  );
  await expect(secrets.use("a", "openai")).rejects.toThrow(key_id);
  expect(await secrets.discard(key_id)).toEqual([{ tenant: "a", name: "openai" }]);
  await secrets.set("a", "openai", "sk-2");
  expect(await secrets.use("a", "openai")).toBe("sk-2");
  const [{ key_id: now = "" } = {}] = await secrets.list("a");
  await expect(secrets.discard(now)).rejects.toThrow(/is there, so nothing under it is lost/);
});
