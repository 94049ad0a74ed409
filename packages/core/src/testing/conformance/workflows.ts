import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import type { RunError } from "../../errors.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail } from "../../rails/rail.ts";
import { abort, skip } from "../../rails/verdicts.ts";
import type { Approval } from "../../schema/approval.ts";
import type { DurableEvent, DurableEventOf } from "../../schema/durable-events.ts";
import type { Json, JsonObject } from "../../schema/json.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { defineWorkflow, type Workflow } from "../../workflow.ts";
import { behaviour, collect, type MakeEngine, PATIENCE_MS, rejection, until } from "./behaviour.ts";
import { byRun, cast } from "./cast.ts";
import { assertSound, gate, noting } from "./tree-stage.ts";

/** Runs a workflow and reads everything it says. */
async function play(make: MakeEngine, workflow: Workflow, input: JsonObject = {}, options: object = {}) {
  const stream = workflow.stream(input, { engine: await make(), ...options });
  const events = (await collect(stream)) as DurableEvent[]; // with live ones, which are told apart by their type
  const ended = await stream.result.then(
    (result) => ({ result, error: undefined }),
    (error: RunError<RunResult<Json>>) => ({ result: error.result, error }),
  );
  return { events, ...ended };
}

/** What became of the nodes of a run, in order: `a:completed`, `b:skipped`. */
function nodesOf(events: readonly DurableEvent[], runId?: string): string[] {
  return nodeEvents(events, runId).map(({ node, state, port }) => `${node}:${port ?? state}`);
}

function nodeEvents(events: readonly DurableEvent[], runId = events[0]?.run_id): DurableEventOf<"node">[] {
  return events.filter(
    (event) => event.type === "node" && event.run_id === runId,
  ) as DurableEventOf<"node">[];
}

function ends(events: readonly DurableEvent[]): string[] {
  return nodesOf(events).filter((one) => !one.endsWith(":started"));
}

const echo = defineTool({
  name: "echo",
  effect: "none",
  input: z.object({ value: z.json() }),
  execute: ({ value }) => value as Json, // parsed as JSON
});

const tool = (value: Json, more: object = {}) => ({
  kind: "tool" as const,
  tool: echo,
  arguments: { value },
  ...more,
});

const yes = { approve: () => ({ choice: "approve" }) };

/** A tool that fails so many times before it works. */
function failing(times: number, effect: "none" | "once" = "none") {
  const tried: number[] = [];
  const made = defineTool({
    name: "flaky",
    effect,
    execute: (_args, { attempt }) => {
      tried.push(attempt);
      if (tried.length <= times) throw new Error(`not yet (${tried.length})`);
      return "worked";
    },
  });
  return { tool: made, tried };
}

