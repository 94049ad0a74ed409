import type { Json, JsonObject } from "../schema/json.ts";
import { preview, short } from "../schema/preview.ts";
import { issue, unknownKey } from "../schema/problems.ts";
import { isHandoffTool } from "./handoff.ts";
import { SPAWN_TOOLS, type SpawnTool } from "./spawn-tools.ts";
import { readUntrustedSchema } from "./untrusted-schema.ts";

export { type SpawnTool, spawnTools } from "./spawn-tools.ts";

/** One child to start: plain JSON, checked. */
export interface Job {
  readonly index: number;
  readonly task: string;
  readonly additional_context: string;
  /** The tools it may use; null means all that children may have, and spawn tools. */
  readonly tool_names: readonly string[] | null;
  readonly system_prompt: string;
  readonly output_schema: JsonObject | null;
}

export type ReadJobs =
  | { readonly ok: true; readonly jobs: readonly Job[] }
  | { readonly ok: false; readonly problem: string };

/** What the calling agent allows. */
export interface SpawnLimits {
  /** `max_parallel_subagents`. */
  readonly max: number;
  /** The names of its tools that children may have. */
  readonly childTools: readonly string[];
}

const JOB_KEYS = ["task", "additional_context", "tool_names", "output_schema"];
/** So many jobs are looked at, and so many problems told, however many there are. */
const LOOKED_AT = 20;
const TOLD = 20;

/** Reads the arguments of a spawn tool. Whatever is wrong is told at once, before any child starts (S2, S3). */
export function readJobs(tool: SpawnTool, args: JsonObject, parent: SpawnLimits): ReadJobs {
  const problems: string[] = [];
  const jobs = tool === "spawn_self" ? [readOnly(args, parent, problems)] : readMany(args, parent, problems);
  if (problems.length === 0) return { ok: true, jobs };
  const told = problems.slice(0, TOLD).map((problem) => `- ${problem}`);
  if (problems.length > TOLD) told.push(`- and ${problems.length - TOLD} more`);
  return { ok: false, problem: `no sub-agent was started:\n${told.join("\n")}` };
}

function readOnly(args: JsonObject, parent: SpawnLimits, problems: string[]): Job {
  if (Object.hasOwn(args, "system_prompt") && args["system_prompt"] !== null)
    problems.push("system_prompt: only the jobs of spawn_parallel have one; put it into the task");
  return new JobReader(args, "", parent, problems).read(0, [...JOB_KEYS, "system_prompt"]);
}

function readMany(args: JsonObject, { max, childTools }: SpawnLimits, problems: string[]): Job[] {
  for (const key of Object.keys(args))
    if (key !== "jobs") problems.push(unknownKey(short(key), key, ["jobs"]).message);
  const { jobs } = args;
  if (!isList(jobs)) {
    problems.push(issue("jobs", jobs, `a list of 1 to ${max} jobs`).message);
    return [];
  }
  if (jobs.length === 0) problems.push(`jobs: 1 to ${max} jobs expected, none given`);
  if (jobs.length > max)
    problems.push(`jobs: at most ${max} jobs in one call expected, ${jobs.length} given; use several calls`);
  return jobs.slice(0, LOOKED_AT).flatMap((job, index) => {
    if (isObject(job)) {
      const reader = new JobReader(job, `jobs[${index}].`, { max, childTools }, problems);
      return [reader.read(index, [...JOB_KEYS, "system_prompt"])];
    }
    problems.push(issue(`jobs[${index}]`, job, "an object with `task`").message);
    return [];
  });
}

/** Reads one job, and notes its problems under its place. What is missing or null has its default. */
class JobReader {
  readonly #given: JsonObject;
  readonly #at: string;
  readonly #parent: SpawnLimits;
  readonly #problems: string[];

  constructor(given: JsonObject, at: string, parent: SpawnLimits, problems: string[]) {
    this.#given = given;
    this.#at = at;
    this.#parent = parent;
    this.#problems = problems;
  }

  read(index: number, keys: readonly string[]): Job {
    for (const key of Object.keys(this.#given))
      if (!keys.includes(key)) this.#problems.push(unknownKey(`${this.#at}${short(key)}`, key, keys).message);
    const task = this.#text("task");
    if (task.trim() === "" && this.#isText("task")) this.#refuse("task", "a text that says what to do");
    return {
      index,
      task,
      additional_context: this.#text("additional_context"),
      tool_names: this.#toolNames(),
      system_prompt: this.#text("system_prompt"),
      output_schema: this.#schema(),
    };
  }

  #text(key: string): string {
    const value = this.#value(key);
    if (typeof value === "string") return value;
    if (value !== null) this.#refuse(key, "a text");
    return "";
  }

  #isText(key: string): boolean {
    const value = this.#value(key);
    return value === null || typeof value === "string";
  }

  #toolNames(): readonly string[] | null {
    const names = this.#value("tool_names");
    if (names === null) return null;
    if (!isList(names)) {
      this.#refuse("tool_names", "a list of tool names, or null for all");
      return null;
    }
    const seen = new Set<string>();
    for (const [i, name] of names.entries()) {
      const problem = typeof name === "string" ? this.#problemOf(name, seen) : "the name of a tool expected";
      if (problem !== undefined)
        this.#problems.push(`${this.#at}tool_names[${i}]: ${problem}, ${preview(name)} given`);
      if (typeof name === "string") seen.add(name);
    }
    return [...seen];
  }

  #problemOf(name: string, seen: ReadonlySet<string>): string | undefined {
    if (seen.has(name)) return "each tool once expected";
    const allowed = this.#parent.childTools.filter((one) => !isReserved(one));
    if (allowed.includes(name)) return undefined;
    if (isReserved(name)) return `a tool other than spawn and handoff tools expected (${listed(allowed)})`;
    return `a tool that sub-agents may have expected (${listed(allowed)})`;
  }

  #schema(): JsonObject | null {
    const value = this.#value("output_schema");
    if (value === null) return null;
    const read = readUntrustedSchema(value);
    if (read.ok) return read.schema.jsonSchema;
    this.#problems.push(`${this.#at}output_schema: ${read.problem}`);
    return null;
  }

  #value(key: string): Json {
    return Object.hasOwn(this.#given, key) ? (this.#given[key] ?? null) : null;
  }

  #refuse(key: string, allowed: string): void {
    const given = Object.hasOwn(this.#given, key) ? this.#given[key] : undefined;
    this.#problems.push(issue(`${this.#at}${key}`, given, allowed).message);
  }
}

/** A child is given these by other means, or not at all. */
function isReserved(name: string): boolean {
  return SPAWN_TOOLS.some((tool) => tool === name) || isHandoffTool(name);
}

const SHOWN_NAMES = 50;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "there are none; give [] or leave tool_names out";
  const rest = names.length > SHOWN_NAMES ? `, and ${names.length - SHOWN_NAMES} more` : "";
  return names.slice(0, SHOWN_NAMES).join(", ") + rest;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
