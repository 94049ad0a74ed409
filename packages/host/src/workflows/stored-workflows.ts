import { type AgentBinding, TracksideError } from "trackside";
import { bindWorkflow, workflowShell } from "trackside/engine";
import type { WorkflowDefinition } from "trackside/schema";
import type { StoredAgents } from "../agents/stored-agents.ts";
import type { Toolkit } from "../agents/toolkit.ts";
import type { InCode } from "../definitions/in-code.ts";
import { type DefinitionRow, findByName } from "../definitions/rows.ts";
import type { Builder, Operation, Store } from "../store/store.ts";
import type { WorkflowBinding } from "./in-code.ts";
import { referencesIn } from "./references.ts";
import { workflowBody } from "./workflow-rows.ts";

/** A workflow that can be run; a stored one has an id. */
export interface FoundWorkflow {
  readonly id?: string;
  readonly binding: WorkflowBinding;
}

export interface StoredWorkflowsInit {
  readonly store: Store;
  readonly toolkit: Toolkit;
  readonly stored: StoredAgents;
  readonly agents: InCode<AgentBinding>;
  readonly workflows: InCode<WorkflowBinding>;
}

/** What is looked up while one workflow is bound. */
interface Around {
  readonly rows: ReadonlyMap<string, DefinitionRow>;
  readonly tenant: string;
  readonly made: Map<string, WorkflowBinding>;
}

const MOST_KEPT = 500;

/** Finds workflows of a tenant by name and binds them with whoever works at their nodes. Those in code come first. */
export class StoredWorkflows {
  readonly #init: StoredWorkflowsInit;
  /** The same definition with the same people at work is bound once. */
  readonly #bound = new Map<string, WorkflowBinding>();
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  constructor(init: StoredWorkflowsInit) {
    this.#init = init;
  }

  /** Undefined when there is none of that name; throws with every problem when what it names is not here (A3). */
  async find(tenant: string, name: string): Promise<FoundWorkflow | undefined> {
    const code = this.#init.workflows.find(name);
    if (code !== undefined) return { binding: code };
    const rows = await this.#init.store.read((db) => this.#withOthers(db, tenant, name));
    const row = rows.get(name);
    if (row === undefined) return undefined;
    const around = { rows, tenant, made: new Map<string, WorkflowBinding>() };
    return { id: row.id, binding: await this.#bind(row, around, []) };
  }

  /** A workflow and all that are run within it, at one moment. */
  *#withOthers(db: Builder, tenant: string, name: string): Operation<ReadonlyMap<string, DefinitionRow>> {
    const found = new Map<string, DefinitionRow>();
    const seen = new Set([name]);
    // It grows while it is gone through.
    for (const next of seen) {
      if (this.#init.workflows.has(next)) continue;
      const row = yield* findByName(db, "workflow", tenant, next);
      if (row === undefined) continue; // the run is refused for what is missing
      found.set(next, row);
      for (const other of referencesIn(workflowBody.read(row.body, row.id).definition).workflows)
        seen.add(other);
    }
    return found;
  }

  /** Those it runs are bound before it. */
  async #bind(row: DefinitionRow, around: Around, within: readonly string[]): Promise<WorkflowBinding> {
    const { rows, tenant, made } = around;
    const known = made.get(row.name);
    if (known !== undefined) return known;
    if (within.includes(row.name)) throw circular([...within.slice(within.indexOf(row.name)), row.name]);
    const definition = workflowBody.read(row.body, row.id).definition as unknown as WorkflowDefinition; // checked when it was saved
    const { agents, workflows } = referencesIn(definition);
    const team: AgentBinding[] = [];
    for (const agent of agents) {
      const found = this.#init.agents.find(agent) ?? (await this.#init.stored.find(tenant, agent))?.binding;
      if (found !== undefined) team.push(found);
    }
    for (const name of workflows) {
      const other = rows.get(name);
      const inCode = this.#init.workflows.find(name);
      if (inCode !== undefined) team.push(inCode);
      else if (other !== undefined) team.push(await this.#bind(other, around, [...within, row.name]));
    }
    const key = [row.digest, ...team.map((one) => this.#numberOf(one))].join(" ");
    const binding = this.#bound.get(key) ?? this.#made(definition, team);
    this.#keep(key, binding);
    made.set(row.name, binding);
    return binding;
  }

  #made(definition: WorkflowDefinition, team: readonly AgentBinding[]): WorkflowBinding {
    const shell = this.#init.toolkit.bind(workflowShell(definition));
    return bindWorkflow(shell, definition, team) as WorkflowBinding; // its definition is given here
  }

  #numberOf(binding: object): number {
    let number = this.#numbers.get(binding);
    if (number === undefined) {
      this.#last += 1;
      number = this.#last;
      this.#numbers.set(binding, number);
    }
    return number;
  }

  /** The last used stay. */
  #keep(key: string, binding: WorkflowBinding): void {
    this.#bound.delete(key);
    this.#bound.set(key, binding);
    const [oldest] = this.#bound.keys();
    if (this.#bound.size > MOST_KEPT && oldest !== undefined) this.#bound.delete(oldest);
  }
}

/** A save that would make a circle is refused; two at the same moment may make one all the same. */
function circular(names: readonly string[]): TracksideError {
  const way = names.map((name) => `"${name}"`).join(", which runs ");
  return new TracksideError(
    "config_invalid",
    `The workflow ${way}: it would never end. Take one of them out.`,
  );
}
