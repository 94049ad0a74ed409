import { CompiledQuery } from "kysely";
import { expect, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import { MIGRATIONS } from "../../../src/store/migrations/migrate.ts";
import { letIn, type Stores, sceneOn, there } from "../support.ts";

const by = "cli";
const CANARY = "canary-Fz7q-password";
const MISTYPED = "canary-Xw3k-mistyped";

/** Everything the database has, as text. */
export async function contents(store: Store): Promise<string> {
  const tables = MIGRATIONS.flatMap((migration) => Object.keys(migration.tables ?? {}));
  return store.read(function* () {
    const found = [];
    for (const table of tables) found.push((yield CompiledQuery.raw(`SELECT * FROM "${table}"`)).rows);
    return JSON.stringify(found);
  });
}

/** Uses every way in, well and badly, and answers every secret there was and every error. */
export async function everything(stores: Stores) {
  const { access, store, clock } = await sceneOn(stores);
  const errors: unknown[] = [];
  const failing = async (work: Promise<unknown>) =>
    work.then(
      (value) => errors.push(value),
      (error: unknown) => errors.push(error),
    );
  const setup = there(await access.setupLink());
  const admin = letIn(await access.finishSetup(setup.secret, { name: "ann", password: CANARY }));
  const user = admin.session.user.id;
  const link = await access.openLink({ user, by });
  const linked = letIn(await access.useLink(link.secret));
  const unused = await access.openLink({ user, by });
  const { secret: token } = await access.tokens.create({ user, name: "ci", role: "admin" }, { by });
  const signed = letIn(await access.signIn({ name: "ann", password: CANARY, source: "192.0.2.1" }));
  await access.session(signed.secret);
  await access.token(token);
  await failing(access.signIn({ name: "ann", password: MISTYPED }));
  await failing(access.signIn({ name: MISTYPED, password: CANARY, source: "192.0.2.1" }));
  await failing(access.signIn({ name: `${MISTYPED}\0`, password: CANARY }));
  for (let i = 0; i < 8; i++) await failing(access.signIn({ name: "ann", password: `${MISTYPED}${i}` }));
  await failing(access.users.create({ name: "ann", role: "viewer", password: CANARY }, { by }));
  await failing(
    access.users.create({ name: MISTYPED.slice(7), role: "viewer", password: MISTYPED.slice(7) }, { by }),
  );
  await failing(access.users.create({ name: "bob", role: "viewer", password: MISTYPED.slice(0, 9) }, { by }));
  await failing(access.finishSetup(setup.secret, { name: "eve", password: MISTYPED }));
  await failing(access.useLink(link.secret));
  clock.at += 900_000;
  await access.users.update(user, { password: `${CANARY}2` }, { by });
  const again = letIn(await access.signIn({ name: "ann", password: `${CANARY}2` }));
  await access.signOut(again.secret);
  const secrets = [setup, admin, link, linked, unused, signed, again].map(({ secret }) => secret);
  return { store, errors, secrets: [...secrets, token, CANARY, MISTYPED, MISTYPED.slice(7)] };
}

export function canarySuite(stores: Stores): void {
  test("no password and no secret is in the database, the audit, an answer or an error", async () => {
    const { store, errors, secrets } = await everything(stores);
    const stored = await contents(store);
    const said = errors.map((error) =>
      error instanceof Error ? `${error.stack}${error.message}` : JSON.stringify(error),
    );
    expect(stored).toContain("session.signed_in"); // it is the database that was looked at
    expect(errors.length).toBeGreaterThan(10);
    for (const secret of secrets)
      for (const part of [
        secret,
        Buffer.from(secret).toString("base64"),
        Buffer.from(secret).toString("hex"),
      ]) {
        expect(stored.includes(part), `stored: ${secret}`).toBe(false);
        expect(
          said.some((text) => text.includes(part)),
          `said: ${secret}`,
        ).toBe(false);
      }
  });
}
