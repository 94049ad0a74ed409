import { expect, test } from "vitest";
import { ROLES, type Role } from "../../../src/access/index.ts";
import { facts, HOUR, MINUTE, START, type Stores, sceneOn } from "../support.ts";

const by = "cli";

export function tokensSuite(stores: Stores): void {
  async function withUser(role: Role) {
    const scene = await sceneOn(stores);
    const user = await scene.access.users.create({ name: "ann", role }, { by });
    return { ...scene, user: user.id };
  }

  test("a token lets a program in as its user, until it is revoked", async () => {
    const { access, user, told } = await withUser("admin");
    const { secret, token } = await access.tokens.create(
      { user, name: "ci", role: "operator" },
      { by: user },
    );
    expect(secret).toMatch(/^tsk_[0-9A-Za-z]{49}$/);
    expect(token).toEqual({
      id: expect.stringMatching(/^tok_/),
      tenant: "default",
      user_id: user,
      name: "ci",
      prefix: secret.slice(0, 8),
      role: "operator",
      created_at: START,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
    expect(facts(await access.token(secret))).toEqual(["default", "ann", "operator", "token"]);
    expect(await access.tokens.list()).toEqual([{ ...token, last_used_at: START }]);
    expect(await access.tokens.list({ tenant: "other" })).toEqual([]);
    await expect(access.tokens.revoke(token.id, { tenant: "other", by })).rejects.toMatchObject({
      code: "token_unknown",
    });
    await expect(access.tokens.revoke(token.id, { user: "user_2", by })).rejects.toMatchObject({
      code: "token_unknown",
    });
    const revoked = await access.tokens.revoke(token.id, { by });
    expect(revoked.revoked_at).toBe(START);
    expect(await access.tokens.revoke(token.id, { by })).toEqual(revoked);
    expect(await access.token(secret)).toBeUndefined();
    expect(await access.tokens.list()).toEqual([]);
    expect(await access.tokens.list({ revoked: true, user })).toHaveLength(1);
    expect(await told()).toEqual(["user.created", "token.created", "token.revoked"]);
  });

  test("no token is more than whoever it belongs to: operators and approvers give their own role or viewer", async () => {
    const { access } = await withUser("admin");
    for (const role of ROLES) {
      const { id: user } = await access.users.create({ name: role, role }, { by });
      const given: Role[] = [];
      for (const one of ROLES)
        await access.tokens.create({ user, name: one, role: one }, { by }).then(
          ({ token }) => given.push(token.role),
          (error: unknown) => expect(error).toMatchObject({ code: "role_refused" }),
        );
      const may = {
        viewer: ["viewer"],
        operator: ["viewer", "operator"],
        approver: ["viewer", "approver"],
        admin: ROLES,
      };
      expect(given).toEqual(may[role]);
    }
  });

  test("whoever loses a role loses the tokens with it, and keeps the others", async () => {
    const { access, told } = await withUser("admin");
    const { id: user } = await access.users.create({ name: "bob", role: "admin" }, { by });
    const secrets: Partial<Record<Role, string>> = {};
    for (const role of ROLES)
      secrets[role] = (await access.tokens.create({ user, name: role, role }, { by })).secret;
    await access.users.update(user, { role: "approver" }, { by });
    const work = await Promise.all(
      ROLES.map(async (role) => (await access.token(secrets[role] ?? ""))?.role),
    );
    expect(work).toEqual(["viewer", undefined, "approver", undefined]);
    await access.users.update(user, { disabled: true }, { by });
    expect(await access.token(secrets.viewer ?? "")).toBeUndefined();
    await expect(access.tokens.create({ user, name: "x" }, { by })).rejects.toMatchObject({
      code: "token_invalid",
    });
    await access.users.update(user, { disabled: false }, { by });
    expect(await access.token(secrets.viewer ?? "")).toBeDefined();
    await access.users.remove(user, { by });
    expect(await access.token(secrets.viewer ?? "")).toBeUndefined();
    expect((await told()).filter((action) => action === "token.revoked")).toHaveLength(4);
  });

  test("it ends when it was said to, and its last use is written at most once a minute", async () => {
    const { access, clock, user } = await withUser("viewer");
    const { secret } = await access.tokens.create({ user, name: "ci", expires_at: START + HOUR }, { by });
    const used = async () => (await access.tokens.list())[0]?.last_used_at;
    await access.token(secret);
    clock.at += MINUTE - 1;
    await access.token(secret);
    expect(await used()).toBe(START);
    clock.at += 1;
    await access.token(secret);
    expect(await used()).toBe(START + MINUTE);
    expect((await access.users.get(user)).last_seen_at).toBe(START + MINUTE);
    clock.at = START + HOUR - 1;
    expect(await access.token(secret)).toBeDefined();
    clock.at += 1;
    expect(await access.token(secret)).toBeUndefined();
  });

  test("what makes no sense is refused", async () => {
    const { access, user } = await withUser("viewer");
    const wrong = [
      { name: "" },
      { name: " x" },
      { name: "x\n" },
      { name: "x".repeat(65) },
      { name: "a\0b" },
      { expires_at: START },
      { expires_at: Number.NaN },
      { expires_at: 0.5 },
    ];
    for (const given of wrong)
      await expect(access.tokens.create({ user, name: "ci", ...given }, { by })).rejects.toMatchObject({
        code: "token_invalid",
      });
    expect(await access.tokens.list({ revoked: true })).toEqual([]);
  });
}
