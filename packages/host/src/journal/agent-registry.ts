import {
  type AgentBinding,
  AgentConfigError,
  type AgentDefinition,
  type Approval,
  type ClientTool,
  type DecisionInput,
  HOOK_POINTS,
  type Tool,
  TracksideError,
} from "trackside";
import {
  asWritten,
  bindAgent,
  bindWorkflow,
  decisionProblem,
  digestOf,
  madeAgain,
  teamName,
  teamOf,
  withClientTools,
  workflowKey,
  workflowShell,
} from "trackside/engine";
import { lacking } from "../agents/issues.ts";
import type { Toolkit } from "../agents/toolkit.ts";

export interface Pinned {
  readonly digest: string;
  readonly body: string;
}

/** What a run is pinned to: its agent's definition, and those of everybody the turn may be handed to (S7). */
export interface PinnedTeam {
  readonly definition: AgentDefinition;
  readonly team: Readonly<Record<string, AgentDefinition>>;
  /** Tools that its request brought along: they are nowhere else (T8). */
  readonly clientTools?: readonly ClientTool[];
}

/** As it is written down. Most runs have neither a team nor tools of their request, and nothing says so. */
type PinnedBody = AgentDefinition & {
  readonly team?: PinnedTeam["team"];
  readonly client_tools?: readonly ClientTool[];
};

const MOST_STARTED = 1000;

/** The agents of this process, by name. A run is pinned to a definition; the functions it names are found here (X2). */
export class AgentRegistry {
  readonly #agents = new Map<string, AgentBinding>();
  /** Agents that runs were started with, of a name that another one has, by the digest of what their runs are pinned to. */
  readonly #started = new Map<string, AgentBinding>();
  readonly #pinned = new WeakMap<AgentBinding, { version: number; pinned: Pinned }>();
  /** Stored agents that runs are pinned to, as they were made again or could not be, by digest. */
  readonly #rebuilt = new Map<string, Rebound>();
  readonly toolkit: Toolkit | undefined;

