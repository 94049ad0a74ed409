import { appendFileSync } from "node:fs";
import { Agent, type AgentBinding, defineTool } from "trackside";
import { type ScriptedReply, type ScriptedRequest, scriptedModel } from "trackside/testing";
import * as z from "zod";

/** What the model says at each step: the user's message carries it, so that any process can go on with the run. */
export type Steps = readonly (string | ScriptedReply)[];

export interface AgentsInit {
  /** Every start of a tool and of a model call is a line in this file, which outlives the process. */
  readonly effects: string;
  readonly timeoutSeconds: number | null;
  /** Another version of the tools: their schemas have changed. */
  readonly changed: boolean;
  /** The process stops itself, as SIGSTOP does, in the middle of the n-th tool that it starts. */
  readonly freezesInTool?: number;
}

/** One line of the file of effects. */
export interface EffectLine {
  readonly what: "tool" | "model";
  readonly tool: string;
  readonly n: number;
  readonly pid: number;
  readonly at: number;
}

/** Two agents with the same tools: `free` just calls them, `gated` asks before each charge. */
export function makeAgents(init: AgentsInit): readonly AgentBinding[] {
  const write = (line: Omit<EffectLine, "pid" | "at">) =>
    appendFileSync(init.effects, `${JSON.stringify({ ...line, pid: process.pid, at: Date.now() })}\n`);

  let begun = 0;

  const input = z.object({
    n: z.number(),
    /** How long it takes; it never ends when negative. */
    ms: z.number().default(0),
    ...(init.changed ? { note: z.string().optional() } : {}),
  });
  const tool = (name: string, effect: "none" | "idempotent" | "once") =>
    defineTool({
      name,
      effect,
      input,
      async execute({ n, ms }) {
        write({ what: "tool", tool: name, n });
        begun += 1;
        if (begun === init.freezesInTool) process.kill(process.pid, "SIGSTOP");
        if (ms < 0) await new Promise(() => {});
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
        return `${name} ${n}`;
      },
    });
  const tools = [tool("charge", "once"), tool("put", "idempotent"), tool("look", "none")];
  const model = scriptedModel(
    [
      (request) => {
        const { n, steps } = scriptOf(request);
        write({ what: "model", tool: "", n });
        return steps[stepOf(request)] ?? "done";
      },
    ],
    { loop: true, record: "none" },
  );
  const gate = { hitlTools: ["charge"], hitlTimeoutSeconds: init.timeoutSeconds };
  const both = { model, tools, allowSelfSpawn: true, allowParallelSubagents: true };
  return [new Agent({ name: "free", ...both }), new Agent({ name: "gated", ...both, ...gate })];
}

/** The user's message for a script; `n` tells the run's model calls from those of others. */
export function script(n: number, steps: Steps): string {
  return JSON.stringify({ n, steps });
}

/** A step that has sub-agents work, each by a script of its own. */
export function spawning(...scripts: readonly string[]): ScriptedReply {
  return { calls: [{ tool: "spawn_parallel", args: { jobs: scripts.map((task) => ({ task })) } }] };
}

function scriptOf({ prompt }: ScriptedRequest): { n: number; steps: Steps } {
  const user = prompt.find(({ role }) => role === "user");
  const part = user?.role === "user" ? user.content[0] : undefined;
  return JSON.parse(part?.type === "text" ? part.text.replace(/^Task:\n/, "") : "");
}

function stepOf({ prompt }: ScriptedRequest): number {
  return prompt.filter(({ role }) => role === "assistant").length;
}
