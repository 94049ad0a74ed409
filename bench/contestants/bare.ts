import { randomUUID } from "node:crypto";
import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import Database from "better-sqlite3";
import { z } from "zod";
import {
  add,
  type Contestant,
  MAX_STEPS,
  PARENT_PROMPT,
  PROMPT,
  perScript,
  type Script,
  TOOL,
} from "../workload.ts";
import { v4Model, v4TreeModel } from "./v4-model.ts";

/** The agent loop as one would write it by hand for one program: what any library is measured against. */
async function* loop(
  model: LanguageModelV4,
  tools: Tools,
  input: string,
  /** Told of each effect before anything follows from it: where a durable loop writes it down. */
  record?: (key: string, result: unknown) => void,
): AsyncGenerator<string, Result> {
  const history: LanguageModelV4Prompt = [{ role: "user", content: [{ type: "text", text: input }] }];
  const usage = { input: 0, output: 0 };

  for (let step = 1; step <= MAX_STEPS; step++) {
    const { stream } = await model.doStream({ prompt: history, tools: tools.declared });
    let text = "";
    const calls: LanguageModelV4ToolCall[] = [];
    for await (const part of stream) {
      switch (part.type) {
        case "text-delta":
          text += part.delta;
          yield part.delta;
          break;
        case "tool-call":
          calls.push(part);
          break;
        case "finish":
          usage.input += part.usage.inputTokens.total ?? 0;
          usage.output += part.usage.outputTokens.total ?? 0;
          break;
        case "error":
          throw part.error;
      }
    }

    record?.(`${step}/model`, { text, calls, usage });
    if (calls.length === 0) {
      history.push({ role: "assistant", content: [{ type: "text", text }] });
      return { text, steps: step, usage, history };
    }
    const settled = await Promise.all(
      calls.map(async (call) => {
        const done = await execute(call, tools);
        record?.(`${step}/${call.toolCallId}`, done.result);
        return done;
      }),
    );
    const said: Extract<LanguageModelV4Message, { role: "assistant" }>["content"] = [];
    if (text !== "") said.push({ type: "text", text });
    for (const { call, input } of settled)
      said.push({ type: "tool-call", toolCallId: call.toolCallId, toolName: call.toolName, input });
    history.push({ role: "assistant", content: said });
    history.push({ role: "tool", content: settled.map(({ result }) => result) });
  }
  throw new Error(`no answer after ${MAX_STEPS} steps`);
}

async function execute(call: LanguageModelV4ToolCall, tools: Tools) {
  let input: unknown;
  let output: LanguageModelV4ToolResultPart["output"];
  try {
    input = JSON.parse(call.input);
    const tool = tools.byName.get(call.toolName);
    const args = tool?.input.safeParse(input);
    if (tool === undefined) output = { type: "error-text", value: `unknown tool ${call.toolName}` };
    else if (!args?.success)
      output = { type: "error-text", value: z.prettifyError(args?.error ?? new z.ZodError([])) };
    else output = { type: "json", value: await tool.execute(args.data as never) }; // its own schema's
  } catch (error) {
    output = { type: "error-text", value: String(error) };
  }
  const result: LanguageModelV4ToolResultPart = {
    type: "tool-result",
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    output,
  };
  return { call, input, result };
}

interface Tools {
  declared: LanguageModelV4FunctionTool[];
  byName: Map<string, { input: z.ZodType; execute: (args: never) => Answer | Promise<Answer> }>;
}

type Answer = number | string[];

interface Result {
  text: string;
  steps: number;
  usage: { input: number; output: number };
  history: LanguageModelV4Prompt;
}

const input = z.object({ n: z.number() });
const { $schema: _, ...inputSchema } = z.toJSONSchema(input);
const tools: Tools = {
  // zod's JSON Schema type allows `boolean | object` where the provider's wants JSON Schema 7; an object schema is both.
  declared: [
    { type: "function", ...TOOL, inputSchema: inputSchema as LanguageModelV4FunctionTool["inputSchema"] },
  ],
  byName: new Map([[TOOL.name, { input, execute: ({ n }: z.infer<typeof input>) => add(n) }]]),
};
const model = perScript(v4Model);

async function toEnd(running: AsyncGenerator<string, Result>): Promise<Result> {
  for (;;) {
    const next = await running.next();
    if (next.done) return next.value;
  }
}

/** Sub-agents by hand: a tool that runs as many loops as it is given jobs. */
const jobs = z.object({ jobs: z.array(z.object({ task: z.string() })) });
const { $schema: __, ...jobsSchema } = z.toJSONSchema(jobs);
const parent = perScript((script: Script) => {
  const spawn = {
    input: jobs,
    execute: ({ jobs: given }: z.infer<typeof jobs>) =>
      Promise.all(given.map(async ({ task }) => (await toEnd(loop(model(script), tools, task))).text)),
  };
  const declared: LanguageModelV4FunctionTool = {
    type: "function",
    name: "spawn",
    description: "Gives jobs to sub-agents.",
    inputSchema: jobsSchema as LanguageModelV4FunctionTool["inputSchema"],
  };
  return {
    model: v4TreeModel("spawn", script),
    tools: { declared: [...tools.declared, declared], byName: new Map([...tools.byName, ["spawn", spawn]]) },
  };
});

const contestant: Contestant = {
  run: {
    async loop(script) {
      const result = await toEnd(loop(model(script), tools, PROMPT));
      return { text: result.text, kept: result };
    },
  },
  stream: {
    async loop(script, onDelta) {
      for await (const delta of loop(model(script), tools, PROMPT)) onDelta(delta);
    },
  },
  async tree(script) {
    const { model, tools } = parent(script);
    const result = await toEnd(loop(model, tools, PARENT_PROMPT));
    return { text: result.text, kept: result };
  },
  durable: {
    /** One prepared insert and one commit for each effect, on a database set up as Trackside's. */
    async loop({ path, sync }) {
      const db = new Database(path);
      db.pragma("journal_mode = WAL");
      db.pragma(`synchronous = ${sync}`);
      db.pragma("cache_size = -16384");
      db.pragma("wal_autocheckpoint = 4000");
      db.exec("CREATE TABLE effects (run_id TEXT, key TEXT, result TEXT, PRIMARY KEY (run_id, key))");
      const insert = db.prepare("INSERT INTO effects (run_id, key, result) VALUES (?, ?, ?)");
      return {
        async run(script) {
          const id = randomUUID();
          const record = (key: string, result: unknown) => insert.run(id, key, JSON.stringify(result));
          record("start", PROMPT);
          return (await toEnd(loop(model(script), tools, PROMPT, record))).text;
        },
        close: async () => void db.close(),
      };
    },
  },
};
export default contestant;
