import type { JsonObject } from "../schema/json.ts";

export type SpawnTool = "spawn_self" | "spawn_parallel";
export const SPAWN_TOOLS: readonly SpawnTool[] = ["spawn_self", "spawn_parallel"];

/** A tool of ours as the model sees it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

const JOB_PROPERTIES: JsonObject = {
  task: {
    type: "string",
    minLength: 1,
    description:
      "What to do. The sub-agent sees nothing of this conversation, so say everything it must know.",
  },
  additional_context: {
    type: "string",
    description: "Facts, excerpts or earlier results that the task builds on.",
  },
  tool_names: {
    type: ["array", "null"],
    items: { type: "string" },
    description:
      "The tools the sub-agent may use, by name, out of your own. [] for none; leave it out for all that sub-agents may have.",
  },
  output_schema: {
    type: ["object", "null"],
    additionalProperties: true,
    description:
      "A JSON Schema that the result must fit, of at most 16 kB. References only within it, such as #/$defs/item.",
  },
};

const SYSTEM_PROMPT: JsonObject = {
  type: "string",
  description: "Added to the sub-agent's instructions, to give it a role or rules of its own.",
};

/** The spawn tools an agent has (S1, S2). */
export function spawnTools(has: {
  readonly self: boolean;
  readonly parallel: boolean;
  readonly max: number;
}): readonly OfferedTool[] {
  return [...(has.self ? [SPAWN_SELF] : []), ...(has.parallel ? [spawnParallel(has.max)] : [])];
}

const SPAWN_SELF: OfferedTool = {
  name: "spawn_self",
  description:
    "Gives one task to a sub-agent with your instructions and tools, and waits for its result. It starts with an empty " +
    "conversation. Use it for work whose details you do not need to see.",
  input_schema: object(JOB_PROPERTIES, ["task"]),
};

function spawnParallel(max: number): OfferedTool {
  return {
    name: "spawn_parallel",
    description:
      `Gives up to ${max} tasks to sub-agents that work at the same time, and waits for all of them. Each has your ` +
      "instructions and tools and starts with an empty conversation; none sees what another does. The result has one " +
      "entry for each job, in the order given: its output, or why it failed. Use it for tasks that do not depend on " +
      "each other.",
    input_schema: object(
      {
        jobs: {
          type: "array",
          minItems: 1,
          maxItems: max,
          items: object({ ...JOB_PROPERTIES, system_prompt: SYSTEM_PROMPT }, ["task"]),
        },
      },
      ["jobs"],
    ),
  };
}

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}
