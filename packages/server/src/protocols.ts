import type { Hono } from "hono";
import type { Env } from "./http/env.ts";
import { agUiRoutes } from "./protocols/ag-ui/routes.ts";
import type { ProtocolEnv } from "./protocols/env.ts";
import { mcpRoutes } from "./protocols/mcp/routes.ts";
import { openAiRoutes } from "./protocols/openai/routes.ts";
import { uiMessageRoutes } from "./protocols/ui-messages/routes.ts";

/** What standard clients speak, and where. Nobody unknown gets there. */
export function protocols(): readonly { readonly paths: readonly string[]; readonly app: Hono<Env> }[] {
  const mounted = (paths: readonly string[], app: Hono<ProtocolEnv>) => ({
    paths,
    // They want a credential to be there, which is seen to before anything reaches them.
    app: app as unknown as Hono<Env>,
  });
  return [
    mounted(["/v1/*"], openAiRoutes()),
    mounted(["/v1/*"], uiMessageRoutes()),
    mounted(["/v1/*"], agUiRoutes()),
    mounted(["/mcp"], mcpRoutes()),
  ];
}
