import type { TurnState } from "trackside/loop";
import { describe, expect, test } from "vitest";
import { calling, chain, graph, run, settled, told, worldOf } from "./stage.ts";

const failure = { code: "tool_failed" as const, message: "no" };
const isOf = (key: string, ...nodes: readonly string[]) => nodes.some((id) => key.startsWith(`n/${id}/`));

describe("W4 which nodes run, and when", () => {
  test("W4 X1 nodes ask for effects under structural keys, each as soon as all that leads to it is over", async () => {
    const world = worldOf();
    const state = await run(graph({ a: {}, b: {}, c: {}, d: {} }, "a>b", "a>c", "b>d", "c>d"), world);
    expect(world.asked).toEqual([
      "n/a/1/enter",
      "n/a/1/do/0/0/tool/1",
      "n/b/1/enter",
      "n/c/1/enter",
      "n/b/1/do/0/0/tool/1",
      "n/c/1/do/0/0/tool/1",
      "n/d/1/enter",
      "n/d/1/do/0/0/tool/1",
      "finish",
    ]);
    expect(state.outcome).toEqual({ status: "completed", stop_reason: "answered", message_id: "r.output" });
  });

  test("W4 they begin in the order they are written in, whatever the order of their edges", async () => {
    const world = worldOf();
    await run(graph({ z: {}, c: {}, b: {}, a: {} }, "z>a", "z>b", "z>c"), world);
    const begun = world.notes.flatMap((note) =>
      note.type === "node" && note.state === "started" ? note.node : [],
    );
    expect(begun).toEqual(["z", "c", "b", "a"]);
  });

  test("W4 a node is given the outputs it reads, and none of what was skipped", async () => {
    const from: Record<string, unknown> = {};
    const world = worldOf({
      enter: (node, input) => {
        from[node] = input.from;
        return node === "if" ? { port: "true", message_id: "if.out" } : undefined;
      },
    });
    const reads = ["if", "yes", "no"];
    const nodes = { if: { kind: "condition" as const }, yes: {}, no: {}, last: { reads } };
    await run(graph(nodes, "if>yes:true", "if>no:false", "yes>last", "no>last"), world);
    expect(from).toEqual({ if: {}, yes: {}, last: { if: "if.out", yes: "yes.c0.result" } });
  });

  test("W4 what nothing leads to is skipped with the reason, and so is all that needs it", async () => {
    const world = worldOf({
      enter: (node) => (node === "if" ? { port: "false", message_id: "if.out" } : undefined),
    });
    const nodes = { if: { kind: "condition" as const }, a: {}, b: {}, c: {}, other: {}, join: {} };
    const edges = ["if>a:true", "a>b", "b>c", "if>other:false", "c>join", "other>join"] as const;
    await run(graph(nodes, ...edges), world);
    expect(told(world)).toEqual([
      "if:false",
      "a:skipped",
      "b:skipped",
      "c:skipped",
      "other:completed",
      "join:completed",
    ]);
    const reasons = world.notes.flatMap((note) => (note.type === "node" ? (note.reason ?? []) : []));
    expect(reasons).toEqual(['"if" went false', '"a" skipped', '"b" skipped']);
  });

  test("W4 a failure goes by its failed edge; without one it is the run's, with every other that failed", async () => {
    const of = (...bad: readonly string[]) =>
      worldOf({
        tool: ({ call }, key) => ({
          message_id: `${call.id}.result`,
          ...(isOf(key, ...bad) ? { failure } : {}),
        }),
      });
    const nodes = { a: {}, rescue: {}, b: {}, after: {} };
    const edges = ["a>rescue:failed", "b>after"] as const;
    const rescued = of("a");
    expect((await run(graph(nodes, ...edges), rescued)).outcome?.status).toBe("completed");
    expect(told(rescued).toSorted()).toEqual([
      "a:failed",
      "after:completed",
      "b:completed",
      "rescue:completed",
    ]);
    const lost = of("rescue", "a", "b");
    const { outcome } = await run(graph(nodes, ...edges), lost);
    expect(outcome).toEqual({
      status: "error",
      failure: {
        code: "node_failed",
        message: 'The node "rescue" failed: no (and so did "b")',
        details: { nodes: ["rescue", "b"] },
        cause: failure,
      },
    });
    expect(lost.asked).not.toContain("finish");
  });

  test("W5 who says no is a rejected edge's matter where there is one, else a failure's", async () => {
    const ask = { approval_id: "ask", digest: "", deadline: null };
    const gate = { ...ask, kind: "workflow_node" as const, call_id: "ask", tool: "ask", requested_at: 0 };
    const no = { status: "rejected", choice: "reject", reason: "too late", decided_by: "ann" } as const;
    const rejected = async (...edges: Parameters<typeof graph>[1][]) => {
      const world = worldOf({
        enter: (node) => (node === "ask" ? { gate: { ...gate, reasons: [] } } : undefined),
        ask: () => ({ ...ask, ...no, wait_ms: 0 }),
      });
      const nodes = { ask: { kind: "approval" as const }, yes: {}, no: {}, late: {} };
      const { outcome } = await run(graph(nodes, "ask>yes", ...edges), world);
      return [told(world).filter((one) => /^(ask|yes|no):/.test(one)), outcome?.status];
    };
    expect(await rejected("ask>no:rejected", "ask>late:failed")).toEqual([
      ["ask:rejected", "yes:skipped", "no:completed"],
      "completed",
    ]);
    expect(await rejected("ask>no", "ask>late:failed")).toEqual([
      ["ask:failed", "yes:skipped", "no:skipped"],
      "completed",
    ]);
    expect(await rejected("ask>no")).toEqual([["ask:failed", "yes:skipped", "no:skipped"], "error"]);
  });
});

