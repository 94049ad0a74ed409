import { expect, test } from "vitest";
import { ruleWords, scopeChoices } from "./rule-words.ts";

const about = { tool: "deploy", agent: "keeper", scope: { tenant: "t", user: "ada", plan: 2 } };

test("L8 the rule is told in full before it is made", () => {
  expect(ruleWords("approve", about, { match: "exact-arguments", until: null, scope_keys: [] })).toBe(
    "Approves calls of deploy with exactly these arguments of keeper, until it is revoked.",
  );
  expect(ruleWords("reject", about, { match: "tool", until: 0, scope_keys: ["user", "plan"] })).toBe(
    'Rejects every call of deploy of keeper, for user "ada" and plan 2, until 1970-01-01T00:00:00.000Z.',
  );
});

test("H1 the tenant always counts, so it is no choice", () => {
  expect(scopeChoices(about.scope)).toEqual([
    { key: "user", label: "user ada" },
    { key: "plan", label: "plan 2" },
  ]);
});
