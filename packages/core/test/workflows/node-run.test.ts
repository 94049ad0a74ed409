import { NO_USAGE } from "trackside/loop";
import { describe, expect, test } from "vitest";
import { calling, graph, run, settled, told, worldOf } from "./stage.ts";

const failure = { code: "tool_failed" as const, message: "no" };
const failing = (code: "tool_failed" | "node_invalid" | "unknown_outcome" = "tool_failed") => ({
  tool: () => ({ message_id: "m", failure: { ...failure, code } }),
});

describe("W4 a node is tried again", () => {
  const retry = (attempts: number, delay_ms = 100, backoff = 2) => ({
    retry: { attempts, delay_ms, backoff },
  });

  test("W4 after a delay that grows, under keys of its own, as often as it says", async () => {
    const world = worldOf(failing());
    const { outcome } = await world.clock.finish(run(graph({ a: retry(3) }), world));
    expect(world.asked).toEqual([
      "n/a/1/enter",
      "n/a/1/do/0/0/tool/1",
      "n/a/1/again",
      "n/a/2/enter",
      "n/a/2/do/0/0/tool/1",
      "n/a/2/again",
      "n/a/3/enter",
      "n/a/3/do/0/0/tool/1",
    ]);
    const delays = world.notes.flatMap((note) => (note.type === "node" ? (note.retry_in_ms ?? []) : []));
    expect(delays).toEqual([100, 200]);
    expect(told(world)).toEqual(["a:retrying", "a:retrying", "a:failed"]);
    expect(outcome?.status).toBe("error");
  });

  test("W4 never later than in an hour", async () => {
    const world = worldOf(failing());
    await world.clock.finish(run(graph({ a: retry(4, 3_000_000, 10) }), world));
    const delays = world.notes.flatMap((note) => (note.type === "node" ? (note.retry_in_ms ?? []) : []));
    expect(delays).toEqual([3_000_000, 3_600_000, 3_600_000]);
  });

  test("W4 not what another try would not change, nor a call that must not happen twice", async () => {
    for (const code of ["node_invalid", "unknown_outcome"] as const) {
      const world = worldOf(failing(code));
      await run(graph({ a: retry(3) }), world);
      expect(told(world)).toEqual(["a:failed"]);
    }
    const once = worldOf({ ...failing(), enter: (node) => ({ ...calling(node), once: true }) });
    await run(graph({ a: retry(3) }), once);
    expect(told(once)).toEqual(["a:failed"]);
  });

  test("X5 W4 a cancel ends the wait for the next try", async () => {
    const world = worldOf(failing());
    const ended = run(graph({ a: retry(3, 3_600_000, 1) }), world);
    await settled();
    world.cancel("", "enough");
    expect((await ended).outcome).toEqual({ status: "cancelled", reason: "enough" });
    expect(world.asked.at(-1)).toBe("n/a/1/again");
  });
});

describe("W4 a node's time", () => {
  test("W4 when it is up the work is stopped, and the node failed of that", async () => {
    const world = worldOf({ tool: () => new Promise(() => {}) });
    const { outcome } = await world.clock.finish(run(graph({ a: { timeout_ms: 50 } }), world));
    expect(world.cancels).toEqual(["n/a/1/do"]);
    expect(outcome).toMatchObject({ status: "error", failure: { cause: { code: "node_timed_out" } } });
    expect(told(world)).toEqual(["a:failed"]);
  });

  test("W4 work that is done in time stops the clock", async () => {
    const world = worldOf();
    expect((await run(graph({ a: { timeout_ms: 50 } }), world)).outcome?.status).toBe("completed");
    expect(world.cancels).toEqual(["n/a/1/time"]);
  });

  test("W4 each try has its own, and one that was late is tried again", async () => {
    let tries = 0;
    const world = worldOf({
      tool: () => (++tries === 1 ? new Promise(() => {}) : { message_id: "m" }),
    });
    const node = { timeout_ms: 50, retry: { attempts: 2, delay_ms: 0, backoff: 1 } };
    const { outcome } = await world.clock.finish(run(graph({ a: node }), world));
    expect(outcome?.status).toBe("completed");
    expect(world.asked.filter((key) => key.endsWith("/time"))).toEqual(["n/a/1/time", "n/a/2/time"]);
  });

  test("X5 W4 a run that is cancelled meanwhile is cancelled, not late", async () => {
    const world = worldOf({ tool: () => new Promise(() => {}) });
    const ended = run(graph({ a: { timeout_ms: 50 } }), world);
    await settled();
    world.cancel("", "enough");
    expect((await ended).outcome).toEqual({ status: "cancelled", reason: "enough" });
  });
});

describe("W4 a map", () => {
  const each = (more: object = {}) => graph({ a: { kind: "map", concurrency: 2, ...more } });
  const items = (count: number) => () => ({ ...calling("a", Array(count).fill(false)), items: count });

  test("W4 so many at a time, in order, and its output is made of all of them", async () => {
    let live = 0;
    let peak = 0;
    const world = worldOf({
      enter: items(5),
      tool: async ({ call }) => {
        peak = Math.max(peak, ++live);
        await settled();
        live -= 1;
        return { message_id: `${call.id}.result` };
      },
    });
    await run(each(), world);
    expect(peak).toBe(2);
    const keys = world.asked.filter((key) => key.includes("/tool/"));
    expect(keys).toEqual([0, 1, 2, 3, 4].map((i) => `n/a/1/do/0/${i}/tool/1`));
    expect(world.asked.at(-2)).toBe("n/a/1/do/settle");
  });

  test("W4 an item that fails stops the others and is named, or is kept with them", async () => {
    const tool = ({ call: { index } }: { call: { index: number } }) => ({
      message_id: `${index}`,
      ...(index === 1 ? { failure } : {}),
    });
    const fails = worldOf({ enter: items(6), tool });
    const { outcome } = await run(each(), fails);
    expect(outcome).toMatchObject({
      failure: { message: 'The node "a" failed: Item 1: no', cause: { code: "tool_failed" } },
    });
    expect(fails.cancels).toEqual(["n/a/1/do/"]);
    expect(fails.asked.filter((key) => key.includes("/tool/")).length).toBeLessThan(6);
    const kept = worldOf({ enter: items(6), tool });
    expect((await run(each({ on_error: "collect" }), kept)).outcome?.status).toBe("completed");
    expect(kept.asked.filter((key) => key.includes("/tool/"))).toHaveLength(6);
  });

  test("W4 a long list goes into runs of its own, one after the other", async () => {
    let live = 0;
    const world = worldOf({
      enter: () => ({ items: 250, chunks: 3, message_id: "in" }),
      child: async ({ run_id, node }) => {
        expect(++live).toBe(1);
        expect(node).toMatchObject({ node: "a", message_id: "in", chunk: true });
        await settled();
        live -= 1;
        return { run_id, status: "success", usage: NO_USAGE };
      },
    });
    await run(each({ concurrency: 50 }), world);
    expect(world.asked.filter((key) => key.includes("/child/"))).toEqual(
      [0, 1, 2].map((i) => `n/a/1/do/child/${i}`),
    );
    const runs = world.notes.flatMap((note) =>
      note.type === "subagent" && note.state === "started" ? note.child_run_id : [],
    );
    expect(runs).toEqual(["r.a.1.part0", "r.a.1.part1", "r.a.1.part2"]);
  });

  test("W4 an empty list is an output, too", async () => {
    const world = worldOf({ enter: items(0) });
    expect((await run(each(), world)).outcome?.status).toBe("completed");
    expect(world.asked).toEqual(["n/a/1/enter", "n/a/1/do/settle", "finish"]);
  });
});