describe("W4 X2 checkpoints", () => {
  test("W4 X2 the boundary is called with nothing open, and the run ends the same from each of them", async () => {
    let open = 0;
    const tool = async () => {
      open += 1;
      await settled();
      open -= 1;
      return { message_id: "m" };
    };
    const of = graph({ a: {}, b: {}, c: {}, d: {}, e: {} }, "a>b", "a>c", "b>d", "c>d", "d>e");
    const states: string[] = [];
    const whole = worldOf({
      tool,
      boundary: (state) => {
        expect(open).toBe(0);
        states.push(JSON.stringify(state));
        return { inbox: [] };
      },
    });
    const ended = await run(of, whole);
    expect(states).toHaveLength(4); // at the start, and after a, the two beside each other, and d
    for (const text of states) {
      const from: TurnState = JSON.parse(text);
      const resumed = worldOf({ tool });
      expect(await run(of, resumed, from)).toEqual(ended);
      expect(resumed.asked).toEqual(whole.asked.slice(-resumed.asked.length));
    }
  });

  test("W4 X2 a large graph has few of them, so that all that is kept stays in proportion", async () => {
    const sizes = async (length: number) => {
      const found: number[] = [];
      const boundary = (state: TurnState) => {
        found.push(JSON.stringify(state).length);
        return { inbox: [] };
      };
      await run(chain(length), worldOf({ boundary }));
      return found;
    };
    expect(await sizes(10)).toHaveLength(10);
    expect(await sizes(50)).toHaveLength(50);
    const large = await sizes(1000);
    expect(large).toHaveLength(50);
    expect(large.at(-1)).toBeLessThan(1000 * 100);
  });

  test("X6 W4 what is sent to a workflow is dropped, and its sender is told", async () => {
    const world = worldOf({ boundary: () => ({ inbox: [{ message_id: "m", receipt: "x" }] }) });
    await run(graph({ a: {} }), world);
    expect(world.notes).toContainEqual({ type: "dropped", message_id: "m", receipt: "x" });
  });
});

describe("X5 W4 stopping", () => {
  test("X5 a cancel at a boundary ends the run before another node begins", async () => {
    let boundaries = 0;
    const world = worldOf({
      boundary: () => (++boundaries === 2 ? { inbox: [], cancelled: "enough" } : { inbox: [] }),
    });
    const { outcome } = await run(graph({ a: {}, b: {} }, "a>b"), world);
    expect(outcome).toEqual({ status: "cancelled", reason: "enough" });
    expect(told(world)).toEqual(["a:completed"]);
  });

  test("X5 a cancel reaches every node under way; each is told once, nothing else begins", async () => {
    const world = worldOf({ tool: () => new Promise(() => {}) });
    const ended = run(graph({ a: {}, b: {}, c: {} }, "a>c"), world);
    await settled();
    world.cancel("", "enough");
    expect((await ended).outcome).toEqual({ status: "cancelled", reason: "enough" });
    expect(told(world)).toEqual(["a:failed", "b:failed"]);
    expect(world.asked.some((key) => key.startsWith("n/c/"))).toBe(false);
  });

  test("R9 W4 what a rail aborts ends the run, and stops the others", async () => {
    const world = worldOf({
      tool: (_, key) =>
        isOf(key, "a")
          ? { message_id: "m", fatal: { ...failure, code: "rail_aborted" } }
          : new Promise(() => {}),
    });
    const { outcome } = await run(graph({ b: {}, a: {}, c: {} }, "b>c"), world);
    expect(outcome).toMatchObject({ status: "error", failure: { code: "rail_aborted" } });
    expect(world.cancels).toContain("n/");
    expect(told(world).toSorted()).toEqual(["a:failed", "b:failed"]);
  });
});

describe("T6 W4 calls that have to be alone", () => {
  test("T6 no other call of the workflow runs beside one, and each has its turn in the order they came", async () => {
    let inside = 0;
    const log: string[] = [];
    const alone = ["b", "d"];
    const world = worldOf({
      enter: (node) => calling(node, [alone.includes(node)]),
      tool: async ({ call }) => {
        inside += 1;
        log.push(`${call.id[0]} with ${inside}`);
        if (alone.includes(call.id[0] ?? "")) expect(inside).toBe(1);
        await settled();
        inside -= 1;
        return { message_id: `${call.id}.result` };
      },
    });
    await run(graph({ a: {}, b: {}, c: {}, d: {}, e: {}, f: {} }), world);
    expect(log).toEqual(["a with 1", "b with 1", "c with 1", "d with 1", "e with 1", "f with 2"]);
  });
});
