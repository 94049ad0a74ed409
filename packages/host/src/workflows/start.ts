import {
  AgentConfigError,
  type ConfigIssue,
  type RunOptions,
  type RunResult,
  type RunStream,
  readWorkflowInput,
  type Tool,
} from "trackside";
import type { WorkflowDefinition } from "trackside/schema";
import { issueAt } from "../agents/issues.ts";
import type { WorkflowBinding } from "./in-code.ts";
import type { FoundWorkflow } from "./stored-workflows.ts";

/** How a run of a workflow is started. */
export interface StartWorkflow extends Pick<RunOptions, "scope" | "requestId" | "signal"> {
  /** Leave it to a worker instead of running it here. */
  readonly queue?: boolean;
}

/** A run of a workflow that was started: here, on a worker, or before by the same request. */
export interface StartedWorkflow {
  readonly runId: string;
  /** How it ends. */
  readonly result: () => Promise<RunResult<unknown>>;
}

/** A workflow with an input that fits it. */
export interface ReadyWorkflow {
  readonly definition: WorkflowDefinition;
  /** Runs it and yields its events as they happen. */
  stream(options?: Omit<StreamOptions, "scope">): RunStream<unknown, readonly Tool[]>;
}

export type StreamOptions = Omit<RunOptions, "conversation" | "clientTools">;

/** Begins a run with what its workflow is started with, as JSON. The host's own. */
export type BeginRun = (
  found: FoundWorkflow,
  input: string,
  options: StartWorkflow,
) => Promise<StartedWorkflow>;

/** What a run of it begins with: its input as JSON, if that is what the workflow asks for. Nothing is stored otherwise. */
export async function readInput(binding: WorkflowBinding, input: unknown): Promise<string> {
  const { name, workflow } = binding.definition;
  const read = await (binding.readInput?.(input) ?? readWorkflowInput(workflow, input));
  if (read.ok) return read.text;
  throw new AgentConfigError(
    `The input of the workflow ${JSON.stringify(name)}`,
    issuesIn(read.problem, input),
  );
}

/** What the checker says of whatever holds a problem, beside the problem itself. */
const PARENT = /^(?:[\w.-]+: )?(?:Property "[^"]*"|Items) d(?:oes|id) not match schema\.$/;

/** The problems as a schema tells them, each with its path: `service: …; version: …`. */
function issuesIn(problem: string, input: unknown): ConfigIssue[] {
  const lines = problem.split("; ");
  const told = lines.filter((line) => !PARENT.test(line));
  return (told.length > 0 ? told : lines).map((line) => {
    const [, path, allowed] = /^([\w.-]+): (.*)$/s.exec(line) ?? [];
    if (path === undefined || allowed === undefined)
      return { path: "input", given: "", allowed: line, message: `input: ${line}` };
    const { given } = issueAt("", valueAt(input, path.split(".")), "");
    return {
      path: `input.${path}`,
      given,
      allowed,
      message: `input.${path}: ${allowed} ${given} was given.`,
    };
  });
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  return typeof value === "object" && value !== null ? valueAt(Reflect.get(value, key), rest) : undefined;
}