  /** `toolkit` is what agents that are not in code are made with. */
  constructor(agents: readonly AgentBinding[], toolkit?: Toolkit) {
    this.toolkit = toolkit;
    for (const agent of agents) {
      const name = teamName(agent);
      if (this.#agents.has(name))
        throw new TracksideError(
          "config_invalid",
          `${agent.definition.workflow ? "workflows" : "agents"}: two of them are called "${agent.definition.name}". Names are unique.`,
        );
      this.refuse(agent);
      this.#agents.set(name, agent);
    }
  }

  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** What they are called in the rows of their runs, where each says which kind it is. */
  get called(): { readonly agents: readonly string[]; readonly workflows: readonly string[] } {
    const names = (isWorkflow: boolean) =>
      [...this.#agents.values()].flatMap(({ definition: { name, workflow } }) =>
        (workflow !== undefined) === isWorkflow ? name : [],
      );
    return { agents: names(false), workflows: names(true) };
  }

  get(name: string): AgentBinding | undefined {
    return this.#agents.get(name);
  }

  /** Makes an agent known that a run was started with. The first of a name stays; others are found by what they are. */
  add(agent: AgentBinding): void {
    const name = teamName(agent);
    const known = this.#agents.get(name);
    if (known === undefined) this.#agents.set(name, agent);
    if (known === agent || known === undefined) return;
    const { digest } = this.pinned(agent);
    this.#started.delete(digest);
    this.#started.set(digest, agent);
    const [oldest] = this.#started.keys();
    if (this.#started.size > MOST_STARTED && oldest !== undefined) this.#started.delete(oldest);
  }

  /** Everybody a turn of this agent may be handed to: those it came with, then those that are registered here. */
  teamOf(agent: AgentBinding): ReadonlyMap<string, AgentBinding> {
    return teamOf(agent, (name) => this.#agents.get(name)).members;
  }

  /** After a restart every function is found by its name again: one without cannot be part of a durable run. */
  refuse(agent: AgentBinding): void {
    for (const one of new Set([agent, ...this.teamOf(agent).values()])) refuseUnnamed(one);
  }

  /** The definition a run of this agent is pinned to, with the tools that its request brought along. */
  pinned(agent: AgentBinding, clientTools: readonly Tool[] = []): Pinned {
    const own = this.#pinnedAgent(agent);
    if (clientTools.length === 0) return own;
    const definition = JSON.parse(own.body) as PinnedBody; // as it was just written
    return pinnedAs({ ...definition, client_tools: clientTools.map(asWritten) });
  }

  #pinnedAgent(agent: AgentBinding): Pinned {
    if (agent.definition.handoffs.length > 0) return this.#pinnedTeam(agent);
    const { version } = agent.hookManager;
    const known = this.#pinned.get(agent);
    if (known?.version === version) return known.pinned;
    const pinned = pinnedAs(this.#asWritten(agent, bindAgent(agent).pinned.definition));
    this.#pinned.set(agent, { version, pinned });
    return pinned;
  }

  /** Made anew each time: any of them may have changed. */
  #pinnedTeam(agent: AgentBinding): Pinned {
    const company = this.teamOf(agent);
    const { definition, team } = bindAgent(agent, { team: company }).pinned;
    const members = Object.entries(team).map(([name, member]) => {
      const binding = company.get(name);
      return [name, binding ? this.#asWritten(binding, member.definition) : member.definition] as const;
    });
    return pinnedAs({ ...this.#asWritten(agent, definition), team: Object.fromEntries(members) });
  }

  #asWritten(agent: AgentBinding, definition: AgentDefinition): AgentDefinition {
    return this.toolkit?.written(agent, definition) ?? definition;
  }

  /** An agent with the definition a run is pinned to and the functions there are now, or why that cannot be. */
  bind(
    name: string,
    { definition, team, clientTools = [] }: PinnedTeam,
    digest: string,
    { isStored = false }: { readonly isStored?: boolean } = {},
  ): Rebound {
    if (isStored) return this.#rebuild({ definition, team, clientTools }, digest);
    if (clientTools.length === 0) return this.#bindCode(name, { definition, team }, digest);
    const own = pinnedAs(definition.handoffs.length > 0 ? { ...definition, team } : definition);
    return bringing(this.#bindCode(name, { definition, team }, own.digest), clientTools);
  }

  #bindCode(name: string, { definition, team }: PinnedTeam, digest: string): Rebound {
    const started = this.#started.get(digest);
    if (started !== undefined) return { binding: started };
    const agent = this.#agents.get(definition.workflow ? workflowKey(name) : name);
    if (agent === undefined) {
      const what = definition.workflow ? "workflow" : "agent";
      return { problem: `there is no ${what} "${name}" here. Register it and resume the run.` };
    }
    if (this.pinned(agent).digest === digest) return { binding: agent };
    const rebound = rebind(agent, definition);
    if ("problem" in rebound) return rebound;
    const now = this.teamOf(agent);
    const members: AgentBinding[] = [];
    for (const [member, its] of Object.entries(team)) {
      const found = now.get(member) ?? this.#agents.get(member);
      if (found === undefined)
        return {
          problem: `there is no agent "${member}" here, to whom "${name}" may hand the turn. Register it and resume the run.`,
        };
      const bound = rebind(found, its);
      if ("problem" in bound) return bound;
      members.push({ ...bound.binding, team: [] }); // the others are beside it, as they were then
    }
    return members.length === 0 ? rebound : { binding: { ...rebound.binding, team: members } };
  }

  /**
   * A stored agent from what a run of it is pinned to: it may have been edited, renamed or deleted since, and is not looked
   * for. Code only counts for those it could be handed to.
   */
  #rebuild(pinned: PinnedTeam, digest: string): Rebound {
    const known = this.#rebuilt.get(digest);
    if (known !== undefined) return known;
    const made = bringing(this.#rebuiltFrom(pinned), pinned.clientTools ?? []);
    this.#rebuilt.set(digest, made);
    const [oldest] = this.#rebuilt.keys();
    if (this.#rebuilt.size > MOST_STARTED && oldest !== undefined) this.#rebuilt.delete(oldest);
    return made;
  }

  /** Whether a run of a stored agent could go on here; undefined where that was never tried. */
  canRun(digest: string): boolean | undefined {
    const known = this.#rebuilt.get(digest);
    return known && !("problem" in known);
  }

  #rebuiltFrom({ definition, team }: PinnedTeam): Rebound {
    const toolkit = this.toolkit;
    if (toolkit === undefined)
      return {
        problem: `the agent "${definition.name}" was made at run time, and there is no toolkit here.`,
      };
    const own = boundWith(toolkit, definition);
    if ("problem" in own) return own;
    const members: AgentBinding[] = [];
    for (const [name, its] of Object.entries(team)) {
      const code = this.#agents.get(name);
      const inCode = code && rebind(code, its);
      const member = inCode === undefined || "problem" in inCode ? boundWith(toolkit, its) : inCode;
      if ("problem" in member) return inCode !== undefined ? inCode : member;
      members.push({ ...member.binding, team: [] });
    }
    return members.length === 0 ? own : { binding: toolkit.withTeam(own.binding, members) };
  }

  /** Says what is wrong with a decision, also by the tool itself where it is known here. */
  async checkDecision(approval: Approval, decision: DecisionInput): Promise<string | undefined> {
    return decisionProblem(approval, decision, this.#toolOf(approval));
  }

  #toolOf({ tool, requester, kind }: Approval): Tool | undefined {
    const tools = this.#find(requester)?.tools ?? this.toolkit?.tools;
    const found = tools?.find(({ name }) => name === tool);
    // One that came with a request may be called like one that is registered here for others.
    return kind === "client_tool" && found?.executor !== "client" ? undefined : found;
  }

  /** Somebody by name: registered, or with one of those who are. */
  #find(name: string): AgentBinding | undefined {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    for (const agent of this.#agents.values()) {
      const member = this.teamOf(agent).get(name);
      if (member !== undefined) return member;
    }
    return undefined;
  }
}

type Rebound = { readonly binding: AgentBinding } | { readonly problem: string };

/** A pinned definition with what it names in a toolkit, or what is no longer there. */
function boundWith(toolkit: Toolkit, definition: AgentDefinition): Rebound {
  const { workflow } = definition;
  try {
    if (workflow === undefined) return { binding: toolkit.bind(definition) };
    return { binding: bindWorkflow(toolkit.bind(workflowShell(workflow)), workflow, []) };
  } catch (error) {
    if (!(error instanceof AgentConfigError)) throw error;
    const missing = lacking(error.issues).join(", ");
    return {
      problem: `the agent "${definition.name}" needs what the toolkit here does not have: ${missing}. Add it to the host's options and resume the run, or cancel it.`,
    };
  }
}

/** The same agent with the tools that came with the request of a run. */
function bringing(bound: Rebound, written: readonly ClientTool[]): Rebound {
  if ("problem" in bound || written.length === 0) return bound;
  const made = madeAgain(written);
  if ("problem" in made)
    return { problem: `the tools that came with the request cannot be read any more: ${made.problem}` };
  return { binding: withClientTools(bound.binding, made.tools) };
}

function pinnedAs(definition: PinnedBody): Pinned {
  const body = JSON.stringify(definition);
  return { digest: digestOf(JSON.parse(body)), body };
}

/** What a run is pinned to, as it was written. Without handoffs there is no team, nor was there once. */
export function readPinned(body: string): PinnedTeam {
  const { team = {}, client_tools, ...definition } = JSON.parse(body) as PinnedBody; // as `pinned` wrote it
  return { definition, team, ...(client_tools === undefined ? {} : { clientTools: client_tools }) };
}

function refuseUnnamed({ hookManager, definition }: AgentBinding): void {
  const unnamed = HOOK_POINTS.filter((point) =>
    hookManager.entries(point).some((entry) => entry.rail === undefined && entry.hook.name === ""),
  );
  if (unnamed.length === 0) return;
  throw new TracksideError(
    "not_available",
    `The agent "${definition.name}" has a hook without a name on ${unnamed.join(", ")}. A durable run finds its functions again by name: write \`function audit(ctx) {…}\`, not \`(ctx) => …\`.`,
  );
}

/** An agent as it was defined when a run began, if everything that takes is still there. */
function rebind(
  agent: AgentBinding,
  definition: AgentDefinition,
): { binding: AgentBinding } | { problem: string } {
  const byName = new Map(agent.tools.map((tool) => [tool.name, tool]));
  const tools = (definition.tools ?? []).flatMap((tool) => byName.get(tool) ?? []);
  const missing = missingFrom({ ...agent.definition, tools: [...byName.keys()] }, definition);
  if (missing.length > 0) {
    return {
      problem: `the agent "${definition.name}" has changed since the run began, and what the run needs is gone: ${missing.join(", ")}. Bring it back and resume the run, or cancel it.`,
    };
  }
  return { binding: { ...bindingOf(agent), definition, tools } };
}

/** What a run of an agent as it is wanted needs that it does not have as it is there. */
function missingFrom(there: AgentDefinition, wanted: AgentDefinition): readonly string[] {
  const missing = (wanted.tools ?? [])
    .filter((tool) => there.tools?.includes(tool) !== true)
    .map((tool) => `the tool "${tool}"`);
  for (const part of ["rails", "hooks", "model", "fallback_models", "output_schema"] as const)
    if (JSON.stringify(wanted[part]) !== JSON.stringify(there[part])) missing.push(`its ${part}`);
  if (wanted.planning_enabled && wanted.planning_model !== there.planning_model)
    missing.push("its planning_model");
  return missing;
}

/** Why a run of an agent as it is wanted cannot go on with the one that is there; undefined when it can. */
export function rebindProblem(there: AgentDefinition, wanted: AgentDefinition): string | undefined {
  const missing = missingFrom(there, wanted);
  return missing.length === 0 ? undefined : `it lacks, or has otherwise: ${missing.join(", ")}.`;
}

/** The parts of an agent that an engine needs, without the rest of the object. */
function bindingOf(agent: AgentBinding): AgentBinding {
  const { definition, tools, models, planningModel, team, output, hookManager, pipeline, missing } = agent;
  const parts = { definition, tools, models, planningModel, team, output, hookManager, pipeline, missing };
  const readInput = agent.readInput?.bind(agent);
  return readInput === undefined ? parts : { ...parts, readInput };
}
