import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listAudit, verifyAudit } from "../../src/audit/index.ts";
import { approvalRules, type NewRule, type RuleQuestion } from "../../src/rules/index.ts";
import { memoryStore, testCipher } from "../secrets/support.ts";

const NOW = 1_000_000;

type Given = Partial<Omit<RuleQuestion, "approval">> & { approval?: Partial<RuleQuestion["approval"]> };

function question(given: Given = {}): RuleQuestion {
  const { approval, ...rest } = given;
  return {
    tenant: "a",
    agent: "clerk",
    scope: { tenant: "a", user: "ann", region: "eu" },
    ...rest,
    approval: {
      kind: "tool_call",
      tool: "send_mail",
      digest: "args-1",
      tool_digest: "schema-1",
      reasons: ["send_mail is in hitl_tools"],
      ...approval,
    },
  };
}

async function scene(enabled = true) {
  const store = await memoryStore();
  const cipher = testCipher();
  const rules = approvalRules({ cipher, enabled });
  const create = (given: Partial<NewRule> = {}) =>
    store.write(
      rules.create({ question: question(), match: "exact-arguments", until: null, by: "ann", ...given }, NOW),
    );
  const match = async (asked: RuleQuestion = question(), now = NOW + 1) =>
    (await store.write(rules.match(asked, now)))?.id;
  return { store, cipher, rules, create, match };
}

