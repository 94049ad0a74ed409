import { randomUUID } from "node:crypto";
import type { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { createAgent } from "langchain";
import { type Contestant, type Disk, type Durable, perScript, type Script } from "../workload.ts";
import { addTool, FakeModel, input, limit } from "./langchain.ts";

/** The graph its own guides draw for an agent: a node that calls the model, one that runs tools, and an edge between. */
function graph(script: Script, checkpointer: SqliteSaver) {
  const model = new FakeModel(script);
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", new ToolNode([addTool]))
    .addEdge(START, "model")
    .addConditionalEdges(
      "model",
      ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END), // what the model answers with
    )
    .addEdge("tools", "model")
    .compile({ checkpointer });
}

/** `durability: "sync"` writes a checkpoint before the next step begins, as the others do. */
function durable(made: (script: Script, saver: SqliteSaver) => Pick<ReturnType<typeof graph>, "invoke">) {
  return async ({ path, sync }: Disk): Promise<Durable> => {
    const saver = SqliteSaver.fromConnString(path);
    saver.db.pragma("journal_mode = WAL");
    saver.db.pragma(`synchronous = ${sync}`);
    const agent = perScript((script) => made(script, saver));
    return {
      async run(script) {
        const configurable = { thread_id: randomUUID() };
        const state = await agent(script).invoke(input(), { ...limit, configurable, durability: "sync" });
        return String(state.messages.at(-1)?.content);
      },
      close: async () => void saver.db.close(),
    };
  };
}

/** LangChain's agents run on it; this is what it is with its SQLite checkpointer. */
const contestant: Contestant = {
  run: {},
  stream: {},
  durable: {
    StateGraph: durable(graph),
    createAgent: durable(
      (script, checkpointer) =>
        createAgent({ model: new FakeModel(script), tools: [addTool], checkpointer }) as never, // wider than the one method we call
    ),
  },
};
export default contestant;
