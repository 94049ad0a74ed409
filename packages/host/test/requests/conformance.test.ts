import type { AgentBinding, LanguageModel } from "trackside";
import { engineConformance } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { sentRequests } from "../../src/runs/requests.ts";
import { rows, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "../engine/support/database.ts";
import { type Compared, rebuilt, received } from "./support/compare.ts";

type Started = Parameters<DurableEngine["start"]>;

/** What models were really sent, and the same agents with what they are sent written down. */
class Tapped {
  readonly requests: Compared[] = [];
  readonly #agents = new WeakMap<AgentBinding, AgentBinding>();
  readonly #models = new WeakMap<object, LanguageModel>();

  agent(agent: AgentBinding): AgentBinding {
    let tapped = this.#agents.get(agent);
    if (tapped === undefined) {
      const { tools, output, hookManager, pipeline, missing, planningModel } = agent;
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

async function allRequests(engine: DurableEngine) {
  const runs = await engine.store.read((db) =>
    rows(db.selectFrom("runs").select("id").where("kind", "=", "agent").orderBy("id")),
  );
  return (await Promise.all(runs.map((run) => sentRequests(engine, run)))).flat();
}

const sorted = (all: readonly Compared[]) => all.map((one) => JSON.stringify(one)).sort();

describe("R4 requests are rebuilt as they were sent, whatever runs do", () => {
  for (const { title, check } of engineConformance) {
    test(title, async () => {
      const made: { engine: DurableEngine; tap: Tapped }[] = [];
      try {
        await check(async (options = {}) => {
          const tap = new Tapped();
          const models = Object.entries(options.models ?? {}).map(([name, one]) => [name, tap.model(one)]);
          const engine = new DurableEngine({
            ...options,
            models: Object.fromEntries(models),
            store: sqlite(databaseFile(), { sync: "normal" }),
          });
          made.push({ engine, tap });
          await engine.open();
          return new Proxy(engine, {
            get: (target, name) => {
              const value = Reflect.get(target, name);
              if (name === "start")
                return (...[agent, ...rest]: Started) => target.start(tap.agent(agent), ...rest);
              return typeof value === "function" ? value.bind(target) : value;
            },
          });
        }).catch(() => {}); // what it promises is tested elsewhere; transient parts are kept here
        for (const { engine, tap } of made) {
          const found = await allRequests(engine);
          expect(found.filter(({ complete }) => !complete)).toEqual([]);
          expect(sorted(found.map(rebuilt))).toEqual(sorted(tap.requests));
        }
      } finally {
        for (const { engine } of made) await engine.close();
      }
    });
  }
});
