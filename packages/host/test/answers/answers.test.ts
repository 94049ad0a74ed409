import { expect, test } from "vitest";
import { eraseAnswers } from "../../src/answers/answers.ts";
import { type Answer, Answers, type Asking } from "../../src/answers/index.ts";
import { cipher, keyring } from "../../src/secrets/index.ts";
import { rows, type Store } from "../../src/store/index.ts";
import { onBothStores } from "../agents/support/stores.ts";

const HOUR = 3_600_000;
const box = cipher(keyring({ current: "k", keys: { k: new Uint8Array(32).fill(7) } }));
const answer: Answer = {
  status: 201,
  headers: { "content-type": "application/json" },
  body: '{"secret":"tsk_hidden"}',
};
const asking = (more: Partial<Asking> = {}): Asking => ({
  tenant: "default",
  caller: "ann",
  key: "order-17",
  digest: "d",
  ...more,
});

await onBothStores("answers", (database) => {
  const opened = async (): Promise<{ store: Store; answers: Answers; at: { now: number } }> => {
    const store = (await database())();
    await store.open();
    const at = { now: 1_000 };
    return { store, answers: new Answers(store, box, () => at.now), at };
  };
  const claimed = async (answers: Answers, of: Asking = asking()): Promise<string> => {
    const asked = await answers.ask(of);
    if (asked.state !== "new") throw new Error(`it is ${asked.state}`);
    return asked.claim;
  };

  test("X10 who asks first does it, who asks later is told the same", async () => {
    const { answers } = await opened();
    const claim = await claimed(answers);
    expect(await answers.ask(asking())).toEqual({ state: "running" });
    await answers.keep(asking(), claim, answer);
    expect(await answers.ask(asking())).toEqual({ state: "answered", answer });
    expect(await answers.ask(asking({ digest: "other" }))).toEqual({ state: "other" });
    for (const of of [
      asking({ caller: "bob" }),
      asking({ tenant: "elsewhere" }),
      asking({ key: "order-18" }),
    ])
      expect((await answers.ask(of)).state).toBe("new");
  });

  test("X10 of many who ask at once one does it", async () => {
    const { answers } = await opened();
    const asked = await Promise.all(Array.from({ length: 10 }, () => answers.ask(asking())));
    expect(asked.filter(({ state }) => state === "new")).toHaveLength(1);
    expect(asked.filter(({ state }) => state === "running")).toHaveLength(9);
  });

  test("X10 whoever died over it is followed by one, and says nothing afterwards", async () => {
    const { answers, at } = await opened();
    const dead = await claimed(answers);
    at.now += 61_000;
    expect(await answers.ask(asking({ digest: "other" }))).toEqual({ state: "other" });
    const asked = await Promise.all(Array.from({ length: 5 }, () => answers.ask(asking())));
    expect(asked.filter(({ state }) => state === "new")).toHaveLength(1);
    await answers.keep(asking(), dead, { ...answer, body: "from the dead" });
    await answers.release(asking(), dead);
    expect(await answers.ask(asking())).toEqual({ state: "running" });
  });

  test("X10 whoever says that they are at it is not taken for dead", async () => {
    const { answers, at } = await opened();
    const claim = await claimed(answers);
    at.now += 50_000;
    await answers.renew(asking(), claim);
    at.now += 50_000;
    expect(await answers.ask(asking())).toEqual({ state: "running" });
  });

  test("X10 what came to nothing may be done by the next", async () => {
    const { answers } = await opened();
    await answers.release(asking(), await claimed(answers));
    expect((await answers.ask(asking())).state).toBe("new");
  });

  test("X10 answers are forgotten after a day", async () => {
    const { answers, at, store } = await opened();
    await answers.keep(asking(), await claimed(answers), answer);
    at.now += 23 * HOUR;
    expect((await answers.ask(asking())).state).toBe("answered");
    at.now += 2 * HOUR;
    await answers.ask(asking({ key: "another" }));
    const left = await store.read((db) => rows(db.selectFrom("answers").select("id")));
    expect(left).toHaveLength(1);
    expect((await answers.ask(asking({ digest: "other" }))).state).toBe("new");
  });

  test("answers are encrypted, and keys are digests", async () => {
    const { answers, store } = await opened();
    await answers.keep(asking(), await claimed(answers), answer);
    const stored = JSON.stringify(await store.read((db) => rows(db.selectFrom("answers").selectAll())));
    expect(stored).not.toMatch(/tsk_hidden|order-17|ann/);
  });

  test("X12 an erased answer is gone, and is not done again", async () => {
    const { answers, store } = await opened();
    await answers.keep(asking(), await claimed(answers), answer);
    await answers.keep(
      asking({ tenant: "other" }),
      await claimed(answers, asking({ tenant: "other" })),
      answer,
    );
    await store.write((db) => eraseAnswers(db, "default"));
    expect(await answers.ask(asking())).toEqual({ state: "erased", status: 201 });
    expect((await answers.ask(asking({ tenant: "other" }))).state).toBe("answered");
    const bodies = await store.read((db) =>
      rows(db.selectFrom("answers").select("body").where("tenant", "=", "default")),
    );
    expect(bodies).toEqual([{ body: null }]);
  });
});
