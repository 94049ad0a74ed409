import {
  Agent,
  defineTool,
  defineWorkflow,
  type Json,
  type JsonObject,
  type RunResult,
  Workflow,
} from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";

// Most of this is checked by the compiler: `npm run typecheck` fails where a type is not what it says here.

const tool = defineTool({ name: "t", effect: "none", execute: () => 1 });
const agent = new Agent({ name: "a", model: scriptedModel([], { loop: true }) });
const node = { kind: "tool" as const, tool };

describe("W4 types flow from a workflow's schemas", () => {
  test("W4 its input is what zod makes of it, and its output what its schema says", () => {
    const workflow = defineWorkflow({
      name: "typed",
      input: z.object({ service: z.string(), count: z.number().optional() }),
      output: z.object({ ok: z.boolean() }),
      nodes: { a: node },
      result: { ok: true },
    });
    expectTypeOf(workflow.run).parameter(0).toEqualTypeOf<{ service: string; count?: number | undefined }>();
    expectTypeOf(workflow.run).returns.resolves.toEqualTypeOf<RunResult<{ ok: boolean }>>();
    expectTypeOf(workflow.stream({ service: "web" }).result).resolves.toEqualTypeOf<
      RunResult<{ ok: boolean }>
    >();
    const mistakes = () => {
      // @ts-expect-error a string
      void workflow.run({ service: 1 });
      // @ts-expect-error it is needed
      void workflow.run({});
    };
    expectTypeOf(mistakes).toBeFunction();
  });

  test("W4 without schemas it is an object of JSON, and JSON", () => {
    const workflow = defineWorkflow({ name: "plain", nodes: { a: node } });
    expectTypeOf(workflow.run).parameter(0).toEqualTypeOf<JsonObject>();
    expectTypeOf(workflow.run).returns.resolves.toEqualTypeOf<RunResult<Json>>();
    const fromJson = Workflow.fromJSON({ name: "json", nodes: { a: { kind: "wait", for: { seconds: 1 } } } });
    expectTypeOf(fromJson).toEqualTypeOf<Workflow>();
  });

  test("W4 mistakes in a config are compile errors", () => {
    const mistakes = () => {
      // @ts-expect-error there is no node "c"
      defineWorkflow({ name: "x", nodes: { a: node, b: node }, edges: [{ from: "a", to: "c" }] });
      // @ts-expect-error nor does one begin there
      defineWorkflow({ name: "x", nodes: { a: node, b: node }, edges: [{ from: "c", to: "b" }] });
      const nodes = { a: node, b: node };
      // @ts-expect-error an edge is taken when one of four things happened
      defineWorkflow({ name: "x", nodes, edges: [{ from: "a", to: "b", when: "maybe" }] });
      // @ts-expect-error no such kind
      defineWorkflow({ name: "x", nodes: { a: { kind: "loop" } } });
      // @ts-expect-error an agent is told something
      defineWorkflow({ name: "x", nodes: { a: { kind: "agent", agent } } });
      // @ts-expect-error a map does something
      defineWorkflow({ name: "x", nodes: { a: { kind: "map", over: "{{ input.items }}" } } });
      // @ts-expect-error a number of milliseconds
      defineWorkflow({ name: "x", nodes: { a: { ...node, timeoutMs: "5s" } } });
    };
    expectTypeOf(mistakes).toBeFunction();
  });
});
