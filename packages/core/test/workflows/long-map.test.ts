import { defineTool, defineWorkflow, type RunError } from "trackside";
import { expect, test } from "vitest";
import * as z from "zod";

const odd = defineTool({
  name: "odd",
  effect: "none",
  input: z.object({ n: z.number() }),
  execute: ({ n }) => {
    if (n === 137) throw new Error("it is 137");
    return n;
  },
});

const each = (onError: "fail" | "collect") =>
  defineWorkflow({
    name: "each",
    input: z.object({ ns: z.array(z.number()) }),
    nodes: {
      all: {
        kind: "map",
        over: "{{ input.ns }}",
        do: { kind: "tool", tool: odd, arguments: { n: "{{ item }}" } },
        onError,
      },
    },
    result: "{{ nodes.all }}",
  });

const ns = Array.from({ length: 250 }, (_, i) => i);

test("W4 a long map is done in parts, and an item that fails is told by its own number", async () => {
  const error: RunError = await each("fail")
    .run({ ns })
    .then(
      () => expect.fail("it should fail"),
      (thrown: RunError) => thrown,
    );
  expect(error.failure.cause).toMatchObject({ code: "tool_failed", message: "Item 137: it is 137" });
  expect(error.failure.details).toMatchObject({ nodes: ["all"], item: 137 });
});

test("W4 X3 a long map of calls that must not happen twice is not tried again", async () => {
  const ran: number[] = [];
  const pay = defineTool({
    name: "pay",
    effect: "once",
    input: z.object({ n: z.number() }),
    execute: ({ n }) => {
      ran.push(n);
      if (n === 120) throw new Error("no money");
      return n;
    },
  });
  const workflow = defineWorkflow({
    name: "pay all",
    input: z.object({ ns: z.array(z.number()) }),
    nodes: {
      all: {
        kind: "map",
        over: "{{ input.ns }}",
        do: { kind: "tool", tool: pay, arguments: { n: "{{ item }}" } },
        retry: { attempts: 3, delayMs: 0 },
      },
    },
  });
  await expect(workflow.run({ ns })).rejects.toThrow(/Item 120: no money/);
  expect(ran.length).toBe(new Set(ran).size);
});

test("W4 a long map that collects has an entry for each item, in order", async () => {
  const { output } = await each("collect").run({ ns });
  const entries = output as readonly { readonly status: string; readonly output?: number }[];
  expect(entries).toHaveLength(250);
  expect(entries[137]).toMatchObject({ status: "failed", failure: { message: "it is 137" } });
  expect(entries.filter(({ status }) => status === "completed").map((one) => one.output)).toEqual(
    ns.filter((n) => n !== 137),
  );
});
