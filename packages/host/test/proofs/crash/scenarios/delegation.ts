import { Agent, defineRail } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

const jobs = (...tasks: readonly string[]) => ({
  calls: [{ tool: "spawn_parallel", args: { jobs: tasks.map((task) => ({ task })) } }],
});

/** Others do a part of the work: sub-agents, theirs, and agents the turn is handed to. Each child is a run of its own. */
export const DELEGATION: readonly Scenario[] = [
  {
    name: "sub-agents beside each other, with tools that happen once",
    ends: ["completed", "completed", "completed"],
    agent: (stage) =>
      new Agent({
        name: "spawner",
        model: stage.cast({
          Go: [jobs("one", "two"), "done"],
          one: [{ calls: [{ tool: "pay", args: { n: 1 } }] }, "one is paid"],
          two: [{ calls: [{ tool: "pay", args: { n: 2 } }, { tool: "save" }] }, "two is paid"],
        }),
        tools: [stage.tool("pay", "once", { takesMs: 10 }), stage.tool("save", "idempotent")],
        allowParallelSubagents: true,
      }),
  },
  {
    name: "somebody is asked by a sub-agent",
    ends: ["completed", "completed"],
    agent: (stage) =>
      new Agent({
        name: "nested",
        model: stage.cast({
          Go: [{ calls: [{ tool: "spawn_self", args: { task: "below" } }] }, "done"],
          below: [{ calls: [{ tool: "pay", args: { amount: 3 } }] }, "paid"],
        }),
        tools: [stage.tool("pay", "once", { takesMs: 8 })],
        hitlTools: ["pay"],
        allowSelfSpawn: true,
      }),
    decide: () => ({ choice: "approve", by: "ann", editedArguments: { amount: 30 } }),
  },
  {
    name: "the turn is handed to another agent, whose rails guard it",
    agent: (stage) => {
      const specialist = new Agent({
        name: "specialist",
        model: stage.model({}, { calls: [{ tool: "pay", args: { amount: 4 } }] }, "paid by the specialist"),
        tools: [stage.tool("pay", "once", { takesMs: 10 })],
        rails: [
          defineRail({ name: "receipt", on: ["POST_TOOL_CALL"] }, (ctx) => {
            ctx.state.add("receipts", 1);
            if (ctx.event === "POST_TOOL_CALL") ctx.inputs.result = { receipt: ctx.inputs.result };
          }),
        ],
      });
      return new Agent({
        name: "triage",
        model: stage.model({ calls: [{ tool: "handoff_to_specialist", args: { reason: "it knows" } }] }),
        handoffs: [specialist],
      });
    },
  },
];
