import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent, Tool } from "trackside";
import * as trackside from "trackside";
import { Complaint } from "./complaint.ts";
import { inventory, isTool, kindOf } from "./inventory.ts";
import type { Io } from "./io.ts";
import { findFile, loadModule, shown } from "./load-module.ts";
import { cleanLine } from "./screen/clean.ts";

export interface AgentSource {
  /** A module that exports an Agent, or a definition as JSON. */
  readonly file: string;
  /** For a definition: the module with the tools it names. */
  readonly tools?: string | undefined;
  /** Stands in for a definition's own model. */
  readonly model?: string | undefined;
}

const ENDINGS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];

export async function loadAgent(source: AgentSource, io: Io): Promise<Agent> {
  const { cwd } = io;
  const path = findFile(source.file, cwd, ENDINGS);
  if (extname(path) === ".json") return fromDefinition(path, source, io);
  if (source.tools !== undefined) {
    throw new Complaint(`--tools is for a definition (.json); ${source.file} brings its tools along.`);
  }
  const exports = await loadModule(path, io);
  for (const name of ["default", "agent"]) {
    const found = exports[name];
    if (isAgent(found)) return found;
  }
  throw new Complaint(noAgent(shown(path, cwd), exports));
}

async function fromDefinition(path: string, { tools, model }: AgentSource, io: Io): Promise<Agent> {
  const { cwd } = io;
  const name = shown(path, cwd);
  const definition = readJson(path, name);
  const toolFile = tools === undefined ? undefined : findFile(tools, cwd);
  const registered =
    toolFile === undefined ? [] : toolsIn(await loadModule(toolFile, io), shown(toolFile, cwd));
  const { Agent: Class } = await libraryOf(toolFile);
  try {
    const registry = { tools: registered, ...(await readyMade(definition)) };
    return Class.fromJSON(model === undefined ? definition : { ...definition, model }, registry);
  } catch (error) {
    if (error instanceof Error && "issues" in error) throw new Complaint(`${name}: ${error.message}`);
    throw error;
  }
}

/** The ready-made rails and hooks, loaded only where a definition names some. */
async function readyMade(definition: Record<string, unknown>) {
  if (definition["rails"] === undefined && definition["hooks"] === undefined) return {};
  const { builtInHooks: hooks, builtInRails: rails } = await import("@trackside/rails");
  return { rails, hooks };
}

function readJson(path: string, name: string): Record<string, unknown> {
  const text = readFileSync(path, "utf8");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const problem = cleanLine(error instanceof Error ? error.message : String(error));
    throw new Complaint(
      `${name} is not valid JSON${problem.includes("line") ? "" : placeIn(text)}: ${problem}`,
    );
  }
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return { ...json };
  throw new Complaint(
    `${name} should hold one JSON object, the definition of an agent; it holds ${kindOf(json)}.`,
  );
}

const JSON_TOKEN = /\s+|[{}[\],:]|"(?:[^"\\\n]|\\.)*"|-?[\d.]+(?:[eE][+-]?\d+)?|true|false|null/y;

/** Where the first thing stands that is no part of JSON; the parser tells the place of other mistakes itself. */
function placeIn(text: string): string {
  let at = 0;
  for (JSON_TOKEN.lastIndex = 0; JSON_TOKEN.test(text); ) at = JSON_TOKEN.lastIndex;
  if (at === text.length) return "";
  const lines = text.slice(0, at).split("\n");
  return ` at line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}

/** Tools know the copy of the library that made them, and ours lies elsewhere when we run through npx. */
async function libraryOf(file: string | undefined): Promise<typeof trackside> {
  if (file === undefined) return trackside;
  try {
    return await import(pathToFileURL(createRequire(file).resolve("trackside")).href);
  } catch {
    return trackside;
  }
}

function toolsIn(exports: Record<string, unknown>, name: string): Tool[] {
  const found = new Set(Object.values(exports).flat().filter(isTool));
  if (found.size > 0) return [...found];
  throw new Complaint(
    `${name} exports no tools, ${inventory(exports)}. Export tools made with defineTool, or a list of them.`,
  );
}

function noAgent(name: string, exports: Record<string, unknown>): string {
  const hint = "Write `export default new Agent({ … })`, or export it as `agent`.";
  const misplaced = Object.keys(exports).find((key) => isAgent(exports[key]));
  if (misplaced !== undefined)
    return `${name} exports its Agent as \`${misplaced}\`, which is not looked at. ${hint}`;
  return `${name} exports no Agent, ${inventory(exports)}. ${hint}`;
}

/** Asked of the object, not of its class: the user's copy of the library need not be ours. */
function isAgent(value: unknown): value is Agent {
  return (
    typeof value === "object" &&
    value !== null &&
    "definition" in value &&
    "stream" in value &&
    typeof value.stream === "function"
  );
}
