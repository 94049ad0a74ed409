import { Agent, type Approval, defineRail, defineTool, skip } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ENGINES, eventsOf, outputs, pause, play, results } from "./stage.ts";

const locate = defineTool({
  name: "locate",
  description: "Where the user is",
  input: z.object({ exact: z.boolean() }),
  output: z.object({ city: z.string() }),
  executor: "client",
});

function agentOf(more: object = {}) {
  const model = scriptedModel([{ calls: [{ tool: "locate", args: { exact: true } }] }, "done"]);
  return { agent: new Agent({ name: "a", model, tools: [locate], ...more }), model };
}

describe.each(ENGINES)("T8 a client tool, on the %s engine", (_name, make) => {
  test("T8 waits for its result, as a record of kind client_tool, and the model reads it", async () => {
    const seen: Approval[] = [];
    const { agent, model } = agentOf();
    const { result, events } = await play(agent, {
      engine: make(),
      approve: (approval) => {
        seen.push(approval);
        return { choice: "submit", response: { city: "Ghent" } };
      },
    });

    expect(seen).toMatchObject([
      {
        kind: "client_tool",
        tool: "locate",
        arguments: { exact: true },
        choices: ["submit", "reject"],
        reasons: ["a client has to run it"],
      },
    ]);
    expect(seen[0]?.response_schema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" } },
    });
    expect(outputs(result)).toEqual([{ city: "Ghent" }]);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Ghent");
    expect(eventsOf(events, "approval").map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      "client_tool pending",
      "client_tool approved",
    ]);
  });

  test("L8 a response is checked by the tool's schema: one that does not fit changes nothing", async () => {
    const { agent } = agentOf();
    const stream = agent.stream("Go", { engine: make() });
    for (let i = 0; i < 200 && stream.pending.length === 0; i++) await pause(1);
    const id = stream.pending[0]?.id ?? "";
    for (const decision of [
      { choice: "submit", response: { town: "Ghent" } },
      { choice: "submit", response: "Ghent" },
      { choice: "submit" },
      { choice: "approve" },
    ]) {
      await expect(stream.decide(id, decision)).rejects.toMatchObject({ code: "decision_invalid" });
      expect(stream.pending).toHaveLength(1);
    }
    await stream.decide(id, { choice: "submit", response: { city: "Ghent" } });

    expect(outputs(await stream.result)).toEqual([{ city: "Ghent" }]);
  });

  test("L4 two clients that submit different results: one wins, the other is told", async () => {
    const { agent } = agentOf();
    const stream = agent.stream("Go", { engine: make() });
    for (let i = 0; i < 200 && stream.pending.length === 0; i++) await pause(1);
    const id = stream.pending[0]?.id ?? "";
    const submit = (city: string, by: string) =>
      stream.decide(id, { choice: "submit", response: { city }, by });
    const first = await submit("Ghent", "phone");

    expect(await submit("Ghent", "tablet")).toEqual(first);
    await expect(submit("Bruges", "tablet")).rejects.toThrow("it was approved by phone");
    expect(outputs(await stream.result)).toEqual([{ city: "Ghent" }]);
  });

  test("T8 a client may refuse, or never answer: the model reads that", async () => {
    const refused = await play(agentOf().agent, {
      engine: make(),
      approve: () => ({ choice: "reject", reason: "no permission" }),
    });
    expect(outputs(refused.result)).toEqual(["rejected"]);

    const clock = manualClock();
    const silent = agentOf({ hitlTimeoutSeconds: 5 });
    const { result } = await clock.finish(
      play(silent.agent, { engine: make({ clock }), approve: () => new Promise(() => {}) }),
    );
    expect(outputs(result)).toEqual(["approval_timed_out"]);
  });

  test("T8 rails guard it: PRE_TOOL_CALL before anybody is asked, POST_TOOL_CALL what came back", async () => {
    let asked = 0;
    const approve = () => {
      asked += 1;
      return { choice: "submit", response: { city: "Ghent" } };
    };
    const no = defineRail({ name: "no", on: ["PRE_TOOL_CALL"] }, () => skip("private"));
    const blocked = await play(agentOf({ rails: [no] }).agent, { engine: make(), approve });
    expect(asked).toBe(0);
    expect(outputs(blocked.result)).toEqual(["rejected"]);

    const blur = defineRail({ name: "blur", on: ["POST_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.result = { city: "[somewhere]" };
    });
    const blurred = await play(agentOf({ rails: [blur] }).agent, { engine: make(), approve });
    expect(outputs(blurred.result)).toEqual([{ city: "[somewhere]" }]);
    expect(JSON.stringify(blurred.events)).not.toContain("Ghent");
  });

  test("T8 arguments that a rail changed are those the client gets, and the model is told", async () => {
    const seen: unknown[] = [];
    const coarse = defineRail({ name: "coarse", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.arguments = { exact: false };
    });
    const { agent } = agentOf({ rails: [coarse], hitlTools: ["locate"] });
    const { result } = await play(agent, {
      engine: make(),
      approve: (approval) => {
        seen.push(approval.arguments, approval.reasons);
        return { choice: "submit", response: { city: "Ghent" } };
      },
    });

    expect(seen).toEqual([{ exact: false }, ["locate is in hitl_tools", "a client has to run it"]]);
    expect(results(result)[0]?.metadata.original_args).toEqual({ exact: true });
  });
});

describe("T8 what a client tool is", () => {
  test("T8 it has no execute, and a server tool has one", () => {
    const execute = () => "x";
    expect(() => defineTool({ name: "t", executor: "client", execute })).toThrow(/execute/);
    expect(() => defineTool({ name: "t" })).toThrow(/execute/);
  });
});
