import {
  Agent,
  type AgentDefinition,
  type Conversation,
  defineTool,
  type Failure,
  type HookContext,
  HookManager,
  type Json,
  type JsonObject,
  type Message,
  type RunResult,
  type ToolContext,
  type ToolResultMetadata,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";

// Most of this is checked by the compiler: `npm run typecheck` fails where a type is not what it says here.

const model = scriptedModel([], { loop: true });

describe("T1 types flow from a schema to the arguments of its tool", () => {
  test("T1 zod: what it makes, with defaults and transforms", () => {
    defineTool({
      name: "weather",
      input: z.object({
        city: z.string(),
        days: z.number().default(1),
        on: z.string().transform((t) => new Date(t)),
      }),
      execute(args, context) {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; on: Date }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        return 1;
      },
      resourceKey: (args) => {
        expectTypeOf(args.days).toEqualTypeOf<number>();
        return args.city;
      },
    });
  });

  test("T1 JSON Schema: an object of JSON", () => {
    defineTool({
      name: "raw",
      input: { type: "object", properties: { city: { type: "string" } } },
      execute(args) {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return args["city"] ?? null;
      },
    });
  });

  test("T1 mistakes in a config are compile errors", () => {
    const input = z.object({ a: z.number() });
    const mistakes = () => {
      // @ts-expect-error an unknown key
      defineTool({ name: "x", execute: () => 1, timeoutMS: 5 });
      // @ts-expect-error a name is needed
      defineTool({ execute: () => 1 });
      // @ts-expect-error one of three words
      defineTool({ name: "x", execute: () => 1, effect: "twice" });
      // @ts-expect-error an argument the schema does not have
      defineTool({ name: "x", input, execute: ({ b }) => b });
      // @ts-expect-error a number of milliseconds
      defineTool({ name: "x", execute: () => 1, timeoutMs: "5s" });
    };
    expectTypeOf(mistakes).toBeFunction();
  });
});

describe("E3 types flow from tools to events", () => {
  const add = defineTool({ name: "add", input: z.object({ a: z.number() }), execute: ({ a }) => a + 1 });
  const find = defineTool({
    name: "find",
    execute: async () => ({ at: new Date(0), names: ["a"], nested: { deep: [new Date(0)] } }),
  });
  const agent = new Agent({ name: "clerk", model, tools: [add, find] });

  test("E3 a successful result has the type its tool returns, as JSON has it", () => {
    const read = async () => {
      for await (const event of agent.stream("Go")) {
        if (event.type === "tool_result" && event.tool === "add" && event.success) {
          expectTypeOf(event.output.value).toEqualTypeOf<number>();
        }
        if (event.type === "tool_result" && event.tool === "find" && event.success) {
          expectTypeOf(event.output.value.at).toEqualTypeOf<string>();
          expectTypeOf(event.output.value.names).toEqualTypeOf<readonly string[]>();
          expectTypeOf(event.output.value.nested.deep).toEqualTypeOf<readonly string[]>();
        }
        if (event.type === "tool_result" && !event.success) {
          expectTypeOf(event.output.failure).toEqualTypeOf<Failure>();
          expectTypeOf(event.tool).toEqualTypeOf<string>();
        }
        if (event.type === "tool_result") expectTypeOf(event.metadata).toEqualTypeOf<ToolResultMetadata>();
        if (event.type === "text_delta") expectTypeOf(event.text).toEqualTypeOf<string>();
        // @ts-expect-error no event is called that
        if (event.type === "tool_results") return;
      }
    };
    expectTypeOf(read).toBeFunction();
  });

  test("E3 tools that are only named have results of any JSON", () => {
    const named = new Agent({ name: "clerk", model: "openai:gpt-4o", tools: ["add"] }, { tools: [add] });
    const read = async () => {
      for await (const event of named.stream("Go")) {
        if (event.type === "tool_result" && event.output.type === "json")
          expectTypeOf(event.output.value).toEqualTypeOf<Json>();
      }
    };
    expectTypeOf(read).toBeFunction();
  });

  test("E3 an agent without tools still tells of calls that failed", () => {
    const bare = new Agent({ name: "clerk", model });
    const read = async () => {
      for await (const event of bare.stream("Go")) {
        if (event.type === "tool_result" && !event.success)
          expectTypeOf(event.output.failure).toEqualTypeOf<Failure>();
      }
    };
    expectTypeOf(read).toBeFunction();
  });
});

