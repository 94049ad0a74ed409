import { defineTool, defineWorkflow, type Json, type JsonObject, Workflow } from "trackside";
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { sqlite, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";
import { until } from "./support/until.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function host(path: string, workflows: readonly Workflow<never, never>[]): Trackside {
  const trackside = new Trackside({
    store: sqlite(path, { sync: "normal" }),
    agents: [],
    workflows,
    tools: [echo],
  });
  open.push(trackside);
  return trackside;
}

const echo = defineTool({
  name: "echo",
  effect: "none",
  input: z.object({ value: z.json() }),
  execute: ({ value }) => value as Json, // parsed as JSON
});

const node = (value: Json) => ({ kind: "tool", tool: "echo", arguments: { value } });

/** Calls and conditions, one after the other, each reading the one before it. */
function chain(length: number): Workflow {
  const ids = Array.from({ length }, (_, i) => `n${i}`);
  const nodes = ids.map((id, i) => {
    const before = `{{ nodes.n${i - 1} }}`;
    return [id, i % 2 === 0 ? node(i) : { kind: "condition", if: { left: before, op: "==", right: i - 1 } }];
  });
  const edges = ids.slice(1).map((to, i) => ({ from: `n${i}`, to, ...(i % 2 ? { when: "true" } : {}) }));
  const json = { name: `chain-${length}`, nodes: Object.fromEntries(nodes), edges };
  return Workflow.fromJSON(json, { tools: [echo] });
}

/** One, then all the others beside each other, then one that reads them all. */
function wide(width: number): Workflow {
  const ids = Array.from({ length: width }, (_, i) => `n${i}`);
  const json = {
    name: `wide-${width}`,
    nodes: {
      first: node("first"),
      ...Object.fromEntries(ids.map((id, i) => [id, node(i)])),
      last: node(ids.map((id) => `{{ nodes.${id} }}`)),
    },
    edges: ids.flatMap((id) => [
      { from: "first", to: id },
      { from: id, to: "last" },
    ]),
  };
  return Workflow.fromJSON(json, { tools: [echo] });
}

/** Runs it to its end. Answers what it came to, and how much was written for it. */
async function played(trackside: Trackside, name: string, input: JsonObject = {}) {
  const { runId, result } = await trackside.workflows.start(name, input);
  const { output } = await result();
  const commits = await trackside.engine.store.read((db) =>
    rows(db.selectFrom("commits").select("body").where("run_id", "like", `${runId}%`)),
  );
  return { runId, output, bytes: commits.reduce((sum, { body }) => sum + body.length, 0) };
}

describe("W4 a graph of a thousand nodes", () => {
  test("W4 a thousand nodes one after the other end, and what is kept of them grows as they do", async () => {
    const trackside = host(databaseFile(), [chain(250), chain(1000)]);
    const small = await played(trackside, "chain-250");
    const large = await played(trackside, "chain-1000");
    expect(large.output).toEqual({ n999: true });
    // A state that is written for every node would be sixteen times as much.
    expect(large.bytes / small.bytes).toBeLessThan(6);
    const events = await trackside.runs.events(large.runId);
    const told = events.flatMap((event) =>
      event.type === "node" && event.state === "completed" ? event.node : [],
    );
    expect(told).toEqual(Array.from({ length: 1000 }, (_, i) => `n${i}`));
  });

  test("W4 a thousand nodes beside each other end, and one more reads them all", async () => {
    const trackside = host(databaseFile(), [wide(248), wide(998)]);
    const small = await played(trackside, "wide-248");
    const large = await played(trackside, "wide-998");
    expect(large.output).toEqual({ last: Array.from({ length: 998 }, (_, i) => i) });
    expect(large.bytes / small.bytes).toBeLessThan(6);
  });

  test("W4 more are refused, with what to do", () => {
    expect(() => chain(1001)).toThrow("1000 nodes at most; put a part of it into a workflow of its own");
  });
});

describe("W4 a map over ten thousand items", () => {
  const each = (tool = echo) =>
    defineWorkflow({
      name: "each",
      nodes: {
        all: {
          kind: "map",
          over: "{{ input.items }}",
          do: { kind: "tool", tool, arguments: { value: "{{ item }}" } },
          concurrency: 50,
        },
      },
    });
  const items = (length: number) => Array.from({ length }, (_, i) => i);

  test("W4 ten thousand items are done in order, and what is kept of them grows as they do", async () => {
    const trackside = host(databaseFile(), [each()]);
    const small = await played(trackside, "each", { items: items(2_500) });
    const large = await played(trackside, "each", { items: items(10_000) });
    expect(large.output).toEqual({ all: items(10_000) });
    expect(large.bytes / small.bytes).toBeLessThan(6);
    const over = (await trackside.runs.events(large.runId)).findLast((event) => event.type === "node");
    expect(over).toMatchObject({ node: "all", state: "completed", items: 10_000 });
  });

  test("W4 one more is refused, and the node says so", async () => {
    const trackside = host(databaseFile(), [each()]);
    await expect(played(trackside, "each", { items: items(10_001) })).rejects.toThrow(
      "over: at most 10000 items expected, 10001 given",
    );
    expect(await trackside.runs.list({ kind: "workflow" })).toHaveLength(1); // none of its parts was begun
  });

  test("X2 W4 a long map goes on after a restart: only what was under way is done again", async () => {
    const path = databaseFile();
    let ran = 0;
    const held = Promise.withResolvers<void>();
    const slow = defineTool({
      name: "slow",
      effect: "none",
      input: z.object({ value: z.number() }),
      execute: async ({ value }) => {
        ran += 1;
        if (ran > 430 && ran <= 480) await held.promise; // those of its process never end
        return value;
      },
    });
    const workflow = each(slow as never);
    const first = host(path, [workflow]);
    const { runId } = await first.workflows.start("each", { items: items(1_000) });
    await until(() => (ran === 480 ? true : undefined));
    await first.close();
    const second = host(path, [workflow]);
    expect((await second.runs.result(runId)).output).toEqual({ all: items(1_000) });
    expect(ran).toBe(1_050);
  });
});

describe("W4 a cycle through workflows", () => {
  const calls = (name: string, workflow: string) => ({
    name,
    nodes: { in: { kind: "workflow", workflow }, out: node(name) },
    edges: [{ from: "in", to: "out" }],
  });

  test("W4 one that comes back to itself is refused when it is saved, and what was there stays", async () => {
    const trackside = host(databaseFile(), []);
    const by = { by: "ann" };
    const flat = { name: "a", nodes: { out: node("a") } };
    const { version } = await trackside.workflows.create(flat, by);
    await trackside.workflows.create(calls("b", "a"), by);
    await trackside.workflows.create(calls("c", "b"), by);
    await expect(trackside.workflows.save("a", calls("a", "c"), { ...by, version })).rejects.toThrow(
      /nodes\.in\.workflow/,
    );
    await expect(trackside.workflows.save("a", calls("a", "a"), { ...by, version })).rejects.toThrow(
      /nodes\.in\.workflow/,
    );
    const { output } = await played(trackside, "c");
    expect(output).toEqual({ out: "c" });
  });
});
