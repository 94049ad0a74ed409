import { queryOptions } from "@tanstack/react-query";
import { client } from "../../../api.ts";
import type { Registry } from "./context.ts";

/** Everything an agent may be made of, in one load: a form that fills in piece by piece would move under the pointer. */
export const registryQuery = queryOptions({
  queryKey: ["registry"],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Registry> => {
    const call = { signal };
    const [tools, rails, hooks, servers, models, providers, agents] = await Promise.all([
      client.listTools({}, call),
      client.listRails({}, call),
      client.listHooks({}, call),
      client.listServers({}, call),
      client.listModels({}, call),
      client.listProviders({}, call),
      client.listAgents({ query: { limit: 200 } }, call),
    ]);
    return {
      tools: tools.items,
      rails: rails.items,
      hooks: hooks.items,
      servers: servers.items,
      models: models.items,
      providers: providers.items,
      agents: agents.items.map(({ name }) => name),
    };
  },
});
