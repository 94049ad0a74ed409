import type { AgentBinding, LanguageModel } from "trackside";
import type { Behaviour } from "trackside/testing";
import { expect } from "vitest";
import type { DurableEngine, DurableOptions } from "../../../src/index.ts";
import { sentRequests } from "../../../src/runs/requests.ts";
import { rows } from "../../../src/store/index.ts";
import { type Compared, rebuilt, received } from "./compare.ts";

type Started = Parameters<DurableEngine["start"]>;

/** What models were really sent, and the same agents with what they are sent written down. */
class Tapped {
  readonly requests: Compared[] = [];
  readonly #agents = new WeakMap<AgentBinding, AgentBinding>();
  readonly #models = new WeakMap<object, LanguageModel>();

  agent(agent: AgentBinding): AgentBinding {
    let tapped = this.#agents.get(agent);
    if (tapped === undefined) {
      const { tools, output, hookManager, pipeline, missing, planningModel, readInput } = agent;
      tapped = {
        definition: { ...agent.definition, audit_transient: true },
        tools,
        output,
        hookManager,
        pipeline,
        missing,
        models: agent.models.map((model) => this.model(model)),
        planningModel: planningModel === null ? null : this.model(planningModel),
        team: agent.team.map((member) => this.agent(member)),
        ...(readInput === undefined ? {} : { readInput }),
      };
      this.#agents.set(agent, tapped);
    }
    return tapped;
  }

  model<T extends string | LanguageModel>(model: T): T {
    if (typeof model === "string") return model;
    let tapped = this.#models.get(model);
    if (tapped === undefined) {
      const spied: ProxyHandler<LanguageModel> = {
        get: (target, name) => {
          const value = Reflect.get(target, name);
          if (name !== "doStream") return value;
          return (options: Parameters<typeof received>[0]) => {
            this.requests.push(received(options));
            return value.call(target, options);
          };
        },
      };
      tapped = new Proxy<LanguageModel>(model, spied);
      this.#models.set(model, tapped);
    }
    return tapped as T; // the same to whoever calls it
  }
}

/** An engine for one behaviour. */
export type MakeDurable = (
  options: Partial<DurableOptions>,
) => Promise<{ readonly engine: DurableEngine; close(): Promise<void> }>;

/**
 * Has a behaviour play out, and compares what models were sent with what is rebuilt from the records of all its runs.
 * Answers how many requests that were.
 */
export async function compareRequests({ check }: Behaviour, make: MakeDurable): Promise<number> {
  const made: { engine: DurableEngine; close(): Promise<void>; tap: Tapped }[] = [];
  try {
    await check(async (options = {}) => {
      const tap = new Tapped();
      const models = Object.entries(options.models ?? {}).map(([name, one]) => [name, tap.model(one)]);
      const one = await make({ ...options, models: Object.fromEntries(models) });
      made.push({ ...one, tap });
      return new Proxy(one.engine, {
        get: (target, name) => {
          const value = Reflect.get(target, name);
          if (name === "start")
            return (...[agent, ...rest]: Started) => target.start(tap.agent(agent), ...rest);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    });
    for (const { engine, tap } of made) {
      const found = await allRequests(engine);
      expect(found.filter(({ complete }) => !complete)).toEqual([]);
      expect(sorted(found.map(rebuilt))).toEqual(sorted(tap.requests));
    }
    return made.reduce((n, { tap }) => n + tap.requests.length, 0);
  } finally {
    for (const one of made) await one.close();
  }
}

async function allRequests(engine: DurableEngine) {
  const runs = await engine.store.read((db) =>
    rows(db.selectFrom("runs").select("id").where("kind", "=", "agent").orderBy("id")),
  );
  return (await Promise.all(runs.map((run) => sentRequests(engine, run)))).flat();
}

/** Runs of a tree go on side by side: their requests come in any order. */
function sorted(all: readonly Compared[]): readonly string[] {
  return all.map((one) => JSON.stringify(one)).sort();
}
