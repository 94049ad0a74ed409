import { Agent, HookPoint, Rail, RailAbortError, RailAction, type RailContext, RailManager } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { play, tracked } from "./stage.ts";

// The examples of the founding document on agent-core and Exo, as they are written here.

/** Block execution of a specific tool by name. */
class BlockDangerousTool extends Rail {
  readonly blockedTool: string;

  constructor(blockedTool: string) {
    super("block_tool", { priority: 10 });
    this.blockedTool = blockedTool;
  }

  override async handle(ctx: RailContext) {
    if (ctx.event === HookPoint.PRE_TOOL_CALL && ctx.inputs.toolName === this.blockedTool)
      return RailAction.ABORT;
    return RailAction.CONTINUE;
  }
}

/** Write rate-limit state for downstream rails. */
class RateCounterRail extends Rail {
  constructor() {
    super("rate_counter", { priority: 10 });
  }

  override async handle(ctx: RailContext) {
    ctx.extra["calls_remaining"] = 5;
    return RailAction.CONTINUE;
  }
}

/** Read rate-limit state from upstream rails. */
class RateLoggerRail extends Rail {
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    super("rate_logger", { priority: 80 });
    this.#print = print;
  }

  override async handle(ctx: RailContext) {
    const remaining = ctx.extra["calls_remaining"] ?? "unknown";
    this.#print(`Rate limit remaining: ${remaining}`);
    return RailAction.CONTINUE;
  }
}

const asking = (tool: string) => scriptedModel([{ calls: [{ tool }] }, "done"]);

describe("R11 the examples of Exo", () => {
  test("R9 block a dangerous tool", async () => {
    const rm = tracked("rm_rf");
    const ls = tracked("ls");
    const agent = (tool: string) =>
      new Agent({
        name: "assistant",
        model: asking(tool),
        tools: [rm.tool, ls.tool],
        rails: [new BlockDangerousTool("rm_rf")],
      });

    const blocked = await play(agent("rm_rf"));
    expect(blocked.error).toBeInstanceOf(RailAbortError);
    expect(blocked.error).toMatchObject({ railName: "block_tool", point: "PRE_TOOL_CALL" });
    expect(rm.ran).toEqual([]);

    expect((await play(agent("ls"))).result.output).toBe("done");
    expect(ls.ran).toHaveLength(1);
  });

  test("R5 share state across rails", async () => {
    const lines: string[] = [];
    const rails = [new RateLoggerRail((line) => lines.push(line)), new RateCounterRail()];
    await new Agent({ name: "my_agent", model: scriptedModel(["hi"]), rails }).run("Go");
    expect(lines).toEqual(Array.from({ length: 4 }, () => "Rate limit remaining: 5"));

    lines.length = 0;
    await new Agent({ name: "my_agent", model: scriptedModel(["hi"]), rails: rails.slice(0, 1) }).run("Go");
    expect(new Set(lines)).toEqual(new Set(["Rate limit remaining: unknown"]));
  });

  test("R11 register rails on an agent: the manager is made automatically", async () => {
    const lines: string[] = [];
    const { tool, ran } = tracked("rm_rf");
    const agent = new Agent({
      name: "my_agent",
      model: asking("rm_rf"),
      tools: [tool],
      rails: [
        new BlockDangerousTool("rm_rf"),
        new RateCounterRail(),
        new RateLoggerRail((line) => lines.push(line)),
      ],
    });
    expect(agent.railManager).toBeInstanceOf(RailManager);
    expect(agent.railManager?.rails.map(({ name }) => name)).toEqual([
      "block_tool",
      "rate_counter",
      "rate_logger",
    ]);

    await expect(agent.run("Go")).rejects.toBeInstanceOf(RailAbortError);
    expect(ran).toEqual([]);
    expect(lines).toEqual(Array.from({ length: 4 }, () => "Rate limit remaining: 5")); // START, PRE_LLM, POST_LLM and ERROR
  });

  test("R11 the same by hand, over all points", async () => {
    const { tool, ran } = tracked("rm_rf");
    const manager = new RailManager();
    manager.add(new BlockDangerousTool("rm_rf"));

    const agent2 = new Agent({ name: "my_agent2", model: asking("rm_rf"), tools: [tool] });
    for (const point of Object.values(HookPoint)) agent2.hookManager.add(point, manager.hookFor(point));

    expect(agent2.railManager).toBeNull();
    await expect(agent2.run("Go")).rejects.toMatchObject({ name: "RailAbortError", railName: "block_tool" });
    expect(ran).toEqual([]);
  });
});
