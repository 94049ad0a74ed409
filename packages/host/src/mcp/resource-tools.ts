import type { Json, JsonObject, Tool, ToolContext } from "trackside";
import { defineServerTool } from "trackside/engine";
import type { Lease } from "./lease.ts";
import type { Deadlines } from "./options.ts";
import { request } from "./request.ts";
import { shownName } from "./tool-names.ts";
import { type Returned, readContents } from "./tool-result.ts";

interface ResourceTool {
  /** The name that `include` and `exclude` are about. */
  readonly own: string;
  readonly name: string;
  make(): Tool;
}

const LIST: JsonObject = {
  type: "object",
  properties: { cursor: { type: "string", description: "`next_cursor` of the page before" } },
  additionalProperties: false,
};
const READ: JsonObject = {
  type: "object",
  properties: { uri: { type: "string", description: "The resource's uri" } },
  required: ["uri"],
  additionalProperties: false,
};

/** The resources of a server as two tools, since that is how a model can reach them. */
export function resourceTools(lease: Lease, deadlines: Deadlines): ResourceTool[] {
  const { definition, name: server } = lease.config;
  const trusted = definition.trusted ?? false;
  const effect = trusted ? ("none" as const) : ("once" as const);
  const tools = [
    {
      own: "list_resources",
      description: `Lists what can be read from "${server}" with read_resource, a page at a time.`,
      input: LIST,
      execute: (args: JsonObject, context: ToolContext) => list(lease, args, context, deadlines),
    },
    {
      own: "read_resource",
      description: `Reads a resource of "${server}" by its uri.`,
      input: READ,
      execute: (args: JsonObject, context: ToolContext) => read(lease, args, context, deadlines),
    },
  ];
  return tools.flatMap(({ own, ...config }) => {
    const shown = shownName(definition, own);
    if ("reason" in shown) return [];
    const make = () =>
      defineServerTool({ name: shown.name, ...config, effect, childSafe: true }, { name: server, trusted });
    return [{ own, name: shown.name, make }];
  });
}

async function list(
  lease: Lease,
  { cursor }: JsonObject,
  context: ToolContext,
  deadlines: Deadlines,
): Promise<Json> {
  const page = await request(lease, "list_resources", context, deadlines, (client, options) =>
    client.request(
      { method: "resources/list", ...(typeof cursor === "string" ? { params: { cursor } } : {}) },
      options,
    ),
  );
  const resources = page.resources.map(({ uri, name, title, description, mimeType, size }) => ({
    uri,
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { media_type: mimeType }),
    ...(size === undefined ? {} : { size }),
  }));
  return { resources, ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }) };
}

async function read(
  lease: Lease,
  { uri }: JsonObject,
  context: ToolContext,
  deadlines: Deadlines,
): Promise<Returned> {
  const found = await request(lease, "read_resource", context, deadlines, (client, options) =>
    client.request({ method: "resources/read", params: { uri: String(uri) } }, options),
  );
  const [first, ...others] = found.contents.map(readContents);
  if (first === undefined) return "";
  return others.length === 0 ? first : [first, ...others];
}
