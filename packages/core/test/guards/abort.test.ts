import { Agent, abort, defineRail, defineTool, localEngine, RailAbortError, RunError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ENGINES, eventsOf, expectPaired, outputs, pause, play, tracked } from "./stage.ts";

const CALL = { text: "thinking", calls: [{ tool: "t" }] };

describe.each(ENGINES)("R9 an abort, on the %s engine", (_name, make) => {
  test.each([
    "START",
    "PRE_LLM_CALL",
    "POST_LLM_CALL",
    "PRE_TOOL_CALL",
    "POST_TOOL_CALL",
    "FINISHED",
  ] as const)(
    "R9 at %s is one RailAbortError with the rail, the reason and the point, not wrapped",
    async (point) => {
      const { tool } = tracked("t");
      const rails = [defineRail({ name: "guard", on: [point] }, () => abort("over the line"))];
      const agent = new Agent({ name: "a", model: scriptedModel([CALL, "done"]), tools: [tool], rails });
      const { error, events, result } = await play(agent, { engine: make() });

      expect(error).toBeInstanceOf(RailAbortError);
      expect(error).toMatchObject({
        code: "rail_aborted",
        railName: "guard",
        reason: "over the line",
        point,
      });
      expect(error?.message).toBe(`The rail "guard" aborted the run at ${point}: over the line`);
      expect(error?.cause).toBeUndefined();
      expect(eventsOf(events, "status").at(-1)).toMatchObject({
        status: "error",
        failure: { code: "rail_aborted" },
      });
      expectPaired(result, events);
    },
  );

  test("R9 stops the siblings of a batch, and leaves every call with its result", async () => {
    const started: string[] = [];
    const quick = Promise.withResolvers<void>();
    const job = defineTool({
      name: "job",
      input: z.object({ id: z.string() }),
      execute: async ({ id }) => {
        started.push(id);
        if (id === "slow") await new Promise(() => {}); // a run that waited for it would never end
        quick.resolve();
        return id;
      },
    });
    const alone = defineTool({
      name: "alone",
      exclusive: true,
      execute: () => {
        started.push("alone");
        return "alone";
      },
    });
    const guard = defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, async (ctx) => {
      if (ctx.inputs.arguments["id"] !== "bad") return undefined;
      await quick.promise;
      await pause(15); // its result is recorded
      return abort("not that one");
    });
    const calls = [
      { tool: "job", args: { id: "quick" } },
      { tool: "job", args: { id: "slow" } },
      { tool: "job", args: { id: "bad" } },
      { tool: "alone" },
    ];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls }, "done"]),
      tools: [job, alone],
      rails: [guard],
    });
    const { error, result, events } = await play(agent, { engine: make() });

    expect(error).toMatchObject({ railName: "guard", reason: "not that one" });
    expect(started).toEqual(["quick", "slow"]);
    expect(outputs(result)).toEqual(["quick", "cancelled_unknown", "cancelled", "cancelled"]);
    expectPaired(result, events);
  });

  test("R9 at ERROR keeps the run's own failure as its cause, and does not fire ERROR again", async () => {
    let fired = 0;
    const guard = defineRail({ name: "guard", on: ["ERROR"] }, () => {
      fired += 1;
      return abort("make it worse");
    });
    const model = scriptedModel([{ error: new Error("dead") }]);
    const agent = new Agent({ name: "a", model, rails: [guard] });
    const { error, events } = await play(agent, { engine: make({ retry: { retries: 0 } }) });

    expect(fired).toBe(1);
    expect(error).toMatchObject({ railName: "guard", point: "ERROR", reason: "make it worse" });
    expect(error?.cause).toBeInstanceOf(RunError);
    expect(error?.cause).toMatchObject({ code: "model_failed" });
    expect(eventsOf(events, "error").map(({ failure }) => failure.code)).toEqual([
      "model_failed",
      "rail_aborted",
    ]);
  });

  test("R9 of a POST rail withholds what it aborted for: from the log, the events and the next turn", async () => {
    const leak = defineTool({ name: "t", execute: () => "SECRET" });
    for (const answer of [
      () => abort("leak"),
      () => Promise.reject(new Error("broke")),
      () => "retry" as const,
    ]) {
      const guard = defineRail({ name: "guard", on: ["POST_TOOL_CALL"] }, answer);
      const agent = new Agent({ name: "a", model: scriptedModel([CALL]), tools: [leak], rails: [guard] });
      const { result, events } = await play(agent, { engine: make() });

      expect(JSON.stringify([events, result.conversation])).not.toContain("SECRET");
      expectPaired(result, events);
      const model = scriptedModel(["hello"]);
      await new Agent({ name: "b", model }).run("Next", {
        conversation: result.conversation,
        engine: make(),
      });
      expect(JSON.stringify(model.requests)).not.toContain("SECRET");
    }
  });
});

describe("R9 what is left after an abort", () => {
  test("R9 the conversation goes on with the next turn", async () => {
    const { tool } = tracked("t");
    const rails = [defineRail({ name: "guard", on: ["POST_TOOL_CALL"] }, () => abort("no"))];
    const model = scriptedModel([CALL, "hello again"]);
    const agent = new Agent({ name: "a", model, tools: [tool], rails });
    const { result } = await play(agent);
    const next = await agent.run("And now?", { conversation: result.conversation });

    expect(next.output).toBe("hello again");
    expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  test("R9 the first of two aborts in a batch is told, and only one", async () => {
    const { tool } = tracked("t");
    const rails = [
      defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, (ctx) =>
        abort(`call ${ctx.inputs.arguments["n"]}`),
      ),
    ];
    const calls = [0, 1, 2].map((n) => ({ tool: "t", args: { n } }));
    const agent = new Agent({ name: "a", model: scriptedModel([{ calls }]), tools: [tool], rails });
    const { error, events, result } = await play(agent, { engine: localEngine() });

    expect(error).toMatchObject({ railName: "guard", reason: "call 0" });
    expect(eventsOf(events, "error")).toHaveLength(1);
    expectPaired(result, events);
  });
});
