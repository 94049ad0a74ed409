import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { TracksideOptions } from "@trackside/host";
import { Agent, type AgentBinding, defineRail, defineTool, defineWorkflow, HOOK_POINTS } from "trackside";
import { type ScriptedReply, type ScriptedRequest, scriptedModel } from "trackside/testing";
import * as z from "zod";

/** What the model says at a step. `first` is what it says the first time it is asked, instead. */
export interface Step extends ScriptedReply {
  readonly first?: ScriptedReply;
}

export interface AgentsInit {
  /** Every start and every abort of a tool and of a model call is a line in this file, which outlives its process. */
  readonly marks: string;
  /** Another version of the code: a tool is gone, or a rail has another name. */
  readonly without?: "look" | "guard";
  /** Stands for the process id in marks, for one of several workers in a process. */
  readonly pid?: number;
}

/** One line of the file of marks. */
export interface Mark {
  readonly what: "tool" | "model" | "aborted" | "ended";
  /** The run's own number, and which of its steps or tools it is. */
  readonly n: string;
  readonly of: string;
  readonly key?: string;
  readonly pid: number;
}

export function marksIn(file: string): readonly Mark[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line)); // after the last end of a line one may be half written
}

/** Lets tools go on that wait at the gate of `n`. */
export function opens(marks: string, n: string): void {
  appendFileSync(gate(marks, n), "");
}

const gate = (marks: string, n: string) => `${marks}.${n}.open`;
const isCalm = (n: string) => n.startsWith("calm");

/** The user's message for a script, so that any process can go on with the run; `n` tells its marks from others'. */
export function script(n: string, steps: readonly (string | Step)[]): string {
  return JSON.stringify({ n, steps });
}

/** How long a tool takes: for ever, the first time or always; until `opens(n)`. Not in a run whose `n` says `calm`. */
export type Hangs = "first" | "always" | "gate";

export function call(tool: string, n: string, hangs?: Hangs): ScriptedReply {
  return { calls: [{ tool, args: { n, ...(hangs === undefined ? {} : { hangs }) } }] };
}

/** A step that has sub-agents work, each by a script of its own. */
export function spawning(...scripts: readonly string[]): ScriptedReply {
  return { calls: [{ tool: "spawn_parallel", args: { jobs: scripts.map((task) => ({ task })) } }] };
}

/**
 * The agents of every process: `free` just calls its tools, `gated` asks before each charge, `guarded` has a rail on every
 * point.
 */
export function makeAgents({ marks, without, pid = process.pid }: AgentsInit): readonly AgentBinding[] {
  const mark = (line: Omit<Mark, "pid">) => appendFileSync(marks, `${JSON.stringify({ ...line, pid })}\n`);
  const isFirst = (what: Mark["what"], n: string, of: string) =>
    marksIn(marks).filter((one) => one.what === what && one.n === n && one.of === of).length === 1;

  const tool = (name: string, effect: "none" | "idempotent" | "once") =>
    defineTool({
      name,
      description: name,
      effect,
      input: z.object({ n: z.string(), hangs: z.enum(["first", "always", "gate"]).optional() }),
      async execute({ n, hangs }, { signal, idempotencyKey }) {
        mark({ what: "tool", n, of: name, key: idempotencyKey });
        if (isCalm(n)) return `${name} ${n}`;
        while (hangs === "gate" && !signal.aborted && !existsSync(gate(marks, n)))
          await new Promise((resolve) => setTimeout(resolve, 20));
        if (hangs === "always" || (hangs === "first" && isFirst("tool", n, name)))
          await new Promise((_, reject) => {
            const stop = () => {
              mark({ what: "aborted", n, of: name });
              reject(signal.reason);
            };
            if (signal.aborted) stop();
            else signal.addEventListener("abort", stop);
          });
        mark({ what: "ended", n, of: name });
        return `${name} ${n}`;
      },
    });
  const model = scriptedModel(
    [
      (request) => {
        const { n, steps } = scriptOf(request);
        const at = stepOf(request);
        mark({ what: "model", n, of: String(at) });
        const step = steps[at] ?? "done";
        if (typeof step === "string") return step;
        const { first, ...reply } = step;
        return first !== undefined && !isCalm(n) && isFirst("model", n, String(at)) ? first : reply;
      },
    ],
    { loop: true, record: "none" },
  );
  const all = [tool("charge", "once"), tool("put", "idempotent"), tool("look", "none")];
  const tools = all.filter(({ name }) => name !== without);
  const both = { model, tools, allowSelfSpawn: true, allowParallelSubagents: true, maxSteps: 1000 };
  const guard = defineRail({ name: without === "guard" ? "watch" : "guard", on: HOOK_POINTS }, (ctx) => {
    if (ctx.event === "POST_TOOL_CALL") ctx.state.add("calls", 1);
  });
  return [
    new Agent({ name: "free", ...both }),
    new Agent({ name: "gated", ...both, hitlTools: ["charge"], hitlTimeoutSeconds: 3600 }),
    new Agent({ name: "guarded", ...both, rails: [guard] }),
  ];
}

