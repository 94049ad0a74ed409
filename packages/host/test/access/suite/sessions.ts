import { expect, test } from "vitest";
import { Access } from "../../../src/access/index.ts";
import { listAudit } from "../../../src/audit/index.ts";
import { rows } from "../../../src/store/index.ts";
import { facts, HOUR, letIn, MINUTE, PASSWORD, START, type Stores, sceneOn } from "../support.ts";

const by = "cli";
const right = { name: "ann", password: PASSWORD };

export function sessionsSuite(stores: Stores): void {
  async function withAnn(limits = {}) {
    const scene = await sceneOn(stores, limits);
    const ann = await scene.access.users.create({ ...right, role: "operator" }, { by });
    return { ...scene, ann };
  }

  test("whoever knows the password is let in, and out again", async () => {
    const { access, ann, told } = await withAnn();
    const { secret, session } = letIn(await access.signIn({ ...right, name: "ANN" }));
    expect(session).toMatchObject({ tenant: "default", user: { id: ann.id, name: "ann" }, role: "operator" });
    expect(facts(await access.session(secret))).toEqual(["default", "ann", "operator", "session"]);
    expect((await access.users.get(ann.id)).last_seen_at).toBe(START);
    expect(await access.signOut(secret)).toBe(true);
    expect(await access.signOut(secret)).toBe(false);
    expect(await access.session(secret)).toBeUndefined();
    expect(await told()).toEqual(["user.created", "session.signed_in", "session.signed_out"]);
  });

  test("a wrong password, an unknown, disabled or passwordless user and another tenant get the same answer", async () => {
    const { access } = await withAnn();
    const off = await access.users.create({ name: "off", role: "viewer", password: PASSWORD }, { by });
    await access.users.update(off.id, { disabled: true }, { by });
    await access.users.create({ name: "linked", role: "viewer" }, { by });
    for (const wrong of [
      { password: `${PASSWORD}.` },
      { password: "" },
      { password: "x".repeat(100_000) },
      { name: "nobody" },
      { name: "off" },
      { name: "linked" },
      { name: "linked", password: "" },
      { name: "a\0nn" },
      { name: "\ud800" },
      { name: "x".repeat(100_000) },
      { tenant: "other" },
    ])
      expect(await access.signIn({ ...right, ...wrong })).toEqual({ failed: "credentials" });
  });

  test("a password is the same in every spelling of Unicode", async () => {
    const { access } = await sceneOn(stores);
    await access.users.create({ name: "ann", role: "viewer", password: "fünf Bäume im Wald" }, { by });
    letIn(await access.signIn({ name: "ann", password: "fu\u0308nf Ba\u0308ume im Wald" }));
  });

  test("a hash from before the parameters were raised is made anew when its user signs in", async () => {
    const { store, cipher } = await withAnn();
    const costlier = new Access({ store, cipher, now: () => START }, { cost: { N: 2 ** 5, r: 1, p: 1 } });
    const hashes = async () =>
      (await store.read((db) => rows(db.selectFrom("users").select("body")))).map(({ body }) => body);
    expect(await hashes()).toEqual([expect.stringContaining("scrypt:16:1:1:")]);
    for (let i = 0; i < 2; i++) letIn(await costlier.signIn(right));
    expect(await hashes()).toEqual([expect.stringContaining("scrypt:32:1:1:")]);
  });

  test("a session ends when nobody uses it, goes on while it is used, and is over in the end", async () => {
    const { access, clock } = await withAnn();
    const { secret, session } = letIn(await access.signIn(right));
    const idle = letIn(await access.signIn(right));
    expect(session).toMatchObject({ expires_at: START + 12 * HOUR, ends_at: START + 30 * 24 * HOUR });
    for (let i = 0; i < 66; i++) {
      clock.at += 11 * HOUR - 1;
      if (clock.at >= session.ends_at) break;
      expect(await access.session(secret), `after ${i} times`).toBeDefined();
      if (i > 0) expect(await access.session(idle.secret)).toBeUndefined();
      else clock.at += HOUR;
    }
    clock.at = session.ends_at - 1;
    await access.session(secret);
    clock.at = session.ends_at;
    expect(await access.session(secret)).toBeUndefined();
  });

  test("its last use is written at most once a minute", async () => {
    const { access, clock, store } = await withAnn();
    const { secret } = letIn(await access.signIn(right));
    const seen = async () =>
      (await store.read((db) => rows(db.selectFrom("sessions").select(["seen_at", "expires_at"]))))[0];
    clock.at += MINUTE - 1;
    await access.session(secret);
    expect(await seen()).toEqual({ seen_at: START, expires_at: START + 12 * HOUR });
    clock.at += 1;
    await Promise.all(Array.from({ length: 5 }, () => access.session(secret)));
    expect(await seen()).toEqual({ seen_at: START + MINUTE, expires_at: START + MINUTE + 12 * HOUR });
  });

  test("secrets that cannot be ours, and those of links and tokens, are no sessions", async () => {
    const { access, ann } = await withAnn();
    const { secret } = letIn(await access.signIn(right));
    const link = await access.openLink({ user: ann.id, by });
    const { secret: token } = await access.tokens.create({ user: ann.id, name: "ci" }, { by });
    for (const other of ["", "\0", `${secret} `, secret.slice(1), secret.toLowerCase(), link.secret, token])
      expect(await access.session(other)).toBeUndefined();
    expect(await access.token(secret)).toBeUndefined();
    expect(await access.useLink(secret)).toEqual({ failed: "link" });
    expect(await access.useLink(token)).toEqual({ failed: "link" });
  });

  test("what is over is swept", async () => {
    const { access, ann, clock, store } = await withAnn();
    letIn(await access.signIn({ ...right, source: "10.0.0.1" }));
    await access.signIn({ ...right, password: "wrong wrong wrong" });
    await access.openLink({ user: ann.id, by });
    const kept = async () => {
      const counts = [];
      for (const table of ["sessions", "access_links", "sign_in_attempts"] as const)
        counts.push((await store.read((db) => rows(db.selectFrom(table).selectAll()))).length);
      return counts;
    };
    expect((await kept()).every((count) => count > 0)).toBe(true);
    clock.at += 31 * 24 * HOUR;
    await access.signIn({ ...right, source: "10.0.0.1" });
    expect((await kept())[1]).toBe(0);
    expect((await kept())[0]).toBe(1);
    clock.at += 31 * 24 * HOUR;
    expect(await access.sweep()).toBeGreaterThan(0);
    expect(await kept()).toEqual([0, 0, 0]);
  });

  test("failures slow down the next ones, for a name however it is written", async () => {
    const { access, clock } = await withAnn();
    const wrong = (name: string) => access.signIn({ name, password: "wrong wrong wrong" });
    for (let i = 0; i < 6; i++) expect(await wrong(i % 2 ? "ann" : "ANN")).toEqual({ failed: "credentials" });
    const locked = { failed: "throttled", locked_until: START + 1_000 };
    expect(await wrong("Ann")).toEqual(locked);
    expect(await access.signIn(right)).toEqual(locked); // not even the right one
    expect(await wrong("bob")).toEqual({ failed: "credentials" });
    for (const wait of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
      clock.at += wait * 1_000 - 1;
      expect(await wrong("ann")).toEqual({ failed: "throttled", locked_until: clock.at + 1 });
      clock.at += 1;
      expect(await wrong("ann")).toEqual({ failed: "credentials" });
    }
    clock.at += 900_000;
    letIn(await access.signIn(right));
    for (let i = 0; i < 6; i++) expect(await wrong("ann")).toEqual({ failed: "credentials" }); // begins anew
    clock.at += 24 * HOUR;
    for (let i = 0; i < 6; i++) expect(await wrong("ann")).toEqual({ failed: "credentials" }); // forgotten
  });

  test("failures from one place slow it down for every name, and a success of its own does not help", async () => {
    const { access, clock } = await withAnn();
    const from = (name: string, source: string) =>
      access.signIn({ name, password: "wrong wrong wrong", source });
    for (let i = 0; i < 10; i++) await from(`name${i}`, "192.0.2.1");
    letIn(await access.signIn({ ...right, source: "192.0.2.1" }));
    for (let i = 10; i < 21; i++)
      expect(await from(`name${i}`, "192.0.2.1")).toEqual({ failed: "credentials" });
    const locked = { failed: "throttled", locked_until: START + 1_000 };
    expect(await from("name99", "192.0.2.1")).toEqual(locked);
    expect(await access.signIn({ ...right, source: "192.0.2.1" })).toEqual(locked);
    expect(await from("name99", "192.0.2.2")).toEqual({ failed: "credentials" });
    clock.at += 1_000;
    letIn(await access.signIn({ ...right, source: "192.0.2.1" }));
    expect(await from("name100", "192.0.2.1")).toEqual({ failed: "credentials" });
    expect(await from("name101", "192.0.2.1")).toMatchObject({ failed: "throttled" });
  });

  test("nobody is kept out of where they have signed in before by what others try elsewhere", async () => {
    const { access } = await withAnn();
    letIn(await access.signIn({ ...right, source: "home" }));
    for (let i = 0; i < 6; i++) await access.signIn({ ...right, password: "wrong", source: `away${i}` });
    expect(await access.signIn({ ...right, source: "away" })).toMatchObject({ failed: "throttled" });
    letIn(await access.signIn({ ...right, source: "home" }));
    for (let i = 0; i < 6; i++) await access.signIn({ ...right, password: "wrong", source: "home" });
    expect(await access.signIn({ ...right, source: "home" })).toMatchObject({ failed: "throttled" });
  });

  test("many guesses at once are no more guesses", async () => {
    const { access } = await withAnn();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => access.signIn({ name: "ann", password: `a wrong guess ${i}` })),
    );
    const looked = answers.filter((answer) => "failed" in answer && answer.failed === "credentials");
    expect(looked).toHaveLength(6);
  });

  test("the audit hears of failures ever more rarely, with no name of nobody's", async () => {
    const { access, ann, clock, store } = await withAnn();
    for (let i = 0; i < 9; i++) {
      clock.at += 900_000;
      await access.signIn({ name: "ann", password: "wrong wrong wrong", source: "192.0.2.1" });
      await access.signIn({ name: `typed ${i}`, password: "wrong wrong wrong" });
    }
    const failed = await listAudit(store, "default", { action: "session.failed", limit: 100 });
    const about = failed.map((entry) => entry.about);
    expect(about.filter(({ user }) => user === ann.id)).toEqual(
      [1, 2, 4, 8].map((failures) => ({ user: ann.id, failures, source: "192.0.2.1" })),
    );
    expect(about.filter(({ user }) => user === null)).toEqual(
      [1, 2, 4, 8].map((failures) => ({ user: null, failures })),
    );
  });
}
