import { Agent, cont, defineRail, memberHook, parallel, postHook, preHook, regenerate } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

/** Hooks around the turn, messages that join it, and providers that have to be asked again. */
export const PIPELINE: readonly Scenario[] = [
  {
    name: "hooks before and after, an answer sent back, work for later",
    agent: (stage) => {
      const task = stage.task("summary");
      return new Agent({
        name: "hooked",
        model: stage.model({ calls: [{ tool: "pay" }] }, "a bad draft", "a good answer"),
        tools: [stage.tool("pay", "once")],
        hooks: {
          pre: [
            preHook({ name: "memory", durable: true }, (turn) => cont(turn.append("what I remember"))),
            parallel(
              memberHook({ name: "search" }, () => "what I found"),
              memberHook({ name: "weather" }, () => "how it is"),
            ),
            preHook({ name: "rewrite" }, (turn) => cont(turn.withUserMessage(`${turn.text}!`))),
          ],
          post: [
            postHook({ name: "tone" }, (turn) =>
              turn.answer?.includes("bad") ? regenerate("be good") : cont(turn),
            ),
            postHook({ name: "later" }, (turn, { defer }) => {
              defer(task, turn.answer);
              return cont(turn);
            }),
          ],
        },
      });
    },
    tasks: (stage) => [stage.task("summary")],
  },
  {
    name: "a message that joins the run",
    agent: (stage) =>
      new Agent({
        name: "steered",
        model: stage.model(
          { calls: [{ tool: "pay" }, { tool: "look" }] },
          { calls: [{ tool: "pay" }] },
          "done",
        ),
        tools: [
          stage.tool("pay", "once", { takesMs: 10 }),
          stage.tool("look", "none", { meanwhile: ({ runId }) => stage.steer(runId, "hurry up") }),
        ],
        rails: [defineRail({ name: "door", on: ["START"] }, (ctx) => ctx.state.add("seen", 1))],
      }),
  },
  {
    name: "a message that comes too late opens the next turn",
    ends: ["completed", "completed"],
    agent: (stage) =>
      new Agent({
        name: "late",
        model: stage.model({ calls: [{ tool: "look" }] }, "done", { calls: [{ tool: "pay" }] }, "done again"),
        tools: [stage.tool("look", "none"), stage.tool("pay", "once")],
        rails: [
          defineRail({ name: "last-moment", on: ["FINISHED"] }, async (ctx) => {
            if (ctx.event === "FINISHED" && ctx.inputs.result.text === "done")
              await stage.steer(ctx.runId, "one more thing");
          }),
        ],
      }),
  },
  {
    name: "a provider that has to be asked again",
    agent: (stage) =>
      new Agent({
        name: "patient",
        model: stage.model({ fails: 2, calls: [{ tool: "pay" }] }, { fails: 1, text: "done" }),
        tools: [stage.tool("pay", "once")],
      }),
  },
];
