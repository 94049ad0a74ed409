import * as fc from "fast-check";
import { Agent, AgentConfigError } from "trackside";
import { expect, test } from "vitest";
import { definition, mutated, mutation } from "../support/arbitrary-definition.ts";
import { canonical, inCode, REGISTRY, sorted } from "../support/definitions.ts";
import { problemsOf } from "../support/problems-of.ts";

/** Properties of arbitrary definitions, each over this many or some more. A seed makes the search the same every time. */
export function definitionProperties(runs: number, search: { seed?: number } = {}): void {
  test("A3 any valid definition round-trips through JSON unchanged", () => {
    fc.assert(
      fc.property(definition, (given) => {
        const text = JSON.stringify(Agent.fromJSON(given, REGISTRY));
        expect(sorted(JSON.parse(text))).toBe(canonical(given));
        expect(JSON.stringify(Agent.fromJSON(JSON.parse(text), REGISTRY))).toBe(text);
      }),
      { ...search, numRuns: runs },
    );
  });

  test("A3 any valid definition means the same written in code", () => {
    fc.assert(
      fc.property(definition, (given) => {
        const agent = new Agent(inCode(given) as never, REGISTRY); // put together at run time
        expect(sorted(agent.toJSON())).toBe(canonical(given));
      }),
      { ...search, numRuns: runs },
    );
  });

  test("A3 any mutation of a valid definition is valid or reported, never a crash and never dropped", () => {
    const seen = { accepted: 0, reported: 0 };
    fc.assert(
      fc.property(definition, fc.array(mutation, { minLength: 1, maxLength: 3 }), (given, mutations) => {
        const json = mutations.reduce<unknown>((from, one) => mutated(from as never, one), given); // stays an object
        const agent = accepted(json);
        if (agent === null) {
          problemsOf(() => Agent.fromJSON(json, REGISTRY));
          seen.reported++;
          return;
        }
        expect(sorted(agent.toJSON())).toBe(canonical(json as never)); // it was accepted, so it is an object
        seen.accepted++;
      }),
      { ...search, numRuns: 3 * runs },
    );
    expect(seen.accepted).toBeGreaterThan(50);
    expect(seen.reported).toBeGreaterThan(50);
  });

  test("A3 anything at all, as an agent or in any of its fields, is an agent or a list of problems", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnboxedSymbol: true,
    } as fc.ObjectConstraints);
    const field = fc.constantFrom(
      ...Object.keys(inCode({ ...Agent.fromJSON({ name: "a", model: "openai:b" }).definition })),
    );
    fc.assert(
      fc.property(definition, field, anything, (given, key, value) => {
        for (const config of [value, { ...inCode(given), [key]: value }]) {
          try {
            new Agent(config as never, REGISTRY); // what a caller without types could pass
          } catch (error) {
            expect(error).toBeInstanceOf(AgentConfigError);
          }
        }
      }),
      { ...search, numRuns: 2 * runs },
    );
  });
}

function accepted(json: unknown): Agent | null {
  try {
    return Agent.fromJSON(json, REGISTRY);
  } catch {
    return null; // how it was refused is for the caller to look at
  }
}
