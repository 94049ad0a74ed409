import type { Client, Tool as ToolDefinition } from "@modelcontextprotocol/client";
import type { Json, JsonObject } from "trackside";
import { digestOf } from "trackside/engine";
import * as z from "zod";
import { headerProblem } from "./header-arguments.ts";
import { asJson, cut, isObject, problemOfJson } from "./untrusted-json.ts";
import { readSchema } from "./untrusted-schema.ts";

/** A tool as its server describes it. */
export interface ServerTool {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly input: JsonObject;
  readonly output: JsonObject | null;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** What an approval is for (M5). */
  readonly digest: string;
}

export interface Listing {
  readonly tools: readonly ServerTool[];
  /** Tools that cannot be offered, with the reason. */
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
  readonly hasResources: boolean;
}

const MAX_PAGES = 64;
const MAX_TOOLS = 2_000;
const MAX_NAME = 256;
const MAX_DESCRIPTION = 8_192;
const DEFINITION_LIMITS = { depth: 100, nodes: 50_000, chars: 1_000_000 };

export interface ListOptions {
  /** How long all its pages may take. */
  readonly ms: number;
  /** Whether arguments may have to travel as headers too, as with newer servers on the web. */
  readonly headers: boolean;
}

export async function listTools(client: Client, { ms, headers }: ListOptions): Promise<Listing> {
  const capabilities = client.getServerCapabilities();
  const raw = capabilities?.tools === undefined ? [] : await allTools(client, ms);
  const tools: ServerTool[] = [];
  const unusable: { name: string; reason: string }[] = [];
  for (const one of raw.slice(0, MAX_TOOLS)) {
    const read = readTool(one, headers);
    if ("reason" in read) unusable.push(read);
    else tools.push(read);
  }
  if (raw.length > MAX_TOOLS)
    unusable.push({
      name: "(more)",
      reason: `the server has ${raw.length} tools, at most ${MAX_TOOLS} are read`,
    });
  return { tools, unusable, hasResources: capabilities?.resources !== undefined };
}

/** A page whose tools are looked at one by one, so that a bad one does not take the others with it. */
const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

async function allTools(client: Client, ms: number): Promise<readonly unknown[]> {
  const options = { timeout: ms, signal: AbortSignal.timeout(ms) };
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES && tools.length <= MAX_TOOLS; pages++) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const found = await client.request({ method: "tools/list", ...params }, page, options);
    tools.push(...found.tools);
    cursor = found.nextCursor ?? undefined;
    if (cursor === undefined || seen.has(cursor)) return tools;
    seen.add(cursor);
  }
  throw new Error(`its list of tools has no end (${MAX_PAGES} pages were read)`);
}

function readTool(raw: unknown, headers: boolean): ServerTool | { name: string; reason: string } {
  if (!isObject(raw) || typeof raw["name"] !== "string" || raw["name"] === "")
    return { name: "(unnamed)", reason: "it has no name" };
  const name = cut(raw["name"], MAX_NAME);
  const no = (reason: string) => ({ name, reason });
  if (raw["name"].length > MAX_NAME) return no(`its name is longer than ${MAX_NAME} characters`);
  const { description, inputSchema, outputSchema, annotations, title } = raw;
  // The title counts where it stands in for the description.
  const told = description === undefined || description === "" ? { title } : { description };
  const definition = { ...told, inputSchema, outputSchema, annotations };
  const problem = problemOfJson(definition, DEFINITION_LIMITS);
  if (problem !== null) return no(`its definition ${problem}`);
  const input = readSchema(inputSchema);
  if (!input.ok) return no(`its input schema ${input.problem}`);
  const misplaced = headers ? headerProblem(input.schema) : null;
  if (misplaced !== null) return no(misplaced);
  const output = outputSchema === undefined || outputSchema === null ? null : readSchema(outputSchema);
  if (output?.ok === false) return no(`its output schema ${output.problem}`);
  const hints = isObject(annotations) ? annotations : {};
  const words = [description, title, hints["title"]].find((one) => typeof one === "string" && one !== "");
  return {
    name,
    description: cut(typeof words === "string" ? words.toWellFormed() : "", MAX_DESCRIPTION),
    input: input.schema,
    output: output === null ? null : output.schema,
    readOnly: hints["readOnlyHint"] === true,
    idempotent: hints["idempotentHint"] === true,
    digest: digestOf(fingerprint(definition)),
  };
}

function fingerprint(definition: Record<string, unknown>): Json {
  const told = Object.entries(definition).filter(([, value]) => value !== undefined && value !== null);
  return asJson(Object.fromEntries(told));
}

/** What the client needs of a tool to send its arguments; results are checked by us. */
export function forClient(tool: ServerTool): ToolDefinition {
  // The client wants `type: "object"` where we also take a schema that leaves it out.
  return { name: tool.name, inputSchema: { ...tool.input, type: "object" } } as ToolDefinition;
}
