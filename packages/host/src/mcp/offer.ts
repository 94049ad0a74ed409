import type { JsonObject, Tool, ToolContext } from "trackside";
import {
  type ConnectedTools,
  defineServerTool,
  type HeldTool,
  type ServerDefinition,
  type WithheldTool,
} from "trackside/engine";
import type { Lease } from "./lease.ts";
import type { Deadlines, DefinitionStore } from "./options.ts";
import { resourceTools } from "./resource-tools.ts";
import { callTool } from "./tool-call.ts";
import type { Listing, ServerTool } from "./tool-listing.ts";
import { isWanted, shownName } from "./tool-names.ts";
import { cut } from "./untrusted-json.ts";

/** The tools of one server, for one run. */
export type Offer = Pick<ConnectedTools, "tools" | "held" | "withheld">;

/** What a server's tools become for one run: filtered, named, checked against what was approved. */
export async function offerTools(
  lease: Lease,
  listing: Listing,
  definitions: DefinitionStore,
  deadlines: Deadlines,
): Promise<Offer> {
  const { definition, name: server } = lease.config;
  const withheld: WithheldTool[] = [];
  const withhold = (tool: string, reason: string) => withheld.push({ server, tool, reason });
  for (const { name, reason } of listing.unusable) if (isWanted(name, definition)) withhold(name, reason);

  const named = nameAll(definition, listing.tools, withhold);
  const tools: Tool[] = [];
  const held: HeldTool[] = [];
  const judged = await Promise.all(named.map((one) => judge(lease, one, definitions)));
  for (const { name, tool, approved } of judged) {
    try {
      const made = serverTool(lease, name, tool, deadlines);
      if (approved === tool.digest) tools.push(made);
      else held.push(heldTool(lease, made, tool, approved, definitions));
    } catch (error) {
      withhold(tool.name, cut(error instanceof Error ? error.message : String(error), 1_000));
    }
  }
  if (listing.hasResources) {
    for (const tool of resourceTools(lease, deadlines)) {
      const taken =
        listing.tools.some(({ name }) => name === tool.own) || tools.some(({ name }) => name === tool.name);
      if (!taken && isWanted(tool.own, definition)) tools.push(tool.make());
    }
  }
  const byName = (a: { name: string }, b: { name: string }) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  return { tools: tools.sort(byName), held: held.sort(byName), withheld };
}

interface Named {
  readonly name: string;
  readonly tool: ServerTool;
}

/** Names for all that are wanted. Where two would have the same, neither does: a guess could call the wrong one. */
function nameAll(
  definition: ServerDefinition,
  tools: readonly ServerTool[],
  withhold: (tool: string, reason: string) => void,
): Named[] {
  const byName = new Map<string, ServerTool[]>();
  for (const tool of tools) {
    if (!isWanted(tool.name, definition)) continue;
    const shown = shownName(definition, tool.name);
    if ("reason" in shown) withhold(tool.name, shown.reason);
    else byName.set(shown.name, [...(byName.get(shown.name) ?? []), tool]);
  }
  const named: Named[] = [];
  for (const [name, [tool, ...others]] of byName) {
    if (tool !== undefined && others.length === 0) named.push({ name, tool });
    else
      for (const one of [tool, ...others])
        if (one !== undefined)
          withhold(
            one.name,
            `${others.length + 1} tools would be called "${name}"; tell them apart with \`rename\``,
          );
  }
  return named;
}

/** Finds what was approved; a tool that was never seen is approved by being seen. */
async function judge(lease: Lease, { name, tool }: Named, definitions: DefinitionStore) {
  const key = definitionKey(lease, tool);
  const approved = await definitions.get(key);
  if (approved === undefined) await definitions.set(key, tool.digest);
  return { name, tool, approved: approved ?? tool.digest };
}

function definitionKey({ config }: Lease, tool: ServerTool): string {
  return JSON.stringify([config.tenant, config.identity, tool.name]);
}

function heldTool(
  lease: Lease,
  made: Tool,
  tool: ServerTool,
  approved: string,
  definitions: DefinitionStore,
): HeldTool {
  return {
    name: made.name,
    server: lease.config.name,
    definition: { description: tool.description, input_schema: tool.input },
    digest: tool.digest,
    approved,
    approve: async () => await definitions.set(definitionKey(lease, tool), tool.digest),
    make: () => made,
  };
}

function serverTool(lease: Lease, name: string, tool: ServerTool, deadlines: Deadlines): Tool {
  const trusted = lease.config.definition.trusted ?? false;
  return defineServerTool(
    {
      name,
      description: tool.description,
      input: tool.input,
      ...(tool.output === null ? {} : { output: tool.output }),
      // A stranger's word that nothing happens twice is not taken.
      effect: !trusted ? "once" : tool.readOnly ? "none" : tool.idempotent ? "idempotent" : "once",
      childSafe: true,
      execute: (args: JsonObject, context: ToolContext) =>
        callTool({ lease, tool, args, context, deadlines }),
    },
    { name: lease.config.name, trusted },
  );
}
