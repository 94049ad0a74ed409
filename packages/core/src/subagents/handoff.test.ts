import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Handoff, handoffToolName, handoffTools, isHandoffTool, nextHandoff } from "./handoff.ts";

describe("handoff tools", () => {
  test("S7 are called after their agent where its name allows", () => {
    expect(handoffToolName("billing-2")).toBe("handoff_to_billing-2");
    expect(handoffToolName("Prüfer & Söhne")).toMatch(/^handoff_to_Prufer_Sohne_x[0-9a-z]{13}$/);
    expect(handoffToolName("日本")).toMatch(/^handoff_to_agent_x[0-9a-z]{13}$/);
  });

  test("S7 have names that are legal, steady and of one agent each", () => {
    const names = fc.oneof(
      fc.string({ minLength: 1, maxLength: 128 }),
      fc.string({ unit: "binary", minLength: 1, maxLength: 128 }),
      fc.string({ unit: fc.constantFrom("a", "_", "-", " ", "ä"), minLength: 1, maxLength: 70 }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(names, { maxLength: 20 }), (agents) => {
        const tools = handoffTools(agents.map((name) => ({ name, description: "" })));
        expect(tools.map((tool) => tool.agent)).toEqual(agents);
        expect(new Set(tools.map((tool) => tool.name)).size).toBe(agents.length);
        for (const { name, agent } of tools) {
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(name).toBe(handoffToolName(agent));
          expect(isHandoffTool(name)).toBe(true);
        }
      }),
    );
  });

  test("S7 an agent named like the tool of another gets a name of its own", () => {
    const made = handoffToolName("ä").slice("handoff_to_".length);
    expect(handoffToolName(made)).not.toBe(handoffToolName("ä"));
  });

  test("S7 show the model the agent, what it is for and what to say", () => {
    const [tool] = handoffTools([{ name: "billing", description: "Invoices and refunds." }]);
    expect(tool?.description).toContain('"billing"');
    expect(tool?.description).toContain("Invoices and refunds.");
    expect(tool?.input_schema).toMatchObject({ required: ["reason"], properties: { reason: {}, input: {} } });
  });
});

describe("nextHandoff", () => {
  const made = (...names: string[]): Handoff[] =>
    names.slice(1).map((to, i) => ({ from: names[i] ?? "", to }));

  test("S7 an agent may be handed back to, and on", () => {
    expect(nextHandoff([], "a", "b")).toEqual({ ok: true });
    expect(nextHandoff(made("a", "b"), "b", "a")).toEqual({ ok: true });
    expect(nextHandoff(made("a", "b", "a"), "a", "c")).toEqual({ ok: true });
  });

  test("S7 no edge is taken twice", () => {
    expect(nextHandoff(made("a", "b", "a"), "a", "b")).toEqual({
      ok: false,
      problem: '"a" has handed this turn to "b" before; answer it yourself',
    });
  });

  test("S7 five handoffs are the most", () => {
    expect(nextHandoff(made("a", "b", "c", "d", "e"), "e", "f")).toEqual({ ok: true });
    expect(nextHandoff(made("a", "b", "c", "d", "e", "f"), "f", "g")).toMatchObject({
      problem: expect.stringContaining("handed over 5 times"),
    });
  });

  test("S7 nobody hands over to itself", () => {
    expect(nextHandoff([], "a", "a")).toMatchObject({ ok: false });
  });
});
