import { Agent, type Approve, abort, ask, defineRail, defineTool, type Rail, retry, skip } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { approving, clerk } from "./clerk.ts";
import { ENGINES, expectPaired, outputs, play, results } from "./stage.ts";

describe.each(ENGINES)("L3 an approved call, on the %s engine", (_name, make) => {
  const editing =
    (edited: object): Approve =>
    () => ({ choice: "approve", editedArguments: edited as never });

  test("L3 runs once, with exactly the approved arguments", async () => {
    const { agent, ran } = clerk();
    await play(agent, { engine: make(), approve: approving() });

    expect(ran).toEqual([{ to: "Ann", amount: 500 }]);
  });

  test("L3 an edit is what runs; both versions are recorded and the model is told", async () => {
    const { agent, ran, model } = clerk();
    const { result } = await play(agent, { engine: make(), approve: editing({ to: "Ann", amount: 5 }) });

    expect(ran).toEqual([{ to: "Ann", amount: 5 }]);
    expect(results(result)[0]?.metadata.original_args).toEqual({ to: "Ann", amount: 500 });
    const told = JSON.stringify(model.requests[1]?.prompt);
    expect(told).toContain("paid 5");
    expect(told).toContain("It ran with other arguments than you wrote");
  });

  test("L3 edited arguments pass the rails again: they may be changed, skipped or aborted, not asked about again", async () => {
    const seen: unknown[] = [];
    let questions = 0;
    const look = defineRail({ name: "look", on: ["PRE_TOOL_CALL"], priority: 1 }, (ctx) => {
      seen.push(ctx.inputs.arguments["amount"]);
      return ask("always");
    });
    const cases: [string, Rail, unknown[], string][] = [
      [
        "pass",
        defineRail({ name: "r", on: ["PRE_TOOL_CALL"] }, () => {}),
        [{ to: "Eve", amount: 7 }],
        "paid 7",
      ],
      [
        "skip",
        defineRail({ name: "r", on: ["PRE_TOOL_CALL"] }, (ctx) =>
          ctx.inputs.arguments["to"] === "Eve" ? skip("not Eve") : undefined,
        ),
        [],
        "rejected",
      ],
      [
        "change",
        defineRail({ name: "r", on: ["PRE_TOOL_CALL"] }, (ctx) => {
          if (ctx.inputs.arguments["to"] === "Eve") ctx.inputs.arguments = { to: "Bob", amount: 1 };
        }),
        [{ to: "Bob", amount: 1 }],
        "paid 1",
      ],
    ];
    for (const [what, rail, should, output] of cases) {
      seen.length = 0;
      questions = 0;
      const { agent, ran } = clerk({ rails: [look, rail] });
      const { result } = await play(agent, {
        engine: make(),
        approve: () => {
          questions += 1;
          return { choice: "approve", editedArguments: { to: "Eve", amount: 7 } };
        },
      });
      expect(seen, what).toEqual([500, 7]);
      expect(questions, what).toBe(1);
      expect(ran, what).toEqual(should);
      expect(outputs(result), what).toEqual([output]);
    }
    const stop = defineRail({ name: "stop", on: ["PRE_TOOL_CALL"] }, (ctx) =>
      ctx.inputs.arguments["to"] === "Eve" ? abort("Eve!") : undefined,
    );
    const { agent, ran } = clerk({ rails: [stop] });
    const { error, result, events } = await play(agent, {
      engine: make(),
      approve: editing({ to: "Eve", amount: 7 }),
    });
    expect(error).toMatchObject({ railName: "stop", reason: "Eve!" });
    expect(ran).toEqual([]);
    expectPaired(result, events);
  });

  test("L3 a retry of an approved call asks again only when its arguments are others", async () => {
    for (const [name, change, questions] of [
      ["same", false, 1],
      ["other", true, 2],
    ] as const) {
      const asked: unknown[] = [];
      const tries: unknown[] = [];
      const flaky = defineTool({
        name: "pay",
        effect: "idempotent",
        input: z.object({ amount: z.number() }),
        execute: ({ amount }) => {
          tries.push(amount);
          if (tries.length === 1) throw new Error("net");
          return "paid";
        },
      });
      const rails = [
        defineRail({ name: "again", on: ["TOOL_ERROR"] }, () => "retry"),
        defineRail({ name: "edit", on: ["PRE_TOOL_CALL"] }, (ctx) => {
          if (change) ctx.inputs.arguments = { amount: ctx.attempt * 10 };
        }),
      ];
      const model = scriptedModel([{ calls: [{ tool: "pay", args: { amount: 5 } }] }, "done"]);
      const agent = new Agent({ name: "a", model, tools: [flaky], hitlTools: ["pay"], rails });
      const { result } = await play(agent, {
        engine: make(),
        approve: (approval) => {
          asked.push(approval.arguments?.["amount"]);
          return { choice: "approve" };
        },
      });
      expect(asked, name).toHaveLength(questions);
      expect(asked.at(-1), name).toBe(tries.at(-1));
      expect(results(result)[0]?.metadata.attempts).toBe(2);
    }
  });

  test("L3 a retry after an edit runs what the human wrote, even if no rail asks any more", async () => {
    const tries: unknown[] = [];
    const flaky = defineTool({
      name: "pay",
      effect: "idempotent",
      input: z.object({ amount: z.number() }),
      execute: ({ amount }) => {
        tries.push(amount);
        if (tries.length < 3) throw new Error("net");
        return "paid";
      },
    });
    const rails = [
      defineRail({ name: "first", on: ["PRE_TOOL_CALL"] }, (ctx) =>
        ctx.attempt === 1 && tries.length === 0 ? ask("big") : undefined,
      ),
      defineRail({ name: "again", on: ["TOOL_ERROR"] }, () => retry({ maxRetries: 2 })),
    ];
    const model = scriptedModel([{ calls: [{ tool: "pay", args: { amount: 1000 } }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [flaky], rails });
    await play(agent, {
      engine: make(),
      approve: () => ({ choice: "approve", editedArguments: { amount: 10 } }),
    });

    expect(tries).toEqual([10, 10, 10]);
  });
});
