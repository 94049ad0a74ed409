import type { AgentBinding } from "trackside";
import { findByName } from "../definitions/rows.ts";
import type { Builder, Operation, Store } from "../store/store.ts";
import type { AgentsTable } from "../store/tables.ts";
import { agentBody } from "./agent-rows.ts";
import type { Toolkit } from "./toolkit.ts";

/** A stored agent that can be run: its id, and its definition with the functions it names. */
export interface FoundAgent {
  readonly id: string;
  readonly binding: AgentBinding;
}

const MOST_KEPT = 1000;

/** Finds agents of a tenant by name and binds them. A definition is bound once, whoever's it is. */
export class StoredAgents {
  readonly #store: Store;
  readonly #toolkit: Toolkit;
  readonly #inCode: (name: string) => AgentBinding | undefined;
  readonly #bound = new Map<string, AgentBinding>();
  readonly #teams = new Map<string, AgentBinding>();

  constructor(store: Store, toolkit: Toolkit, inCode: (name: string) => AgentBinding | undefined) {
    this.#store = store;
    this.#toolkit = toolkit;
    this.#inCode = inCode;
  }

  /** Undefined when there is none of that name; throws with every problem when what it names is not here (A3). */
  async find(tenant: string, name: string): Promise<FoundAgent | undefined> {
    const [row, ...others] = await this.#store.read((db) => this.#withTeam(db, tenant, name));
    if (row === undefined) return undefined;
    const agent = this.#bind(row);
    if (others.length === 0) return { id: row.id, binding: agent };
    const key = [row, ...others].map(({ digest }) => digest).join(" ");
    const made =
      this.#teams.get(key) ??
      this.#toolkit.withTeam(
        agent,
        others.map((one) => this.#bind(one)),
      );
    keep(this.#teams, key, made);
    return { id: row.id, binding: made };
  }

  /** An agent and those of the tenant it may hand the turn to, through agents in code as well. All at one moment. */
  *#withTeam(db: Builder, tenant: string, name: string): Operation<readonly AgentsTable[]> {
    const found = new Map<string, AgentsTable>();
    const seen = new Set([name]);
    const first = yield* findByName(db, "agent", tenant, name);
    if (first === undefined) return [];
    const open: string[] = [];
    const follow = (handoffs: readonly unknown[]) => {
      for (const one of handoffs)
        if (typeof one === "string" && !seen.has(one)) {
          seen.add(one);
          open.push(one);
        }
    };
    found.set(name, first);
    follow(handoffsOf(first));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const code = this.#inCode(next);
      const row = code === undefined ? yield* findByName(db, "agent", tenant, next) : undefined;
      if (code !== undefined) follow(code.definition.handoffs);
      if (row === undefined) continue; // the run is refused for who is missing
      found.set(next, row);
      follow(handoffsOf(row));
    }
    return [...found.values()];
  }

  #bind({ id, digest, body }: AgentsTable): AgentBinding {
    const agent = this.#bound.get(digest) ?? this.#toolkit.bind(agentBody.read(body, id).definition);
    keep(this.#bound, digest, agent);
    return agent;
  }
}

function handoffsOf({ id, body }: AgentsTable): readonly unknown[] {
  const { handoffs } = agentBody.read(body, id).definition;
  return Array.isArray(handoffs) ? handoffs : [];
}

/** The last used stay. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_KEPT && oldest !== undefined) map.delete(oldest);
}
