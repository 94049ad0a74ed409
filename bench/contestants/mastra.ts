import { createClient } from "@libsql/client";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { z } from "zod";
import {
  add,
  type Contestant,
  type Disk,
  type Durable,
  MAX_STEPS,
  PROMPT,
  type Script,
  TOOL,
} from "../workload.ts";
import { v4Model } from "./v4-model.ts";

const addTool = createTool({
  id: TOOL.name,
  description: TOOL.description,
  inputSchema: z.object({ n: z.number() }),
  execute: async ({ n }) => add(n),
});

/** A run still writes for a moment after it has answered. */
const SETTLE_MS = 1000;

function agentOf(script: Script) {
  const id = `bench-${script.steps}`;
  const tools = { [TOOL.name]: addTool };
  const agent = new Agent({ id, name: id, instructions: "", model: v4Model(script) as never, tools });
  return createDurableAgent({ agent, maxSteps: MAX_STEPS, cache: false });
}

/** Its durable agents on its own SQLite store, set to go on after a restart: then the running ones are written, too. */
async function durableAgent({ path, sync }: Disk): Promise<Durable> {
  const client = createClient({ url: `file:${path}` });
  await client.execute("PRAGMA journal_mode = WAL");
  await client.execute(`PRAGMA synchronous = ${sync}`);
  const storage = new LibSQLStore({ id: "bench", client });
  const scripts = [3, 5, 50].map((steps) => ({ steps, deltas: 0 }));
  const agents = Object.fromEntries(scripts.map((script) => [`steps${script.steps}`, agentOf(script)]));
  new Mastra({ agents, storage, logger: false, recovery: { durableAgents: "auto" } });
  return {
    async run({ steps }) {
      const agent = agents[`steps${steps}`];
      if (agent === undefined) throw new Error(`no agent for ${steps} steps`);
      const { output, cleanup } = await agent.stream(PROMPT, { maxSteps: MAX_STEPS });
      const text = await output.text;
      cleanup();
      return text;
    },
    async close() {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      client.close();
    },
  };
}

const contestant: Contestant = { run: {}, stream: {}, durable: { createDurableAgent: durableAgent } };
export default contestant;
