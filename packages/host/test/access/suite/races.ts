import { expect, test } from "vitest";
import { verifyAudit } from "../../../src/audit/index.ts";
import { letIn, PASSWORD, type Stores, sceneOn, there } from "../support.ts";

const by = "cli";
const PROCESSES = 3;
const ROUNDS = 5;

/** How it ended for each: the answers that were let in, and what the others were told. */
function sorted<T extends object>(answers: readonly (T | { readonly failed: string })[]) {
  return {
    won: answers.filter((answer) => !("failed" in answer)).length,
    lost: answers.filter((answer) => "failed" in answer).length,
  };
}

export function racesSuite(stores: Stores): void {
  test("of setups at once, with the same link and with others, one is heard", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { access, all } = await sceneOn(stores, { processes: PROCESSES });
      const links = [there(await access.setupLink()), there(await all.at(-1)?.setupLink())];
      const answers = await Promise.all(
        all.flatMap((one, i) =>
          links.map((link, j) => one.finishSetup(link.secret, { name: `admin${i}-${j}` })),
        ),
      );
      expect(sorted(answers)).toEqual({ won: 1, lost: 2 * all.length - 1 });
      expect(await access.users.list()).toHaveLength(1);
    }
  });

  test("of several who use a link at once one is signed in", async () => {
    const { access, all, told } = await sceneOn(stores, { processes: PROCESSES });
    const { id: user } = await access.users.create({ name: "dev", role: "admin" }, { by });
    for (let round = 0; round < ROUNDS; round++) {
      const { secret } = await access.openLink({ user, by });
      const answers = await Promise.all([...all, ...all].map((one) => one.useLink(secret)));
      expect(sorted(answers)).toEqual({ won: 1, lost: 2 * all.length - 1 });
    }
    expect((await told()).filter((action) => action === "session.signed_in")).toHaveLength(ROUNDS);
  });

  test("admins who demote, disable and remove each other at once leave one", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { access, all, store, cipher } = await sceneOn(stores, { processes: PROCESSES });
      const admins = [];
      for (const name of ["ann", "bob", "cid"])
        admins.push(await access.users.create({ name, role: "admin" }, { by }));
      const [ann, bob, cid] = admins.map(({ id }) => id);
      const [one = access, two = access, three = access] = all;
      const outcomes = await Promise.allSettled([
        one.users.update(there(ann), { role: "viewer" }, { by }),
        two.users.update(there(bob), { disabled: true }, { by }),
        three.users.remove(there(cid), { by }),
      ]);
      const refusals = outcomes.filter(({ status }) => status === "rejected");
      expect(refusals).toEqual([
        { status: "rejected", reason: expect.objectContaining({ code: "last_admin" }) },
      ]);
      const left = (await access.users.list()).filter(
        (user) => user.role === "admin" && user.disabled_at === null,
      );
      expect(left).toHaveLength(1);
      expect(await verifyAudit(store, cipher, "default")).toMatchObject({ ok: true });
    }
  });

  test("nobody comes in with a password or a link that was taken away at that moment", async () => {
    const { access, all } = await sceneOn(stores, { processes: PROCESSES });
    const [one = access, two = access] = all;
    await access.users.create({ name: "ann", role: "admin" }, { by });
    for (let round = 0; round < ROUNDS; round++) {
      const name = `bob${round}`;
      const { id: user } = await access.users.create({ name, role: "viewer", password: PASSWORD }, { by });
      const link = await access.openLink({ user, by });
      const [answer, linked] = await Promise.all([
        one.signIn({ name, password: PASSWORD }),
        one.useLink(link.secret),
        two.users.update(user, { password: `another ${PASSWORD}`, disabled: round % 2 === 0 }, { by }),
      ]);
      await access.users.update(user, { disabled: false }, { by });
      for (const came of [answer, linked])
        if (!("failed" in came)) expect(await access.session(came.secret)).toBeUndefined();
      letIn(await access.signIn({ name, password: `another ${PASSWORD}`, source: "home" }));
    }
  });

  test("a token that is made while its user loses the role does not outlive it", async () => {
    const { access, all } = await sceneOn(stores, { processes: PROCESSES });
    const [one = access, two = access] = all;
    await access.users.create({ name: "ann", role: "admin" }, { by });
    for (let round = 0; round < ROUNDS; round++) {
      const { id: user } = await access.users.create({ name: `bob${round}`, role: "admin" }, { by });
      const [made] = await Promise.allSettled([
        one.tokens.create({ user, name: "ci", role: "admin" }, { by }),
        two.users.update(user, { role: "viewer" }, { by }),
      ]);
      if (made.status === "fulfilled") expect(await access.token(made.value.secret)).toBeUndefined();
      else expect(made.reason).toMatchObject({ code: "role_refused" });
    }
  });

  test("two users do not get the same name at once", async () => {
    const { access, all } = await sceneOn(stores, { processes: PROCESSES });
    const names = ["Ann", "ann", "ANN"];
    const outcomes = await Promise.allSettled(
      all.map((one, i) => one.users.create({ name: names[i] ?? "aNN", role: "viewer" }, { by })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "user_exists" });
    expect(await access.users.list()).toHaveLength(1);
  });
}