describe("E3 types flow from the output schema to the result", () => {
  test("E3 text without a schema", () => {
    const agent = new Agent({ name: "clerk", model });
    expectTypeOf(agent.run).returns.resolves.toEqualTypeOf<RunResult<string>>();
    expectTypeOf(agent.stream("Go").result).resolves.toEqualTypeOf<RunResult<string>>();
  });

  test("E3 what zod makes of it", () => {
    const outputSchema = z.object({ total: z.number(), note: z.string().default("") });
    const agent = new Agent({ name: "clerk", model, outputSchema });
    expectTypeOf(agent.run)
      .returns.resolves.toHaveProperty("output")
      .toEqualTypeOf<{ total: number; note: string }>();
  });

  test("E3 JSON for a JSON Schema, and for a definition that was loaded", () => {
    const agent = new Agent({ name: "clerk", model, outputSchema: { type: "object" } });
    expectTypeOf(agent.run).returns.resolves.toHaveProperty("output").toEqualTypeOf<Json>();
    const loaded = Agent.fromJSON({ name: "clerk", model: "openai:gpt-4o" });
    expectTypeOf(loaded.run).returns.resolves.toHaveProperty("output").toEqualTypeOf<Json>();
  });

  test("E3 a result has the messages of its turn and the way on", () => {
    expectTypeOf<RunResult<string>>().toHaveProperty("conversation").toEqualTypeOf<Conversation>();
    expectTypeOf<RunResult<string>>().toHaveProperty("messages").toEqualTypeOf<readonly Message[]>();
    expectTypeOf<RunResult<string>>().toHaveProperty("text").toEqualTypeOf<string>();
  });
});

describe("A1 a config in code", () => {
  test("A1 is camelCase at every level, but for what belongs to the user", () => {
    const agent = new Agent({
      name: "clerk",
      model: "openai:gpt-4o",
      maxSteps: 3,
      budgetAwareness: "limit:70",
      rails: [{ use: "pii", on: ["START"], onError: "continue", timeoutMs: 5, options: { snake_case: 1 } }],
      hooks: {
        pre: [{ parallel: [{ use: "a", timeoutMs: 5 }] }],
        on: { START: [{ use: "b", timeoutMs: 5 }] },
      },
      mcpServers: [{ name: "files", command: "x", env: { MY_VAR: { secret: "s" } } }],
    });
    expectTypeOf(agent.definition).toEqualTypeOf<AgentDefinition>();
    expectTypeOf(agent.definition.max_steps).toEqualTypeOf<number>();
  });

  test("A3 mistakes in a config are compile errors", () => {
    const base = { name: "clerk", model: "openai:gpt-4o" } as const;
    const mistakes = () => {
      // @ts-expect-error an unknown key
      new Agent({ ...base, maxStep: 3 });
      // @ts-expect-error the spelling of JSON
      new Agent({ ...base, max_steps: 3 });
      // @ts-expect-error a model is needed
      new Agent({ name: "clerk" });
      // @ts-expect-error no model
      new Agent({ name: "clerk", model: 5 });
      // @ts-expect-error no tool
      new Agent({ ...base, tools: [{ name: "handmade" }] });
      // @ts-expect-error one of three words
      new Agent({ ...base, streamRelease: "later" });
      // @ts-expect-error the spelling of JSON, further down
      new Agent({ ...base, rails: [{ use: "pii", on_error: "abort" }] });
      // @ts-expect-error the spelling of JSON, below a point
      new Agent({ ...base, hooks: { on: { START: [{ use: "b", timeout_ms: 5 }] } } });
      // @ts-expect-error no lifecycle point
      new Agent({ ...base, hooks: { on: { BEFORE: [{ use: "b" }] } } });
    };
    expectTypeOf(mistakes).toBeFunction();
  });

  test("A2 an agent cannot be assigned to", () => {
    const agent = new Agent({ name: "clerk", model });
    const other = new Agent({ name: "other", model });
    const mistakes = () => {
      // @ts-expect-error immutable
      agent.definition = other.definition;
      // @ts-expect-error immutable
      agent.definition.max_steps = 5;
      // @ts-expect-error immutable
      agent.definition.hitl_tools.push("x");
    };
    expectTypeOf(mistakes).toBeFunction();
  });
});

describe("R11 hooks are typed by their point", () => {
  test("R11 inputs follow from the point, and from ctx.event", () => {
    new HookManager()
      .add("START", ({ inputs }) => {
        expectTypeOf(inputs.messages).toEqualTypeOf<readonly Message[]>();
      })
      .add("POST_TOOL_CALL", ({ inputs }) => {
        expectTypeOf(inputs.result).toEqualTypeOf<Json>();
        expectTypeOf(inputs.metadata).toEqualTypeOf<ToolResultMetadata>();
      })
      .add("TOOL_ERROR", async ({ inputs }) => {
        expectTypeOf(inputs.error).toEqualTypeOf<Failure>();
      });
    const anyPoint = (ctx: HookContext) => {
      if (ctx.event === "PRE_TOOL_CALL") expectTypeOf(ctx.inputs.arguments).toEqualTypeOf<JsonObject>();
      // @ts-expect-error not every point has them
      return ctx.inputs.arguments;
    };
    expectTypeOf(anyPoint).toBeFunction();
  });

  test("R11 a point that is none, a hook that returns something and an assignment are compile errors", () => {
    const manager = new HookManager();
    const mistakes = () => {
      // @ts-expect-error no point
      manager.add("BEFORE", () => {});
      // @ts-expect-error a hook returns nothing
      manager.add("START", () => "skip");
      manager.add("PRE_TOOL_CALL", ({ inputs }) => {
        // @ts-expect-error read-only
        inputs.toolName = "other";
        // @ts-expect-error read-only
        inputs.arguments["a"] = 1;
      });
    };
    expectTypeOf(mistakes).toBeFunction();
  });
});