describe("L8 a remembered decision", () => {
  test("answers the same question again", async () => {
    const { create, match, rules, store } = await scene();
    const rule = await create({ reason: "she always does" });
    expect(await match()).toBe(rule.id);
    expect(await store.read(rules.list("a"))).toEqual([rule]);
    expect(rule).toMatchObject({
      agent: "clerk",
      match: { kind: "exact-arguments", digest: "args-1" },
      effect: "approve",
    });
  });

  test("answers nothing else: other arguments, tool, schema, agent, tenant, kind, or a reason nobody was asked for", async () => {
    const { create, match } = await scene();
    await create();
    const others: RuleQuestion[] = [
      question({ approval: { digest: "args-2" } }),
      question({ approval: { tool: "send_money" } }),
      question({ approval: { tool_digest: "schema-2" } }),
      { ...question(), approval: withoutSchema(question().approval) },
      question({ agent: "other" }),
      question({ tenant: "b", scope: { tenant: "b" } }),
      question({ tenant: "b" }),
      question({ scope: { tenant: "b" } }),
      question({ approval: { kind: "unknown_outcome" } }),
      question({ approval: { kind: "client_tool" } }),
      question({ approval: { reasons: ["send_mail is in hitl_tools", "the amount is unusual"] } }),
      question({ approval: { reasons: ["the amount is unusual"] } }),
    ];
    for (const other of others) expect(await match(other)).toBeUndefined();
    expect(await match()).toBeDefined();
  });

  test("for a whole tool does not look at arguments, but at everything else", async () => {
    const { create, match } = await scene();
    const rule = await create({ match: "tool", anyAgent: true });
    expect(await match(question({ agent: "other", approval: { digest: "args-2" } }))).toBe(rule.id);
    expect(await match(question({ approval: { tool_digest: "schema-2" } }))).toBeUndefined();
    expect(await match(question({ approval: { reasons: ["the amount is unusual"] } }))).toBeUndefined();
  });

  test("holds for the scope it was made for", async () => {
    const { create, match } = await scene();
    const rule = await create({ scopeKeys: ["user"] });
    expect(await match(question({ scope: { tenant: "a", user: "ann", region: "us" } }))).toBe(rule.id);
    for (const scope of [{ tenant: "a", user: "bob" }, { tenant: "a" }, { tenant: "a", user: ["ann"] }])
      expect(await match(question({ scope }))).toBeUndefined();
    await expect(create({ scopeKeys: ["nothing"] })).rejects.toThrow(
      /has no "nothing"; it has tenant, user, region/,
    );
  });

  test("ends at its time, and is not made for a time that has passed", async () => {
    const { create, match } = await scene();
    const rule = await create({ until: NOW + 100 });
    expect(await match(question(), NOW + 99)).toBe(rule.id);
    expect(await match(question(), NOW + 100)).toBeUndefined();
    for (const until of [NOW, NOW - 1, Number.NaN])
      await expect(create({ until })).rejects.toThrow(/until: a time after now/);
  });

  test("can be revoked, once, by whoever is first", async () => {
    const { create, match, rules, store } = await scene();
    const { id } = await create();
    const revoke = (by: string) => store.write(rules.revoke("a", id, { by, reason: "no more" }, NOW + 5));
    const [first, second] = await Promise.all([revoke("bob"), revoke("eve")]);
    expect(first).toEqual(second);
    expect(first.revoked).toEqual({ by: "bob", at: NOW + 5, reason: "no more" });
    expect(await match()).toBeUndefined();
    expect(await store.read(rules.list("a"))).toEqual([]);
    expect(await store.read(rules.list("a", { revoked: true }))).toEqual([first]);
    await expect(store.write(rules.revoke("b", id, { by: "bob" }, NOW))).rejects.toThrow(/no rule/);
  });

  test("that rejects wins over one that approves", async () => {
    const { create, match } = await scene();
    const reject = await create({ match: "tool", effect: "reject" });
    await create();
    expect(await match()).toBe(reject.id);
  });

  test("is made once for the same id", async () => {
    const { create, rules, store } = await scene();
    const first = await create({ id: "rule_x" });
    expect(await create({ id: "rule_x", reason: "again" })).toEqual(first);
    expect(await store.read(rules.list("a"))).toHaveLength(1);
  });

  test("switched off is neither made nor asked, and can still be seen and revoked", async () => {
    const on = await scene();
    const { id } = await on.create();
    const off = approvalRules({ cipher: on.cipher, enabled: false });
    expect(await on.store.write(off.match(question(), NOW + 1))).toBeUndefined();
    const making = on.store.write(
      off.create({ question: question(), match: "tool", until: null, by: "ann" }, NOW),
    );
    await expect(making).rejects.toThrow(/switched off/);
    expect(await on.store.read(off.list("a"))).toHaveLength(1);
    expect((await on.store.write(off.revoke("a", id, { by: "ann" }, NOW))).revoked).not.toBeNull();
  });

  test("is only made of a tool call whose schemas are known", async () => {
    const { create } = await scene();
    await expect(create({ question: question({ approval: { kind: "elicitation" } }) })).rejects.toThrow(
      /kind "elicitation"/,
    );
    const unknown = { ...question(), approval: withoutSchema(question().approval) };
    await expect(create({ question: unknown })).rejects.toThrow(/does not say which schemas/);
  });

  test("is audited when it is made and when it is revoked, without its text", async () => {
    const { create, rules, store, cipher } = await scene();
    const { id } = await create({ reason: "private words" });
    await store.write(rules.revoke("a", id, { by: "bob" }, NOW + 1));
    const entries = await listAudit(store, "a");
    expect(entries.map(({ action, by }) => [action, by])).toEqual([
      ["rule.created", "ann"],
      ["rule.revoked", "bob"],
    ]);
    expect(entries[1]?.before).toBe(entries[0]?.after);
    expect(JSON.stringify(entries)).not.toContain("private");
    expect((await verifyAudit(store, cipher, "a")).ok).toBe(true);
  });

  test("never matches a question that differs in any one thing it is bound to", async () => {
    const { create, match } = await scene();
    await create({ scopeKeys: ["user", "region"], until: NOW + 10 });
    const word = fc.string({ minLength: 1, unit: "grapheme-ascii" });
    await fc.assert(
      fc.asyncProperty(
        fc.record(
          {
            tool: word,
            digest: word,
            schema: word,
            agent: word,
            user: word,
            region: word,
            late: fc.integer({ min: 0, max: 20 }),
          },
          { requiredKeys: [] },
        ),
        async ({
          tool = "send_mail",
          digest = "args-1",
          schema = "schema-1",
          agent = "clerk",
          user = "ann",
          region = "eu",
          late = 1,
        }) => {
          const asked = question({
            agent,
            scope: { tenant: "a", user, region },
            approval: { tool, digest, tool_digest: schema },
          });
          const same =
            tool === "send_mail" &&
            digest === "args-1" &&
            schema === "schema-1" &&
            agent === "clerk" &&
            user === "ann" &&
            region === "eu" &&
            late < 10;
          expect((await match(asked, NOW + late)) !== undefined).toBe(same);
        },
      ),
    );
  });
});

function withoutSchema(approval: RuleQuestion["approval"]): RuleQuestion["approval"] {
  const { tool_digest: _, ...rest } = approval;
  return rest;
}
