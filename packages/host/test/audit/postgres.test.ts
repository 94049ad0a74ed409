import { expect, onTestFinished, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { appendAudit, listAudit, verifyAudit } from "../../src/audit/index.ts";
import { approvalRules, type RuleQuestion } from "../../src/rules/index.ts";
import { Secrets } from "../../src/secrets/index.ts";
import { postgres } from "../../src/store/index.ts";
import { changed, type Store, type Work } from "../../src/store/store.ts";
import { enqueueWebhook, WebhookSender } from "../../src/webhooks/index.ts";
import { testCipher } from "../secrets/support.ts";
import { receiver, requested } from "../webhooks/support.ts";
import { chain, entry, rehash, rotation } from "./support.ts";

await serviceSuite("on PostgreSQL, with several processes", sharedPostgres, (server) => {
  /** Stores on one new database, each with connections of its own, as processes have. */
  async function stores(count: number): Promise<[Store, ...Store[]]> {
    const url = await server.createDatabase();
    const made = Array.from({ length: count }, () => postgres(url));
    onTestFinished(async () => {
      for (const store of made) await store.close();
    });
    const [first, ...rest] = made;
    if (first === undefined) throw new Error("at least one is asked for");
    for (const store of made) await store.open();
    return [first, ...rest];
  }

  test("X12 the audit does not fork, not even at its first row", async () => {
    const all = await stores(3);
    const box = testCipher();
    await Promise.all(
      Array.from({ length: 120 }, (_, i) =>
        all[i % all.length]?.write(appendAudit(box, entry(`t${i % 2}`, i))),
      ),
    );
    for (const tenant of ["t0", "t1"])
      expect(await verifyAudit(all[0], box, tenant)).toMatchObject({ ok: true, rows: 60, end: { n: 60 } });
  });

  test("X12 an edit is found and located, and pages and actions work as they do elsewhere", async () => {
    const [store] = await stores(1);
    const box = testCipher();
    await chain(store, box, "a", 8);
    expect((await listAudit(store, "a", { after: 2, limit: 2, action: "test." })).map(({ n }) => n)).toEqual([
      3, 4,
    ]);
    await store.write(rehash("a", 4, { action: "nothing" }));
    await store.write(function* (db) {
      yield* changed(db.updateTable("audit").set({ at: 3 }).where("n", "=", 6));
      yield* changed(db.deleteFrom("audit").where("n", "=", 8));
    });
    expect((await verifyAudit(store, box, "a")).problems.map(({ n, kind }) => [n, kind])).toEqual([
      [4, "edited"],
      [6, "edited"],
      [8, "truncated"],
    ]);
  });

  test("rotating the key does not undo what is written meanwhile", async () => {
    const [one, two] = await stores(2);
    const { oldBox, newBox, onlyNew } = rotation();
    const secrets = new Secrets(one, oldBox);
    for (let i = 0; i < 30; i++) await secrets.set("a", `s${i}`, `old ${i}`);
    await chain(one, oldBox, "a", 3);
    const writing = Array.from({ length: 30 }, async (_, i) => {
      await new Secrets(two ?? one, newBox).set("a", `s${i}`, `new ${i}`);
      await (two ?? one).write(appendAudit(newBox, entry("a", i)));
    });
    await Promise.all([
      ...writing,
      new Secrets(one, newBox).rotate(),
      new Secrets(two ?? one, newBox).rotate(),
    ]);
    await new Secrets(one, newBox).rotate();
    for (let i = 0; i < 30; i++) expect(await new Secrets(one, onlyNew).use("a", `s${i}`)).toBe(`new ${i}`);
    expect(await verifyAudit(one, onlyNew, "a")).toMatchObject({ ok: true, rows: 33 });
  });

  test("no two senders send the same webhook at the same time", async () => {
    const all = await stores(3);
    const cipher = testCipher();
    const { url, received } = await receiver();
    const endpoints = [{ name: "ops", url, secret: "webhook-secret-of-a-receiver" }];
    for (let i = 0; i < 40; i++) await all[0].write(enqueueWebhook(endpoints, requested(`ap_${i}`)));
    const senders = all.map((store) => new WebhookSender({ store, cipher, endpoints }));
    await Promise.all(senders.map((sender) => sender.sendDue()));
    for (const sender of senders) await sender.sendDue();
    expect(received).toHaveLength(40);
    expect(new Set(received.map(({ headers }) => headers["trackside-event-id"])).size).toBe(40);
  });

  test("L8 a rule that was revoked decides nothing any more, whoever asks at that moment", async () => {
    const [one, two = one] = await stores(2);
    const cipher = testCipher();
    const rules = approvalRules({ cipher });
    const question: RuleQuestion = {
      tenant: "a",
      agent: "clerk",
      scope: { tenant: "a" },
      approval: { kind: "tool_call", tool: "send", digest: "d", tool_digest: "s", reasons: [] },
    };
    /** As an approval is opened: what the rule decided lands with it. */
    const ask: Work<void> = function* (db) {
      const rule = yield* rules.match(question, 3)(db);
      if (rule === undefined) return;
      const about = { rule: rule.id };
      yield* appendAudit(cipher, { tenant: "a", at: 3, action: "decided", by: `rule:${rule.id}`, about })(db);
    };
    for (let round = 0; round < 20; round++) {
      const { id } = await one.write(rules.create({ question, match: "tool", until: null, by: "ann" }, 1));
      if (round === 0) await one.write(ask);
      const asking = Array.from({ length: 6 }, () => one.write(ask));
      await Promise.all([...asking, two.write(rules.revoke("a", id, { by: "bob" }, 2)), two.write(ask)]);
    }
    const told = await listAudit(one, "a", { limit: 1000 });
    const revoked = new Set<unknown>();
    for (const { action, about } of told) {
      if (action === "rule.revoked") revoked.add(about["rule"]);
      if (action === "decided") expect(revoked).not.toContain(about["rule"]);
    }
    expect(revoked.size).toBe(20);
    expect(told.some(({ action }) => action === "decided")).toBe(true);
  });
});
