import { defineTool } from "trackside";
import { describe, expect, test } from "vitest";
import { requestsOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, play } from "../guards/stage.ts";
import { calls, entries, expectSound, parallel, self, tree } from "./stage.ts";

const LIMITED = { budgetAwareness: "limit:50", contextWindowTokens: 8000 };
/** About 3,000 tokens, which no reducer makes less of: they are the user's own words. */
const LONG = "word ".repeat(3000);

describe.each(ENGINES)("the budget of a sub-agent, on the %s engine", (_name, make) => {
  test("S6 is measured on its own context, whatever its parent's is", async () => {
    const { agent, model } = tree(
      { [LONG]: [calls(self("small")), "done"], small: ["ok"] },
      { ...LIMITED, instructions: "Be kind." },
    );
    const { result } = await play(agent, { engine: make() }, LONG);
    expect(result.output).toBe("done");
    expect(entries(result)[0]).toMatchObject({ status: "success", output: "ok" });
    const [request] = requestsOf(model, "small");
    expect(JSON.stringify(request?.prompt).length).toBeLessThan(500);
  });

  test("S6 S5 that is used up ends that sub-agent, as one entry, with nothing sent", async () => {
    const huge = { task: "huge", additional_context: "word ".repeat(6000) };
    const { agent, model } = tree(
      { Go: [calls(parallel(huge, "small")), "done"], huge: ["not said"], small: ["ok"] },
      LIMITED,
    );
    const { result, events } = await play(agent, { engine: make() });
    expect(requestsOf(model, "huge")).toEqual([]);
    expectSound(events);
    const [first, second] = entries(result);
    expect(first).toMatchObject({ status: "error", error: { code: "budget_exceeded" } });
    expect(second).toMatchObject({ status: "success" });
  });

  test("S6 B2 its advisories tell of its own window", async () => {
    const t = defineTool({ name: "t", execute: () => "ran" });
    const { agent, model } = tree(
      {
        Go: [{ calls: [self("small")], usage: { input: 70_001, output: 5 } }, "done"],
        small: [{ calls: [{ tool: "t" }], usage: { input: 21, output: 5 } }, "ok"],
      },
      { budgetAwareness: "per-message", contextWindowTokens: 100_000, tools: [t] },
    );
    await play(agent, { engine: make() });
    expect(JSON.stringify(requestsOf(model, "small")[1]?.prompt)).toContain("context: 26 of");
    expect(JSON.stringify(requestsOf(model, "small")[1]?.prompt)).not.toContain("context: 70006 of");
    expect(JSON.stringify(requestsOf(model, "Go")[1]?.prompt)).toContain("context: 70006 of");
  });
});
