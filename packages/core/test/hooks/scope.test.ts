import { Agent, defineTool, HOOK_POINTS, type RunOptions } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { runCalls } from "../support/run-calls.ts";

const SECRET = "d41d8cd9-secret-user";

/** Runs a turn with one call and shows every scope that was handed out, and every request. */
async function scopesOf(scope?: RunOptions["scope"]) {
  const scopes: [string, unknown][] = [];
  const who = defineTool({
    name: "who",
    execute: (_, context) => {
      scopes.push(["tool", context.scope]);
      return "ok";
    },
  });
  const model = scriptedModel([{ calls: [{ tool: "who" }] }, "done"]);
  const agent = new Agent({ name: "clerk", model, tools: [who] });
  for (const point of HOOK_POINTS)
    agent.hookManager.add(point, (ctx) => void scopes.push([point, ctx.scope]));
  await agent.run("Go", scope === undefined ? {} : { scope });
  return { scopes, requests: model.requests };
}

describe("H1 the scope of a run", () => {
  test("H1 it reaches every tool and hook, whole", async () => {
    const scope = { tenant: "acme", user: SECRET, roles: ["a", "b"], deep: { x: null } };
    const { scopes } = await scopesOf(scope);

    expect(scopes.map(([where]) => where)).toEqual([
      "START",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "PRE_TOOL_CALL",
      "tool",
      "POST_TOOL_CALL",
      "PRE_LLM_CALL",
      "POST_LLM_CALL",
      "FINISHED",
    ]);
    for (const [, one] of scopes) expect(one).toEqual(scope);
  });

  test("H1 tenant is default unless given, and other keys stand beside it", async () => {
    expect((await scopesOf()).scopes[0]?.[1]).toEqual({ tenant: "default" });
    expect((await scopesOf({})).scopes[0]?.[1]).toEqual({ tenant: "default" });
    expect((await scopesOf({ user: "u" })).scopes[0]?.[1]).toEqual({ tenant: "default", user: "u" });
    expect((await scopesOf({ tenant: "acme" })).scopes[0]?.[1]).toEqual({ tenant: "acme" });
  });

  test("H1 it is never in a request to the model", async () => {
    const { requests } = await scopesOf({ tenant: "acme-tenant", user: SECRET, deep: { token: SECRET } });

    expect(requests).toHaveLength(2);
    expect(JSON.stringify(requests)).not.toContain(SECRET);
    expect(JSON.stringify(requests)).not.toContain("acme-tenant");
  });

  test("H1 it is frozen all the way down, and what becomes of the object passed in does not matter", async () => {
    const scope = { user: "u", deep: { list: [1] } };
    const change = defineTool({
      name: "change",
      execute: (_, context) => {
        scope.deep.list.push(2);
        const { deep } = context.scope;
        const attempts = [
          () => Object.assign(context.scope, { tenant: "other" }),
          () => Object.assign(Object(deep), { more: true }),
          () => Object(deep).list.push(3),
        ];
        for (const attempt of attempts) expect(attempt).toThrow(TypeError);
        return context.scope;
      },
    });
    const { told } = await runCalls([change], ["change"], { scope });

    expect(told).toEqual([{ type: "json", value: { tenant: "default", user: "u", deep: { list: [1] } } }]);
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  test.each([
    ["a text", "acme"],
    ["null", null],
    ["a list", ["acme"]],
    ["a tenant that is no text", { tenant: 5 }],
    ["an empty tenant", { tenant: "" }],
    ["a tenant of null", { tenant: null }],
    ["a function", { user: () => "u" }],
    ["undefined", { user: undefined }],
    ["a Date", { since: new Date(0) }],
    ["a Map", new Map([["tenant", "acme"]])],
    ["a BigInt", { id: 5n }],
    ["NaN", { id: Number.NaN }],
    ["a list with a hole", { ids: new Array(1) }],
    ["a cycle", cycle],
    ["a key __proto__", JSON.parse('{"__proto__":{"tenant":"acme"}}')],
    [
      "a getter that throws",
      {
        get user() {
          throw new Error("not for you");
        },
      },
    ],
  ])("H1 %s is no scope: the run is refused", async (_what, scope) => {
    const model = scriptedModel([]);
    const running = new Agent({ name: "clerk", model }).run("Go", { scope: scope as never });

    await expect(running).rejects.toMatchObject({ code: "config_invalid", issues: [{ path: "scope" }] });
    expect(model.requests).toEqual([]);
  });
});
