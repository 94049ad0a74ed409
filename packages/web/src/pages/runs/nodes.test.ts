import { expect, test } from "vitest";
import type { Definition } from "../workflows/draft/definition.ts";
import { inOrder, nodesOf, placeIn, retryPlan } from "./nodes.ts";
import { countsOf, nodesStory } from "./nodes-story.ts";
import type { RunEvent } from "./types.ts";
import { glance, Waterfall } from "./waterfall.ts";

const tool = { kind: "tool", tool: "build" } as const;
const WORKFLOW: Definition = {
  name: "release",
  nodes: {
    last: tool,
    ask: { kind: "approval", name: "sign-off", message: "Go?" },
    build: tool,
    notes: { kind: "agent", agent: "writer", prompt: "Write." },
    hold: tool,
    each: { kind: "map", over: "{{ input.all }}", do: tool },
  },
  edges: [
    { from: "build", to: "ask" },
    { from: "notes", to: "ask" },
    { from: "ask", to: "last" },
    { from: "ask", to: "hold", when: "rejected" },
  ],
};

/** Events as a run writes them; each needs only what is read here. */
class Script {
  readonly #waterfall = new Waterfall("r");
  readonly #seqs = new Map<string, number>();
  #at = 0;

  say(type: RunEvent["type"], more: object, run = "r"): this {
    const seq = (this.#seqs.get(run) ?? 0) + 1;
    this.#seqs.set(run, seq);
    this.#at += 10;
    this.#waterfall.push({ type, run_id: run, turn_ref: "t", seq, at: this.#at, path: [], ...more } as never);
    return this;
  }

  node(node: string, state: string, more: object = {}, run = "r"): this {
    const kind = WORKFLOW.nodes[node]?.kind ?? "tool";
    return this.say("node", { node, kind, state, attempt: 1, ...more }, run);
  }

  call(node: string, item: number, run = "r"): this {
    return this.say(
      "tool_call",
      { call_id: `${run}.${node}.1.c${item}`, tool: "build", arguments: { item } },
      run,
    );
  }

  done(node: string, item: number, success = true, run = "r"): this {
    const metadata = { status: success ? "success" : "error", started_at: 0, completed_at: 0, attempts: 1 };
    const output = { type: "text", value: "" };
    return this.say(
      "tool_result",
      {
        call_id: `${run}.${node}.1.c${item}`,
        tool: "build",
        success,
        error: success ? null : "no such service",
        output,
        metadata: { ...metadata, skipped_by: null },
      },
      run,
    );
  }

  child(node: string, state: "started" | "completed", id: string, index = 0): this {
    return this.say("subagent", { child_run_id: id, call_id: node, index, state, status: "success" });
  }

  views(isOver = false) {
    return new Map(nodesOf(WORKFLOW, this.#waterfall, "r", isOver).map((view) => [view.id, view]));
  }

  rows(isFolded = false): string[] {
    return this.#waterfall
      .visible((row) => isFolded && row.tally !== undefined)
      .map(
        ({ depth, kind, title, note }) => `${"  ".repeat(depth)}${kind} ${title}${note ? `: ${note}` : ""}`,
      );
  }
}

const asked = (state: string) => ({
  approval_id: "a",
  kind: "workflow_node",
  state,
  call_id: "ask",
  tool: "ask",
  reasons: ["Go with 2.14?"],
  deadline: null,
});

test("W4 nodes stand in the order of their edges, whatever order they are written in", () => {
  expect(inOrder(WORKFLOW)).toEqual(["build", "notes", "each", "ask", "last", "hold"]);
});

test("W4 a node is one row, with its tries, its call and its agent's run below it", () => {
  const script = new Script()
    .node("build", "started")
    .node("notes", "started")
    .call("build", 0)
    .done("build", 0, false)
    .node("build", "retrying", { retry_in_ms: 500, failure: { code: "tool_failed", message: "no network" } })
    .node("build", "started", { attempt: 2 })
    .child("notes", "started", "r.notes.1")
    .say("step", { step: 1, state: "started" }, "r.notes.1");
  expect(script.views().get("build")).toMatchObject({ state: "running", attempt: 2 });
  script.node("build", "completed", { attempt: 2, output: { image: "x", tags: 2 } });
  expect(script.rows()).toEqual([
    "node build: 2 tries · image x, tags 2",
    "  tool build: failed: no such service",
    "  error Try 1 failed: no network",
    "node notes",
    "  subagent Its agent's run",
    "    step Step 1",
  ]);
  expect(script.views().get("notes")).toMatchObject({ state: "running", childRunId: "r.notes.1" });
});

test("W5 a node that asks waits, then goes its way; what nothing leads to says why", () => {
  const script = new Script().node("ask", "started").say("approval", asked("pending"));
  expect(script.views().get("ask")).toMatchObject({ state: "waiting", approvalId: "a", asks: ["a"] });
  expect(script.rows()[0]).toBe("node ask: Go with 2.14?");
  script
    .say("approval", { ...asked("rejected"), decided_by: "bo" })
    .node("ask", "failed", { port: "rejected", failure: { code: "rejected", message: "Rejected by bo" } })
    .node("last", "skipped", { reason: '"ask" rejected' })
    .node("hold", "completed", { reused: true });
  const views = script.views(true);
  expect(views.get("ask")).toMatchObject({ state: "failed", isHandled: true, asks: [], approvalId: "a" });
  expect(views.get("last")).toMatchObject({ state: "skipped", reason: '"ask" rejected' });
  expect(views.get("hold")).toMatchObject({ state: "done", isReused: true });
  expect(views.get("build")?.state).toBe("idle");
});

test("a question of a run below is asked by its node; what was under way at the end was stopped", () => {
  const script = new Script()
    .node("notes", "started")
    .child("notes", "started", "r.notes.1")
    .say("approval", { ...asked("pending"), kind: "tool_call", call_id: "c", tool: "deploy" }, "r.notes.1");
  expect(script.views().get("notes")).toMatchObject({ state: "waiting", asks: ["a"] });
  expect(script.views(true).get("notes")?.state).toBe("stopped");
});

test("W4 entries of a map are counted in its row; those of a long one lie in runs of a hundred", () => {
  const script = new Script().node("each", "started").call("each", 0).call("each", 1).done("each", 1, false);
  expect(script.rows(true)).toEqual(["node each: 1 done, 1 under way, 1 failed"]);
  expect(script.rows()).toContain("  tool Item 0: build item 0");

  const long = new Script().node("each", "started").child("each", "started", "r.each.1.part1", 1);
  long.node("each", "started", {}, "r.each.1.part1").call("each", 42, "r.each.1.part1");
  long.done("each", 42, true, "r.each.1.part1").node("each", "completed", { items: 1 }, "r.each.1.part1");
  expect(long.rows()).toEqual([
    "node each: 1 done",
    "  subagent Items 100–199: 1 done",
    "    tool Item 142: build item 42",
  ]);
  long.child("each", "completed", "r.each.1.part1", 1).node("each", "completed", { items: 150 });
  expect(long.rows(true)).toEqual(["node each: 150 items"]);
  expect(long.views().get("each")).toMatchObject({ state: "done", items: 150 });
});

test("W4 ten thousand entries are one row until somebody unfolds them", () => {
  const script = new Script().node("each", "started");
  for (let part = 0; part < 100; part += 1) {
    const run = `r.each.1.part${part}`;
    script.child("each", "started", run, part).node("each", "started", {}, run);
    for (let item = 0; item < 100; item += 1) script.call("each", item, run).done("each", item, true, run);
  }
  expect(script.rows(true)).toEqual(["node each: 10000 done"]);
  expect(script.rows()).toHaveLength(10_101);
});

test("X13 a retry runs the node, what follows it and what never ended; the rest is reused", () => {
  const views = [
    { id: "build", state: "done", isHandled: false },
    { id: "notes", state: "done", isHandled: false },
    { id: "each", state: "failed", isHandled: false },
    { id: "ask", state: "failed", isHandled: true },
    { id: "last", state: "skipped", isHandled: false },
    { id: "hold", state: "done", isHandled: false },
  ] as const;
  expect(retryPlan(WORKFLOW, views, "hold")).toEqual({
    again: ["each", "hold"],
    reused: ["build", "notes", "ask"],
  });
  expect(retryPlan(WORKFLOW, views, "notes")).toEqual({
    again: ["notes", "each", "ask", "last", "hold"],
    reused: ["build"],
  });
});

test("a run below says which node, try and entry it is of; a sub-agent's is of none", () => {
  expect(placeIn("run_1.notes.2", "run_1")).toEqual({ node: "notes", attempt: 2 });
  expect(placeIn("run_1.each.1.item7", "run_1")).toEqual({ node: "each", attempt: 1, item: 7 });
  expect(placeIn("run_1.each.1.part3", "run_1")).toEqual({ node: "each", attempt: 1, part: 3 });
  expect(placeIn("run_1.1.0.job0", "run_1")).toBeUndefined();
  expect(placeIn("run_2.notes.1", "run_1")).toBeUndefined();
});

test("a workflow's run says where it is and why it stopped", () => {
  const run = {
    status: "error",
    outcome: { status: "error", failure: { code: "node_failed", message: 'The node "a" failed: no' } },
    cancel_reason: null,
  } as never; // only what a story is told from
  const node = (id: string, state: string, more: object = {}) =>
    ({ id, title: id, state, isHandled: false, isReused: false, asks: [], ...more }) as never; // as above
  const failed = (id: string) =>
    node(id, "failed", { failure: { code: "tool_failed", message: `${id} is away` } });
  expect(nodesStory(run, [failed("a"), node("b", "skipped")])).toMatchObject({
    what: "The node a failed.",
    why: "a is away",
  });
  expect(nodesStory(run, [failed("a"), failed("b")]).what).toBe("2 nodes failed: a, b.");
  const waiting = {
    status: "waiting",
    outcome: null,
    cancel_reason: null,
    pending_approvals: ["x"],
  } as never; // as above
  expect(nodesStory(waiting, [node("ask", "waiting"), node("a", "done")]).what).toBe("It waits at ask.");
  expect(nodesStory(waiting, [node("ask", "waiting"), node("a", "running")]).what).toBe("a: under way.");
  expect(countsOf([node("a", "done", { isReused: true }), node("b", "done"), node("c", "skipped")])).toBe(
    "2 of 3 nodes done, 1 of them reused, 1 skipped",
  );
});

test("values at a glance: their first line, their fields, how many they are", () => {
  expect(glance("two\nlines")).toBe("two");
  expect(glance({ a: 1, b: "x" })).toBe("a 1, b x");
  expect(glance([1, 2])).toBe("2 entries");
  expect(glance(null)).toBe("");
});