/**
 * A workflow of theirs: `free` works through scripts, beside a tool that may hang; once somebody has said yes a workflow
 * inside charges.
 */
export function makeWorkflows(agents: readonly AgentBinding[]): NonNullable<TracksideOptions["workflows"]> {
  const [agent] = agents;
  if (agent === undefined) throw new Error("an agent was to be here");
  if (!agent.tools.some(({ name }) => name === "look")) return []; // the version of the code without it
  const inner = defineWorkflow(
    {
      name: "charging",
      nodes: {
        wait: { kind: "wait", for: { seconds: 0.05 } },
        charge: { kind: "tool", tool: "charge", arguments: { n: "{{ input.n }}" } },
      },
      edges: [{ from: "wait", to: "charge" }],
      result: "{{ nodes.charge }} for {{ input.by }}",
    },
    { tools: agent.tools },
  );
  const flow = defineWorkflow(
    {
      name: "flow",
      nodes: {
        put: { kind: "tool", tool: "put", arguments: { n: "{{ input.n }}", hangs: "first" } },
        each: {
          kind: "map",
          over: "{{ input.scripts }}",
          do: { kind: "agent", agent, prompt: "{{ item }}" },
        },
        ask: { kind: "approval", message: "Charge {{ input.n }}?" },
        inside: {
          kind: "workflow",
          workflow: inner,
          input: { n: "{{ input.n }}", by: "{{ nodes.ask.decided_by }}" },
        },
        look: { kind: "tool", tool: "look", arguments: { n: "{{ input.n }}" } },
      },
      edges: [
        { from: "ask", to: "inside" },
        { from: "put", to: "look" },
        { from: "each", to: "look" },
        { from: "inside", to: "look" },
      ],
      result: ["{{ nodes.put }}", "{{ nodes.each }}", "{{ nodes.inside }}", "{{ nodes.look }}"],
    },
    { tools: agent.tools },
  );
  return [flow, inner];
}

/** What they are made of, for agents that are made at run time: the tools, and the model as `demo:script`. */
export function toolkitOf([agent]: readonly AgentBinding[]): Pick<TracksideOptions, "tools" | "models"> {
  const [model] = agent?.models ?? [];
  if (agent === undefined || typeof model !== "object")
    throw new Error("an agent with a model was to be here");
  return { tools: agent.tools, models: { "demo:script": model } };
}

function scriptOf({ prompt }: ScriptedRequest): { n: string; steps: readonly (string | Step)[] } {
  const user = prompt.find(({ role }) => role === "user");
  const part = user?.role === "user" ? user.content[0] : undefined;
  return JSON.parse(part?.type === "text" ? part.text.replace(/^Task:\n/, "") : "");
}

function stepOf({ prompt }: ScriptedRequest): number {
  return prompt.filter(({ role }) => role === "assistant").length;
}
