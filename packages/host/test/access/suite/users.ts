import { expect, test } from "vitest";
import { HOUR, letIn, PASSWORD, START, type Stores, sceneOn } from "../support.ts";

const by = "cli";

export function usersSuite(stores: Stores): void {
  test("a user is made, listed by name, changed and removed, and the audit has each", async () => {
    const { access, clock, told } = await sceneOn(stores);
    const ann = await access.users.create({ name: "Ann", role: "admin", password: PASSWORD }, { by });
    const bob = await access.users.create({ name: "bob@example.com", role: "viewer" }, { by });
    expect(ann).toEqual({
      id: expect.stringMatching(/^user_/),
      tenant: "default",
      name: "Ann",
      role: "admin",
      has_password: true,
      created_at: START,
      updated_at: START,
      disabled_at: null,
      last_seen_at: null,
    });
    expect((await access.users.list()).map(({ name }) => name)).toEqual(["Ann", "bob@example.com"]);
    clock.at += HOUR;
    const changed = await access.users.update(bob.id, { role: "operator", disabled: true }, { by: ann.id });
    expect(changed).toMatchObject({ role: "operator", disabled_at: START + HOUR, updated_at: START + HOUR });
    expect(await access.users.get(bob.id)).toEqual(changed);
    expect(await access.users.update(bob.id, { disabled: false }, { by })).toMatchObject({
      disabled_at: null,
    });
    await access.users.update(bob.id, { password: PASSWORD }, { by });
    await access.users.update(bob.id, { role: "operator", disabled: false }, { by }); // as it is
    await access.users.remove(bob.id, { by });
    await expect(access.users.get(bob.id)).rejects.toMatchObject({ code: "user_unknown" });
    expect(await told()).toEqual([
      "user.created",
      "user.created",
      "user.role_changed",
      "user.disabled",
      "user.enabled",
      "user.password_changed",
      "user.removed",
    ]);
  });

  test("one name is one user, in whatever case or spelling, and each tenant has its own", async () => {
    const { access } = await sceneOn(stores);
    const ann = await access.users.create({ name: "Ännchen", role: "admin" }, { by });
    for (const name of ["ännchen", "ÄNNCHEN", "A\u0308nnchen", "Ä\uff4e\uff4echen"])
      await expect(access.users.create({ name, role: "viewer" }, { by })).rejects.toMatchObject({
        code: "user_exists",
      });
    await access.users.create({ name: "ännchen", role: "viewer" }, { tenant: "other", by });
    expect((await access.users.find("ÄNNCHEN"))?.id).toBe(ann.id);
    expect(await access.users.find("nobody")).toBeUndefined();
    expect(await access.users.list({ tenant: "other" })).toHaveLength(1);
    for (const refused of [
      () => access.users.get(ann.id, { tenant: "other" }),
      () => access.users.update(ann.id, { role: "viewer" }, { tenant: "other", by }),
      () => access.users.remove(ann.id, { tenant: "other", by }),
      () => access.openLink({ user: ann.id, tenant: "other", by }),
      () => access.tokens.create({ user: ann.id, name: "x" }, { tenant: "other", by }),
    ])
      await expect(refused()).rejects.toMatchObject({ code: "user_unknown" });
  });

  test("a name that plays tricks, and a role nobody has, are refused", async () => {
    const { access } = await sceneOn(stores);
    const names = [
      "",
      " ",
      " ann",
      "ann ",
      "a  b",
      "a\nb",
      "a\0b",
      "\u202enimda",
      "<b>",
      "a/b",
      "x".repeat(65),
      "\ud800",
    ];
    for (const name of names)
      await expect(access.users.create({ name, role: "viewer" }, { by }), name).rejects.toMatchObject({
        code: "user_invalid",
      });
    for (const name of ["x".repeat(64), "李雷", "O'Neil", "a.b+c@d.e", "𠮷".repeat(64)])
      await access.users.create({ name, role: "viewer" }, { by });
    // @ts-expect-error a role that comes from a request
    const owner = access.users.create({ name: "eve", role: "owner" }, { by });
    await expect(owner).rejects.toThrow(
      /role: one of viewer, operator, approver, admin expected, "owner" given/,
    );
    expect(await access.users.list()).toHaveLength(5);
  });

  test("the last enabled admin is not removed, disabled or demoted", async () => {
    const { access } = await sceneOn(stores);
    const ann = await access.users.create({ name: "ann", role: "admin" }, { by });
    const bob = await access.users.create({ name: "bob", role: "admin" }, { by });
    await access.users.create({ name: "eve", role: "admin" }, { tenant: "other", by });
    await access.users.update(bob.id, { disabled: true }, { by });
    for (const refused of [
      () => access.users.remove(ann.id, { by }),
      () => access.users.update(ann.id, { disabled: true }, { by }),
      () => access.users.update(ann.id, { role: "operator" }, { by }),
      () => access.users.update(ann.id, { role: "viewer", disabled: true, password: PASSWORD }, { by }),
    ])
      await expect(refused()).rejects.toThrow(/"ann" is the last enabled admin of the tenant "default"/);
    expect(await access.users.get(ann.id)).toEqual(ann);
    await access.users.remove(bob.id, { by }); // was none that is enabled
    const dan = await access.users.create({ name: "dan", role: "viewer" }, { by });
    await access.users.update(dan.id, { role: "admin" }, { by });
    await access.users.remove(ann.id, { by });
  });

  test("a new password, being disabled and being removed end every session and link of a user, and of nobody else", async () => {
    const { access } = await sceneOn(stores);
    const name = "bob";
    await access.users.create({ name: "ann", role: "admin", password: PASSWORD }, { by });
    const { id: user } = await access.users.create({ name, role: "viewer", password: PASSWORD }, { by });
    const ann = letIn(await access.signIn({ name: "ann", password: PASSWORD }));
    const changes = [
      () => access.users.update(user, { password: `${PASSWORD}!` }, { by }),
      () => access.users.update(user, { disabled: true }, { by }),
      () => access.users.remove(user, { by }),
    ];
    for (const change of changes) {
      await access.users.update(user, { disabled: false, password: PASSWORD }, { by });
      const { secret } = letIn(await access.signIn({ name, password: PASSWORD }));
      const link = await access.openLink({ user, by });
      expect(await access.session(secret)).toBeDefined();
      await change();
      expect(await access.session(secret)).toBeUndefined();
      expect(await access.useLink(link.secret)).toEqual({ failed: "link" });
    }
    expect(await access.session(ann.secret)).toBeDefined();
  });

  test("what a user may do is what they may do now", async () => {
    const { access } = await sceneOn(stores);
    await access.users.create({ name: "ann", role: "admin" }, { by });
    const bob = await access.users.create({ name: "bob", role: "admin", password: PASSWORD }, { by });
    const { secret, session } = letIn(await access.signIn({ name: "bob", password: PASSWORD }));
    expect(session.role).toBe("admin");
    await access.users.update(bob.id, { role: "viewer" }, { by });
    expect((await access.session(secret))?.role).toBe("viewer");
  });
}
