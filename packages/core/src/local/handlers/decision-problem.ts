import type { Approval } from "../../schema/approval.ts";
import { isJsonObject, type Json, type JsonObject } from "../../schema/json.ts";
import { readUntrustedSchema } from "../../subagents/untrusted-schema.ts";
import { type CompiledSchema, compileSchema } from "../../tools/compile-schema.ts";
import type { Tool } from "../../tools/define-tool.ts";
import type { DecisionInput } from "../approvals.ts";

/**
 * Says what is wrong with a decision. The record's own schemas are checked wherever it is decided, so a process that has
 * only the store refuses what any other refuses (L4). A tool at hand may know more than JSON Schema can say.
 */
export async function decisionProblem(
  record: Pick<Approval, "kind" | "choices" | "input_schema" | "response_schema">,
  decision: DecisionInput,
  tool?: Tool,
): Promise<string | undefined> {
  const { kind, input_schema, response_schema } = record;
  const { choice, response, editedArguments } = decision;
  if (editedArguments !== undefined && kind !== "tool_call")
    return `editedArguments: ${NOT_EDITED[kind] ?? "only a call that is yet to run can be edited"}`;
  switch (kind) {
    case "elicitation":
      if (choice !== "accept") return undefined;
      if (!isJsonObject(response)) return "response: an object with the answer expected";
      return strangersProblem(response_schema ?? {}, response, "question");
    case "workflow_node":
      return nodeProblem(record, decision);
    case "tool_definition":
      return response === undefined ? undefined : "response: nothing expected";
    case "client_tool":
    case "unknown_outcome":
    case "tool_call":
      if (kind === "client_tool" || choice === "ran") {
        if (response === undefined) return "response: the tool's result expected, nothing given";
        const problem = await misfit(response_schema, response, tool?.output);
        return problem && `response: it does not fit the tool's output schema: ${problem}`;
      }
      if (editedArguments === undefined) return undefined;
      return prefixed("editedArguments", await misfit(input_schema, editedArguments, tool?.input));
  }
}

const NOT_EDITED: Partial<Record<Approval["kind"], string>> = {
  elicitation: "a question has none",
  workflow_node: "a workflow's node has none",
  tool_definition: "a tool's definition has none",
};

/** A workflow's schema may be a stranger's. */
async function nodeProblem(
  { choices, response_schema }: Pick<Approval, "choices" | "response_schema">,
  { choice, response }: DecisionInput,
): Promise<string | undefined> {
  if (choice === "reject") return undefined;
  if (response_schema === null) {
    const mayBring = choices.includes("submit");
    return response === undefined || mayBring ? undefined : "response: nothing expected";
  }
  if (response === undefined) return "response: what the node asks for expected, nothing given";
  return strangersProblem(response_schema, response, "node");
}

async function strangersProblem(schema: JsonObject, response: Json, of: string): Promise<string | undefined> {
  const read = readUntrustedSchema(schema);
  if (!read.ok) return `response: nothing fits the schema of this ${of}: ${read.problem}`;
  const checked = await read.schema.check(response);
  return checked.ok ? undefined : `response: ${checked.problem}`;
}

/** Why a value does not fit the schema of the record, or that of the tool. */
async function misfit(
  schema: JsonObject | null | undefined,
  value: Json,
  known: CompiledSchema | null | undefined,
): Promise<string | undefined> {
  const checks = [...(schema ? [compileSchema(schema)] : []), ...(known ? [known] : [])];
  for (const { check } of checks) {
    const checked = await check(value);
    if (!checked.ok) return checked.problem;
  }
  return undefined;
}

const prefixed = (field: string, problem: string | undefined) => problem && `${field}: ${problem}`;
