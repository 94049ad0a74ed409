import { expect, test } from "vitest";
import { facts, HOUR, letIn, MINUTE, PASSWORD, type Stores, sceneOn, there } from "../support.ts";

const by = "cli";

export function linksSuite(stores: Stores): void {
  test("a setup link makes the first admin, once", async () => {
    const { access, told } = await sceneOn(stores);
    expect(await access.needsSetup()).toBe(true);
    const link = there(await access.setupLink());
    const spare = there(await access.setupLink());
    const { secret } = letIn(await access.finishSetup(link.secret, { name: "ann", password: PASSWORD }));
    expect(facts(await access.session(secret))).toEqual(["default", "ann", "admin", "session"]);
    expect(await access.needsSetup()).toBe(false);
    expect(await access.setupLink()).toBeUndefined();
    for (const again of [link.secret, spare.secret])
      expect(await access.finishSetup(again, { name: "eve" })).toEqual({ failed: "link" });
    expect(await access.users.list()).toHaveLength(1);
    letIn(await access.signIn({ name: "ann", password: PASSWORD }));
    expect(await told()).toEqual([
      "setup.link_created",
      "setup.link_created",
      "user.created",
      "setup.finished",
      "session.signed_in",
      "session.signed_in",
    ]);
  });

  test("a mistake in the form does not use it up; an hour does, and so does an admin from elsewhere", async () => {
    const { access, clock } = await sceneOn(stores);
    const late = there(await access.setupLink());
    clock.at += HOUR;
    expect(await access.finishSetup(late.secret, { name: "ann" })).toEqual({ failed: "link" });
    const link = there(await access.setupLink());
    await expect(access.finishSetup(link.secret, { name: "a\nb" })).rejects.toMatchObject({
      code: "user_invalid",
    });
    await expect(access.finishSetup(link.secret, { name: "ann", password: "short" })).rejects.toMatchObject({
      code: "password_refused",
    });
    for (const wrong of ["", "\0", `${link.secret}A`, link.secret.toLowerCase()])
      expect(await access.finishSetup(wrong, { name: "ann" })).toEqual({ failed: "link" });
    await access.users.create({ name: "dev", role: "admin" }, { by });
    expect(await access.finishSetup(link.secret, { name: "ann" })).toEqual({ failed: "link" });
    expect(await access.users.list()).toHaveLength(1);
  });

  test("who has no admin but other users may still be set up, in the link's tenant", async () => {
    const { access } = await sceneOn(stores);
    await access.users.create({ name: "ann", role: "operator" }, { tenant: "acme", by });
    const link = there(await access.setupLink({ tenant: "acme" }));
    await expect(access.finishSetup(link.secret, { name: "ANN" })).rejects.toMatchObject({
      code: "user_exists",
    });
    const { session } = letIn(await access.finishSetup(link.secret, { name: "bob" }));
    expect(facts(session)).toEqual(["acme", "bob", "admin", "session"]);
    expect(await access.users.list()).toEqual([]);
  });

  test("a link signs in a user who has no password, once and for five minutes", async () => {
    const { access, clock, told } = await sceneOn(stores);
    const { id: user } = await access.users.create({ name: "dev", role: "admin" }, { by });
    const link = await access.openLink({ user, by });
    const late = await access.openLink({ user, by });
    clock.at += 5 * MINUTE - 1;
    const { secret } = letIn(await access.useLink(link.secret));
    expect(facts(await access.session(secret))).toEqual(["default", "dev", "admin", "session"]);
    expect(await access.useLink(link.secret)).toEqual({ failed: "link" });
    clock.at += 1;
    expect(await access.useLink(late.secret)).toEqual({ failed: "link" });
    expect(await access.finishSetup(late.secret, { name: "eve" })).toEqual({ failed: "link" });
    expect(await told()).toEqual(["user.created", "link.created", "link.created", "session.signed_in"]);
    await access.users.create({ name: "ann", role: "admin" }, { by });
    await access.users.update(user, { disabled: true }, { by });
    await expect(access.openLink({ user, by })).rejects.toThrow(/"dev" is disabled/);
  });
}