/** Workflows: nodes on the same loop, world and engines as agents (W4, W5). */
export const workflows = [
  behaviour(
    "W4 values go from node to node, through tools, agents and the workflow's own output",
    async (make) => {
      const model = cast({ "Greet Ada, who is 36.": ["Hello, Ada."] });
      const agent = new Agent({ name: "greeter", model });
      const workflow = defineWorkflow({
        name: "greet",
        input: z.object({ name: z.string(), born: z.number() }),
        output: z.object({ greeting: z.string(), age: z.number(), all: z.array(z.json()) }),
        nodes: {
          person: tool({ name: "{{ input.name }}", age: 36, tags: ["a", "{{ input.born }}"] }),
          greet: {
            kind: "agent",
            agent,
            prompt: "Greet {{ nodes.person.name }}, who is {{ nodes.person.age }}.",
          },
          after: tool({ said: "{{ nodes.greet }}", first: '{{ nodes.person["tags"][1] }}' }),
        },
        edges: [
          { from: "person", to: "greet" },
          { from: "greet", to: "after" },
        ],
        result: {
          greeting: "{{ nodes.after.said }}",
          age: "{{ nodes.person.age }}",
          all: ["{{ nodes.after.first }}", "born {{ input.born }}", "{{ nodes.person.none? }}"],
        },
      });
      const engine = await make();
      const { output, steps, messages } = await workflow.run({ name: "Ada", born: 1815 }, { engine });
      assert.deepEqual(output, { greeting: "Hello, Ada.", age: 36, all: [1815, "born 1815", null] });
      assert.equal(steps, 0);
      assert.deepEqual(
        messages.map(({ role }) => role),
        ["user", "assistant"],
      );
    },
  ),

  behaviour(
    "W4 every node is told: that it began, what came of it, which run and call it had",
    async (make) => {
      const agent = new Agent({ name: "helper", model: cast({ hi: ["done"] }) });
      const workflow = defineWorkflow({
        name: "told",
        nodes: { a: tool(1), b: { kind: "agent", agent, prompt: "hi" } },
        edges: [{ from: "a", to: "b" }],
      });
      const { events, result } = await play(make, workflow);
      assert.deepEqual(result.output, { b: "done" });
      assertSound(events);
      const [a, aDone, b, bDone] = nodeEvents(events);
      assert.deepEqual([a?.node, a?.kind, a?.state, a?.attempt], ["a", "tool", "started", 1]);
      assert.deepEqual([aDone?.state, aDone?.output], ["completed", 1]);
      assert.deepEqual([b?.kind, bDone?.output, bDone?.usage?.model_calls], ["agent", "done", 1]);
      const child = byRun(events).get(bDone?.child_run_id ?? "");
      assert.equal(child?.at(-1)?.type, "status");
      assert.deepEqual(child?.[0]?.path, ["b"]);
      const call = events.find((event) => event.type === "tool_call");
      assert.equal(aDone?.call_id, call?.type === "tool_call" ? call.call_id : "");
      assert.equal(result.usage.model_calls, 1);
    },
  ),

  behaviour(
    "W4 nodes that do not depend on each other run beside each other, the others after them",
    async (make) => {
      const { tool: hold, state, open } = gate();
      const held = { kind: "tool" as const, tool: hold };
      const workflow = defineWorkflow({
        name: "parallel",
        nodes: { a: held, b: held, c: held, d: tool("{{ nodes.a }} {{ nodes.c }}") },
        edges: ["a", "b", "c"].map((from) => ({ from: from as "a", to: "d" as const })),
      });
      const run = workflow.run({}, { engine: await make() });
      await until(() => state.live === 3, "all three at once");
      open();
      assert.deepEqual((await run).output, { d: "held held" });
    },
  ),

  behaviour(
    "W4 a condition goes one way; what nothing leads to is skipped, what something leads to is not",
    async (make) => {
      const workflow = defineWorkflow({
        name: "ways",
        nodes: {
          large: { kind: "condition", if: { left: "{{ input.n }}", op: ">", right: 10 } },
          yes: tool("yes"),
          no: tool("no"),
          afterNo: tool("after no"),
          join: tool(["{{ nodes.yes? }}", "{{ nodes.no? }}", "{{ nodes.large }}"]),
        },
        edges: [
          { from: "large", to: "yes", when: "true" },
          { from: "large", to: "no", when: "false" },
          { from: "no", to: "afterNo" },
          { from: "yes", to: "join" },
          { from: "afterNo", to: "join" },
        ],
      });
      const large = await play(make, workflow, { n: 11 });
      assert.deepEqual(ends(large.events), [
        "large:true",
        "no:skipped",
        "afterNo:skipped",
        "yes:completed",
        "join:completed",
      ]);
      assert.deepEqual(large.result.output, { join: ["yes", null, true] });
      const small = await play(make, workflow, { n: 10 });
      assert.deepEqual(small.result.output, { join: [null, "no", false] });
    },
  ),

  behaviour("W4 a map has each item done, so many at a time, and keeps their order", async (make) => {
    const items = ["a", "b", "c", "d", "e"];
    const model = cast(Object.fromEntries(items.map((item, i) => [`${i}: ${item}`, [item.toUpperCase()]])));
    const agent = new Agent({ name: "upper", model });
    const { tool: hold, state, open } = gate();
    const workflow = defineWorkflow({
      name: "each",
      nodes: {
        words: {
          kind: "map",
          over: "{{ input.items }}",
          do: { kind: "agent", agent, prompt: "{{ index }}: {{ item }}" },
        },
        lengths: { kind: "map", over: "{{ nodes.words }}", do: { ...tool({ is: "{{ item }}" }) } },
        held: { kind: "map", over: "{{ input.items }}", do: { kind: "tool", tool: hold }, concurrency: 2 },
      },
      edges: [{ from: "words", to: "lengths" }],
    });
    const run = workflow.run({ items }, { engine: await make() });
    for (let done = 0; done < 4; done += 2) {
      await until(() => state.live === 2, "two at a time");
      open();
    }
    await until(() => state.live === 1, "the last one");
    open();
    const { output } = await run;
    assert.equal(state.peak, 2);
    assert.deepEqual(output, {
      lengths: ["A", "B", "C", "D", "E"].map((is) => ({ is })),
      held: items.map(() => "held"),
    });
  }),

  behaviour(
    "W4 an item that fails fails its map, or is an entry that says so; an empty list is an empty list",
    async (make) => {
      const odd = defineTool({
        name: "odd",
        effect: "none",
        input: z.object({ n: z.number() }),
        execute: ({ n }) => {
          if (n % 2 === 0) throw new Error(`${n} is even`);
          return n;
        },
      });
      const each = { kind: "map" as const, over: "{{ input.ns }}", concurrency: 1 };
      const work = { kind: "tool" as const, tool: odd, arguments: { n: "{{ item }}" } };
      const workflow = defineWorkflow({
        name: "odds",
        nodes: {
          all: { ...each, do: work, onError: "collect" },
          some: { ...each, do: work },
        },
      });
      const { events, error } = await play(make, workflow, { ns: [1, 2, 3] });
      const over = nodeEvents(events).filter(({ state }) => state !== "started");
      const [all, some] = ["all", "some"].map((id) => over.find(({ node }) => node === id));
      const told = (n: number) => ({
        status: "failed",
        failure: { code: "tool_failed", message: `${n} is even` },
      });
      assert.deepEqual(all?.output, [
        { status: "completed", output: 1 },
        told(2),
        { status: "completed", output: 3 },
      ]);
      assert.deepEqual([all?.items, all?.items_failed], [3, 1]);
      assert.equal(some?.failure?.message, "Item 1: 2 is even");
      assert.equal(error?.failure.code, "node_failed");
      const none = await play(make, workflow, { ns: [] });
      assert.deepEqual(none.result.output, { all: [], some: [] });
    },
  ),

  behaviour(
    "W5 an approval node asks in the words of its template, and its answer is its output",
    async (make) => {
      const asked: Approval[] = [];
      const workflow = defineWorkflow({
        name: "release",
        nodes: {
          ask: {
            kind: "approval",
            message: "Release {{ input.version }}?",
            show: { version: "{{ input.version }}", notes: ["{{ input.version }} is new"] },
            response: z.object({ window: z.string() }),
            irreversible: true,
          },
          release: tool("{{ nodes.ask.window }}"),
          plain: { kind: "approval", message: "And then?" },
        },
        edges: [
          { from: "ask", to: "release" },
          { from: "release", to: "plain" },
        ],
        result: ["{{ nodes.release }}", "{{ nodes.plain.decided_by }}"],
      });
      const approve = (approval: Approval) => {
        asked.push(approval);
        return approval.response_schema === null
          ? { choice: "approve", by: "ann" }
          : { choice: "approve", response: { window: "night" } };
      };
      const { result, events } = await play(make, workflow, { version: "2.0" }, { approve });
      assert.deepEqual(result.output, ["night", "ann"]);
      const [first] = asked;
      assert.deepEqual([first?.kind, first?.tool, first?.requester], ["workflow_node", "ask", "release"]);
      assert.deepEqual(first?.reasons, ["Release 2.0?"]);
      assert.deepEqual(first?.arguments, { version: "2.0", notes: ["2.0 is new"] });
      assert.equal(first?.irreversible, true);
      const told = events.filter((event) => event.type === "approval" && event.tool === "ask");
      assert.deepEqual(
        told.map((event) => event.type === "approval" && event.state),
        ["pending", "approved"],
      );
    },
  ),

  behaviour(
    "W5 a rejected approval fails its node with the reason, or takes its rejected edge",
    async (make) => {
      const reject = { approve: () => ({ choice: "reject", by: "bob", reason: "too late" }) };
      const nodes = {
        ask: { kind: "approval" as const, message: "Go?" },
        go: tool("went"),
        other: tool("stayed"),
      };
      const without = defineWorkflow({ name: "firm", nodes, edges: [{ from: "ask", to: "go" }] });
      const refused = await play(make, without, {}, reject);
      assert.deepEqual(
        ends(refused.events),
        ["other:completed", "ask:failed", "go:skipped"].toSorted(byOrder(refused.events)),
      );
      assert.match(refused.error?.message ?? "", /The node "ask" failed: Rejected by bob: too late/);
      assert.equal(refused.error?.failure.cause?.code, "rejected");
      const edges = [
        { from: "ask" as const, to: "go" as const },
        { from: "ask" as const, to: "other" as const, when: "rejected" as const },
      ];
      const kind = await play(make, defineWorkflow({ name: "kind", nodes, edges }), {}, reject);
      assert.deepEqual(ends(kind.events), ["ask:rejected", "go:skipped", "other:completed"]);
      assert.deepEqual(kind.result.output, { go: null, other: "stayed" });
    },
  ),

  behaviour("W5 an approval that nobody decides in time goes the same way", async (make) => {
    const workflow = defineWorkflow({
      name: "slow",
      nodes: { ask: { kind: "approval", message: "Go?", deadlineSeconds: 0.05 }, late: tool("late") },
      edges: [{ from: "ask", to: "late", when: "rejected" }],
    });
    const { events, result } = await play(make, workflow, {}, { approve: () => new Promise(() => {}) });
    assert.deepEqual(result.output, { late: "late" });
    const ask = nodeEvents(events).find(({ node, state }) => node === "ask" && state === "failed");
    assert.equal(ask?.failure?.code, "approval_timed_out");
  }),

  behaviour(
    "W4 a node is tried again as often as it says, and one whose tool may not run twice is not",
    async (make) => {
      const flaky = failing(2);
      const once = failing(2, "once");
      const retry = { attempts: 3, delayMs: 1 };
      const nodes = { try: { kind: "tool" as const, tool: flaky.tool, retry } };
      const works = await play(make, defineWorkflow({ name: "again", nodes }));
      assert.deepEqual(works.result.output, { try: "worked" });
      assert.deepEqual(nodesOf(works.events), [
        "try:started",
        "try:retrying",
        "try:started",
        "try:retrying",
        "try:started",
        "try:completed",
      ]);
      const single = defineWorkflow({
        name: "once",
        nodes: { try: { kind: "tool", tool: once.tool, retry } },
      });
      const fails = await play(make, single);
      assert.equal(once.tried.length, 1);
      assert.equal(fails.error?.failure.cause?.code, "tool_failed");
    },
  ),

  behaviour("W4 a node whose time is up is stopped and fails; the others go on", async (make) => {
    const { tool: hold, state } = gate();
    const workflow = defineWorkflow({
      name: "timed",
      nodes: {
        slow: { kind: "tool", tool: hold, timeoutMs: 40 },
        rescue: tool("rescued"),
        quick: tool("quick", { timeoutMs: 60_000 }),
      },
      edges: [{ from: "slow", to: "rescue", when: "failed" }],
    });
    const { result, events } = await play(make, workflow);
    assert.deepEqual(result.output, { slow: null, rescue: "rescued", quick: "quick" });
    const slow = nodeEvents(events).find(({ node, state: is }) => node === "slow" && is === "failed");
    assert.equal(slow?.failure?.code, "node_timed_out");
    await until(() => state.live === 0, "the tool was told");
  }),

  behaviour("W4 a wait waits, and a workflow inside another is a run of its own", async (make) => {
    const inner = defineWorkflow({
      name: "inner",
      input: z.object({ n: z.number() }),
      nodes: { wait: { kind: "wait", for: { seconds: "{{ input.n }}" } }, out: tool("waited {{ input.n }}") },
      edges: [{ from: "wait", to: "out" }],
      result: { said: "{{ nodes.out }}" },
    });
    const workflow = defineWorkflow({
      name: "outer",
      nodes: {
        in: { kind: "workflow", workflow: inner, input: { n: 0.01 } },
        out: tool("{{ nodes.in.said }}!"),
      },
      edges: [{ from: "in", to: "out" }],
    });
    const { result, events } = await play(make, workflow);
    assert.deepEqual(result.output, { out: "waited 0.01!" });
    assertSound(events);
    const child = nodeEvents(events).find(({ child_run_id }) => child_run_id)?.child_run_id ?? "";
    assert.deepEqual(nodesOf(events, child), [
      "wait:started",
      "wait:completed",
      "out:started",
      "out:completed",
    ]);
  }),

  behaviour("W4 a workflow inside another has its input checked, and its defaults", async (make) => {
    const inner = defineWorkflow({
      name: "inner",
      input: z.object({ n: z.number(), unit: z.string().default("m") }),
      nodes: { out: tool("{{ input.n }} {{ input.unit }}") },
      result: "{{ nodes.out }}",
    });
    const workflow = defineWorkflow({
      name: "outer",
      nodes: {
        good: { kind: "workflow", workflow: inner, input: { n: "{{ input.n }}" } },
        bad: { kind: "workflow", workflow: inner, input: { n: "{{ input.text }}" } },
        each: {
          kind: "map",
          over: "{{ input.ns }}",
          do: { kind: "workflow", workflow: inner, input: { n: "{{ item }}" } },
        },
      },
    });
    const { events } = await play(make, workflow, { n: 3, text: "three", ns: [1, 2] });
    const over = (id: string) =>
      nodeEvents(events).find(({ node, state }) => node === id && state !== "started");
    assert.equal(over("good")?.output, "3 m");
    assert.deepEqual(over("each")?.output, ["1 m", "2 m"]);
    assert.equal(over("bad")?.failure?.code, "node_invalid");
    assert.match(over("bad")?.failure?.message ?? "", /^input: n: /);
  }),

  behaviour(
    "W4 a failed node leaves the rest as it is: other branches end, what needs it is skipped",
    async (make) => {
      const bad = failing(9);
      const workflow = defineWorkflow({
        name: "rest",
        nodes: {
          bad: { kind: "tool", tool: bad.tool },
          needs: tool("{{ nodes.bad }}"),
          other: tool("other"),
          after: tool("{{ nodes.other }} too"),
          missing: tool("{{ input.nothing }}"),
        },
        edges: [
          { from: "bad", to: "needs" },
          { from: "other", to: "after" },
        ],
      });
      const { events, error } = await play(make, workflow);
      assert.deepEqual(ends(events).toSorted(), [
        "after:completed",
        "bad:failed",
        "missing:failed",
        "needs:skipped",
        "other:completed",
      ]);
      assert.equal(JSON.stringify(error?.failure.details), '{"nodes":["bad","missing"]}');
      const missing = nodeEvents(events).find(({ node, state }) => node === "missing" && state === "failed");
      assert.equal(missing?.failure?.code, "node_invalid");
      assert.match(missing?.failure?.message ?? "", /input\.nothing/);
      assertSound(events);
    },
  ),

  behaviour(
    "R14 the workflow's rails and gates guard its calls, its agents and the workflows in it",
    async (make) => {
      const [safe, gated] = [noting("safe"), noting("gated")];
      const model = cast({
        work: [{ calls: [{ tool: "gated" }, { tool: "safe", args: { n: 13 } }] }, "done"],
      });
      const agent = new Agent({ name: "worker", model, tools: [safe.tool, gated.tool] });
      const seen: string[] = [];
      const rails = [
        defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, (ctx) => {
          seen.push(ctx.inputs.toolName);
          return ctx.inputs.arguments["n"] === 13 ? skip("unlucky") : undefined;
        }),
      ];
      const inner = defineWorkflow({
        name: "inner",
        nodes: { call: { kind: "tool", tool: gated.tool, arguments: { n: 2 } } },
      });
      const workflow = defineWorkflow({
        name: "guarded",
        rails,
        hitlTools: ["gated"],
        nodes: {
          call: { kind: "tool", tool: safe.tool, arguments: { n: 1 } },
          agent: { kind: "agent", agent, prompt: "work" },
          inner: { kind: "workflow", workflow: inner },
        },
        edges: [
          { from: "call", to: "agent" },
          { from: "agent", to: "inner" },
        ],
      });
      const asked: (string | null)[] = [];
      const approve = ({ tool: name }: Approval) => {
        asked.push(name);
        return { choice: "reject" };
      };
      const { error } = await play(make, workflow, {}, { approve });
      assert.deepEqual(seen.toSorted(), ["gated", "gated", "safe", "safe"]);
      assert.deepEqual(asked, ["gated", "gated"]);
      assert.deepEqual([safe.ran.map(({ n }) => n), gated.ran], [[1], []]);
      assert.match(error?.message ?? "", /The node "inner" failed/);
    },
  ),

  behaviour("R9 a rail's abort ends the whole workflow, and every node that began is told", async (make) => {
    const { tool: hold, state } = gate();
    const agent = new Agent({
      name: "worker",
      model: cast({ work: [{ calls: [{ tool: "echo", args: { value: 1 } }] }, "not said"] }),
      tools: [echo],
    });
    const rails = [
      defineRail({ name: "guard", on: ["PRE_TOOL_CALL"], timeoutMs: PATIENCE_MS }, async (ctx) => {
        if (ctx.inputs.toolName !== "echo") return undefined;
        await until(() => state.live === 1, "the other one is at work");
        return abort("enough");
      }),
    ];
    const workflow = defineWorkflow({
      name: "aborted",
      rails,
      nodes: {
        held: { kind: "tool", tool: hold },
        agent: { kind: "agent", agent, prompt: "work" },
        after: tool("not run"),
      },
      edges: [{ from: "agent", to: "after" }],
    });
    const { events, error } = await play(make, workflow);
    assert.equal(error?.failure.code, "rail_aborted");
    assert.deepEqual(ends(events).toSorted(), ["agent:failed", "held:failed"]);
    assertSound(events);
  }),

  behaviour("X5 a cancel reaches every node, and what has begun is told", async (make) => {
    const { tool: hold, state } = gate();
    const held = { kind: "tool" as const, tool: hold };
    const inner = defineWorkflow({ name: "inner", nodes: { held } });
    const workflow = defineWorkflow({
      name: "cancelled",
      nodes: {
        a: held,
        b: { kind: "workflow", workflow: inner },
        ask: { kind: "approval", message: "?" },
        wait: { kind: "wait", for: { seconds: 3600 } },
        after: tool("not run"),
      },
      edges: [{ from: "a", to: "after" }],
    });
    const stream = workflow.stream({}, { engine: await make() });
    const reading = collect(stream) as Promise<DurableEvent[]>;
    await until(() => state.live === 2 && stream.pending.length === 1, "everything is under way");
    stream.cancel("enough");
    const error = await rejection(stream.result);
    assert.equal(error.name, "RunCancelledError");
    const events = await reading;
    assertSound(events);
    assert.deepEqual(ends(events).toSorted(), ["a:failed", "ask:failed", "b:failed", "wait:failed"]);
  }),

  behaviour(
    "L6 a workflow that has to ask is refused where nobody is there, before anything runs",
    ["no inbox"],
    async (make) => {
      const { tool: noted, ran } = noting("noted");
      const workflow = defineWorkflow({
        name: "asks",
        nodes: { first: { kind: "tool", tool: noted }, ask: { kind: "approval", message: "Go?" } },
        edges: [{ from: "first", to: "ask" }],
      });
      const engine = await make();
      const error = await rejection(workflow.run({}, { engine }));
      assert.match(error.message, /nodes that wait for somebody/);
      assert.deepEqual(ran, []);
      assert.deepEqual(
        await workflow.run({}, { engine, ...yes }).then(({ output }) => Object.keys(output as object)),
        ["ask"],
      );
    },
  ),
];

/** Sorts names of ends as they came in these events: for those whose order is not the point. */
function byOrder(events: readonly DurableEvent[]): (a: string, b: string) => number {
  const order = ends(events);
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}
