import { Hono } from "hono";
import type { AgentBinding } from "trackside";
import type { ProtocolEnv } from "../env.ts";
import { describeAgent, findAgent } from "../shared/agents.ts";
import { chatCompletions } from "./chat.ts";
import { errorResponse } from "./errors.ts";
import { responses } from "./responses.ts";

/**
 * An API like OpenAI's, for the `openai` package and everything else that speaks it: `new OpenAI({ baseURL: "…/v1" })`.
 * A model is an agent.
 */
export function openAiRoutes(): Hono<ProtocolEnv> {
  const app = new Hono<ProtocolEnv>();
  app.onError((error) => errorResponse(error));
  app.get("/v1/models", (c) => {
    const { registry } = c.get("trackside").engine;
    const data = registry.names.flatMap((name) => {
      const agent = registry.get(name);
      return agent === undefined ? [] : [modelOf(agent)];
    });
    return c.json({ object: "list", data });
  });
  app.get("/v1/models/:model", (c) => c.json(modelOf(findAgent(c.get("trackside"), c.req.param("model")))));
  app.post("/v1/chat/completions", (c) => chatCompletions(c));
  app.post("/v1/responses", (c) => responses(c));
  return app;
}

function modelOf(agent: AgentBinding) {
  const description = describeAgent(agent);
  return { id: agent.definition.name, object: "model", created: 0, owned_by: "trackside", description };
}
