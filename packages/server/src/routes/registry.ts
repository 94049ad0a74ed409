import { MODEL_TABLE } from "trackside";
import type { Handlers } from "../http/handler.ts";
import { whole } from "../http/page.ts";

/** What agents may be made of. The same for all tenants: it is the host's configuration. */
export const registryHandlers = {
  async listTools(_input, { trackside }) {
    const { tools } = trackside.toolkit.describe();
    return whole(
      tools.map(({ name, description, input_schema, effect, executor, child_safe, irreversible }) => ({
        name,
        description,
        input_schema: { ...input_schema },
        effect,
        executor,
        child_safe,
        irreversible,
      })),
    );
  },

  async listRails(_input, { trackside }) {
    const { rails } = trackside.toolkit.describe();
    return whole(
      rails.map(({ name, description, options, points, priority }) => ({
        name,
        description,
        options: options && { ...options },
        points: points && [...points],
        priority,
        kind: null,
      })),
    );
  },

  async listHooks(_input, { trackside }) {
    const { hooks } = trackside.toolkit.describe();
    return whole(
      hooks.map(({ name, description, options, points, kind }) => ({
        name,
        description,
        options: options && { ...options },
        points: points && [...points],
        priority: null,
        kind,
      })),
    );
  },

  async listServers(_input, { trackside }) {
    const { mcp_servers } = trackside.toolkit.describe();
    // A definition names a server that is configured here, and may take fewer of its tools.
    return whole(
      mcp_servers.map(({ name, transport, target }) => ({ name, transport, target, config: { name } })),
    );
  },

  async listModels(_input, { trackside }) {
    const table = { ...MODEL_TABLE, ...trackside.modelTable };
    const known = Object.entries(table).map(([model, { window, output, price }]) => ({
      model,
      window,
      output,
      input_price: price?.input ?? null,
      output_price: price?.output ?? null,
    }));
    const unknown = { window: null, output: null, input_price: null, output_price: null };
    const others = trackside.toolkit.describe().models.filter((model) => !Object.hasOwn(table, model));
    return whole([...others.map((model) => ({ model, ...unknown })), ...known]);
  },
} satisfies Partial<Handlers>;
