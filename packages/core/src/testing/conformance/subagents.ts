import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { RailAbortError } from "../../errors.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail } from "../../rails/rail.ts";
import { abort, skip } from "../../rails/verdicts.ts";
import type { Approval } from "../../schema/approval.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import type { Json } from "../../schema/json.ts";
import type { ToolMessage } from "../../schema/message.ts";
import { defineTool } from "../../tools/define-tool.ts";
import type { ScriptedStep } from "../scripted-model.ts";
import { behaviour, collect, type MakeEngine, rejection, until } from "./behaviour.ts";
import { byRun, type Cast, cast, offered, opening, outcomes, requestsOf, systemOf } from "./cast.ts";

interface Entry {
  readonly index: number;
  readonly status: "success" | "error";
  readonly output?: string;
  readonly structured?: Json;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: { readonly model_calls: number; readonly input_tokens: number };
}

const spawn = (...jobs: readonly (string | object)[]) => ({
  tool: "spawn_parallel",
  args: { jobs: jobs.map((job) => (typeof job === "string" ? { task: job } : job)) },
});
const self = (task: string, more: object = {}) => ({ tool: "spawn_self", args: { task, ...more } });

/** Notes with what it runs, and for whom. */
function noting(name: string, more: object = {}) {
  const ran: { n: number; scope: unknown; runId: string; turnRef: string }[] = [];
  const tool = defineTool({
    name,
    input: z.object({ n: z.number().default(0) }),
    execute: ({ n }, { scope, runId, turnRef }) => {
      ran.push({ n, scope, runId, turnRef });
      return `${name} ${n}`;
    },
    ...more,
  });
  return { tool, ran };
}

/** A tree of agents at work: the root is told "Go". */
async function play(
  make: MakeEngine,
  parts: Cast,
  config: object = {},
  options: { scope?: Record<string, Json>; approve?: (approval: Approval) => { choice: string } } = {},
) {
  const model = cast(parts);
  const agent = new Agent({
    name: "root",
    model,
    allowParallelSubagents: true,
    allowSelfSpawn: true,
    ...config,
  });
  const stream = agent.stream("Go", { engine: await make(), ...options });
  const events = (await collect(stream)) as DurableEvent[]; // with live ones, which are told apart by their type
  const ended = await stream.result.then(
    (result) => ({ result, error: undefined }),
    (error: RailAbortError<RunResult<string>>) => ({ result: error.result, error }),
  );
  return { model, agent, events, ...ended };
}

function resultsOf({ messages }: Pick<RunResult<unknown>, "messages">): ToolMessage[] {
  return messages.filter((message) => message.role === "tool");
}

/** The entries of the first spawn call. */
function entriesOf({ messages }: Pick<RunResult<unknown>, "messages">): readonly Entry[] {
  const [value] = outcomes(messages) as [{ results: readonly Entry[] }];
  return value.results;
}

/** Each run's events count from 1 without a gap, and end with its one terminal status; each call has its one result. */
function assertSound(events: readonly DurableEvent[]): void {
  for (const [run, own] of byRun(events)) {
    assert.deepEqual(
      own.map(({ seq }) => seq),
      own.map((_, i) => i + 1),
      `the events of ${run} are counted without a gap`,
    );
    const ends = own.filter((event) => event.type === "status" && event.status !== "starting");
    assert.deepEqual(ends, own.slice(-1), `${run} ends once`);
    const called = own.flatMap((event) => (event.type === "tool_call" ? [event.call_id] : []));
    const answered = own.flatMap((event) => (event.type === "tool_result" ? [event.call_id] : []));
    assert.deepEqual(answered.toSorted(), called.toSorted(), `every call of ${run} is paired`);
  }
}

function statuses(events: readonly DurableEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "status" && event.status !== "starting" ? [event.status] : [],
  );
}

/** Holds whoever comes in until it is opened, and knows how many are in. */
function gate() {
  const waiting: (() => void)[] = [];
  const state = { live: 0, peak: 0 };
  const tool = defineTool({
    name: "hold",
    effect: "idempotent",
    execute: async (_args, { signal }) => {
      state.live += 1;
      state.peak = Math.max(state.peak, state.live);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        signal.addEventListener("abort", () => resolve());
      });
      state.live -= 1;
      return "held";
    },
  });
  const open = () => {
    for (const go of waiting.splice(0)) go();
  };
  return { tool, state, open };
}

const HOLD: ScriptedStep = { calls: [{ tool: "hold" }] };

/** Sub-agents: runs of their own, under everything that guards their parent (S1 to S6, R14, L7). */
export const subagents = [
  behaviour("S1 S4 a sub-agent starts afresh, and its end is the result of the call", async (make) => {
    const t = noting("t");
    const { model, result, events } = await play(
      make,
      {
        Go: [{ text: "I delegate.", calls: [self("look", { additional_context: "It is red." })] }, "done"],
        look: [{ calls: [{ tool: "t", args: { n: 1 } }] }, "found it"],
      },
      { tools: [t.tool], instructions: "Be kind." },
      { scope: { user: "ann" } },
    );
    assert.equal(result.output, "done");
    const [entry] = outcomes(result.messages) as [Entry];
    assert.deepEqual(
      { ...entry, usage: undefined },
      {
        index: 0,
        status: "success",
        output: "found it",
        usage: undefined,
      },
    );
    assert.equal(entry.usage.model_calls, 2);
    assert.equal(result.usage.model_calls, 4);

    const [first] = requestsOf(model, "look");
    assert.equal(systemOf(first), "Be kind.");
    assert.equal(first?.prompt.length, 2, "the system prompt and the task");
    assert.match(JSON.stringify(first?.prompt), /Task:\\nlook\\n\\nAdditional context:\\nIt is red\./);
    assert.doesNotMatch(JSON.stringify(requestsOf(model, "Go")[1]?.prompt), /"t 1"/);

    assertSound(events);
    const runs = byRun(events);
    assert.equal(runs.size, 2);
    const [[rootId = "", own] = [], [childId = "", childs] = []] = [...runs];
    assert.ok(childId.startsWith(rootId));
    assert.ok(own?.every(({ path }) => path.length === 0));
    assert.ok(childs?.every(({ path }) => path.length === 1 && path[0] === childs[0]?.path[0]));
    assert.equal(new Set(events.map(({ turn_ref }) => turn_ref)).size, 1, "they are of one turn");
    const told = own?.flatMap((event) => (event.type === "subagent" ? [event] : [])) ?? [];
    assert.deepEqual(
      told.map(({ child_run_id, index, state }) => [child_run_id, index, state]),
      [
        [childId, 0, "started"],
        [childId, 0, "completed"],
      ],
    );
    assert.deepEqual(t.ran, [
      { n: 1, scope: { tenant: "default", user: "ann" }, runId: childId, turnRef: events[0]?.turn_ref },
    ]);
  }),

  behaviour("S2 what cannot be done is refused before any sub-agent starts", async (make) => {
    const t = noting("t");
    const unsafe = noting("unsafe", { childSafe: false });
    const bad: readonly (readonly [object, RegExp])[] = [
      [{ jobs: [] }, /jobs/],
      [{ jobs: [1, 2, 3].map((n) => ({ task: `job ${n}` })) }, /jobs/],
      [{ jobs: [{ task: "fine" }, { task: "not", tool_names: ["nope"] }] }, /tool_names\[0\].*nope/],
      [{ jobs: [{ task: "fine" }, { task: "not", tool_names: ["t", "unsafe"] }] }, /tool_names\[1\].*unsafe/],
      [{ jobs: [{ task: "not", tool_names: ["spawn_self"] }] }, /other than spawn and handoff/],
      [{ jobs: [{ task: "not", tool_names: ["spawn_parallel"] }] }, /other than spawn and handoff/],
      [{ jobs: [{ task: "fine" }, { task: "not", output_schema: { type: "elephant" } }] }, /output_schema/],
      [{ jobs: [{ task: "not", output_schema: { $ref: "https://example.com/x" } }] }, /output_schema/],
      [{ jobs: [{ task: " " }] }, /task/],
      [{ jobs: [{ task: "not", colour: "red" }] }, /colour/],
    ];
    const { model, result, events } = await play(
      make,
      { Go: [{ calls: bad.map(([args]) => ({ tool: "spawn_parallel", args })) }, "done"] },
      { tools: [t.tool, unsafe.tool], maxParallelSubagents: 2 },
    );
    assert.equal(result.output, "done");
    assert.deepEqual(
      outcomes(result.messages),
      bad.map(() => "tool_arguments_invalid"),
    );
    for (const [i, message] of resultsOf(result).entries()) {
      const text = message.output.type === "error" ? message.output.failure.message : "";
      assert.match(text, bad[i]?.[1] ?? /^$/);
      assert.equal(message.metadata.started_at, message.metadata.completed_at);
    }
    assert.equal(byRun(events).size, 1);
    assert.equal(model.requests.length, 2);
    assert.ok(events.every(({ type }) => type !== "subagent"));
  }),

  behaviour("S2 calls of one parent share its slots, and spawn_self takes none", async (make) => {
    const { tool, state, open } = gate();
    const tasks = ["a", "b", "c", "d"];
    const model = cast({
      Go: [{ calls: [spawn("a", "b"), spawn("c", "d"), self("e")] }, "done"],
      ...Object.fromEntries([...tasks, "e"].map((task) => [task, [HOLD, `${task} is done`]])),
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [tool],
      allowParallelSubagents: true,
      allowSelfSpawn: true,
      maxParallelSubagents: 2,
    });
    const run = agent.run("Go", { engine: await make() });
    await until(() => state.live === 3, "two of four, and the one that takes no slot");
    for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state.peak, 3);
    open();
    await until(() => state.live === 2, "the other two");
    open();
    const result = await run;
    assert.equal(state.peak, 3);
    const [first, second] = outcomes(result.messages) as { results: Entry[] }[];
    const said = [...(first?.results ?? []), ...(second?.results ?? [])].map(({ output }) => output);
    assert.deepEqual(
      said,
      tasks.map((task) => `${task} is done`),
    );
  }),

  behaviour(
    "S3 a sub-agent has the tools it is given, all of them, or none; nobody else's change",
    async (make) => {
      const [t, u] = [noting("t"), noting("u")];
      const unsafe = noting("unsafe", { childSafe: false });
      const jobs = [
        { task: "all" },
        { task: "null", tool_names: null },
        { task: "none", tool_names: [] },
        { task: "equal", tool_names: ["u", "t"] },
        { task: "one", tool_names: ["u"], system_prompt: "You are a clerk." },
      ];
      const tools = [t.tool, u.tool, unsafe.tool];
      const { model, agent, result } = await play(
        make,
        {
          Go: [{ calls: [spawn(...jobs)] }, "done"],
          ...Object.fromEntries(jobs.map(({ task }) => [task, ["ok"]])),
          one: [{ calls: [{ tool: "t" }, { tool: "spawn_self", args: { task: "x" } }] }, "ok"],
        },
        { tools, instructions: "Be kind.", maxParallelSubagents: 5 },
      );
      const of = (task: string) => requestsOf(model, task)[0];
      const all = ["t", "u", "spawn_self", "spawn_parallel"];
      assert.deepEqual(offered(of("Go")), ["t", "u", "unsafe", "spawn_self", "spawn_parallel"]);
      assert.deepEqual(
        jobs.map(({ task }) => offered(of(task))),
        [all, all, [], ["t", "u"], ["u"]],
      );
      assert.equal(systemOf(of("one")), "Be kind.\n\nYou are a clerk.");
      assert.equal(systemOf(of("all")), "Be kind.");
      assert.deepEqual(t.ran, [], "what it was not given it cannot call");
      assert.deepEqual(offered(requestsOf(model, "Go")[1]), offered(of("Go")));
      assert.equal(systemOf(requestsOf(model, "Go")[1]), "Be kind.");
      assert.deepEqual(agent.tools, tools);
      assert.equal(
        result.messages.length,
        4,
        "the log has the question, the call, its result and the answer",
      );
    },
  ),

  behaviour("S3 sub-agents have sub-agents, down to depth 3", async (make) => {
    const { model, result, events } = await play(make, {
      Go: [{ calls: [self("one")] }, "done"],
      one: [{ calls: [spawn("two")] }, "one is done"],
      two: [{ calls: [self("three")] }, "two is done"],
      three: [{ calls: [self("four")] }, "three is done"],
    });
    assert.equal(result.output, "done");
    const both = ["spawn_self", "spawn_parallel"];
    assert.deepEqual(
      ["Go", "one", "two", "three"].map((who) => offered(requestsOf(model, who)[0])),
      [both, both, both, []],
    );
    assert.equal(requestsOf(model, "four").length, 0);
    assertSound(events);
    assert.deepEqual(
      [...byRun(events).values()].map(([first]) => first?.path.length).toSorted(),
      [0, 1, 2, 3],
    );
    assert.equal(result.usage.model_calls, 8, "usage adds up through the tree");
  }),

  behaviour("S5 entries come in the order of the jobs, and one failure is one entry", async (make) => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const jobs = [
      { task: "slow" },
      { task: "breaks" },
      { task: "typed", output_schema: schema },
      { task: "repaired", output_schema: schema },
      { task: "never", output_schema: schema },
      { task: "fenced", output_schema: schema },
    ];
    let quick = 0;
    const quickly = (text: string) => () => {
      quick += 1;
      return text;
    };
    const { model, result, events } = await play(
      make,
      {
        Go: [{ calls: [spawn(...jobs)] }, "done"],
        slow: [
          async () => {
            await until(() => quick === 4, "the others went first");
            return "late";
          },
        ],
        breaks: [{ error: new Error("no luck") }],
        typed: [quickly('{"n":1}')],
        repaired: ["two", quickly('{"n":2}')],
        never: ["three", quickly("still three")],
        fenced: [quickly('```json\n{"n":4}\n```')],
      },
      { maxParallelSubagents: 7 },
    );
    const entries = entriesOf(result);
    assert.deepEqual(
      entries.map(({ index, status }) => [index, status]),
      [
        [0, "success"],
        [1, "error"],
        [2, "success"],
        [3, "success"],
        [4, "error"],
        [5, "success"],
      ],
    );
    assert.equal(entries[0]?.output, "late");
    assert.match(entries[1]?.error?.message ?? "", /no luck/);
    assert.deepEqual(
      [2, 3, 5].map((i) => entries[i]?.structured),
      [{ n: 1 }, { n: 2 }, { n: 4 }],
    );
    assert.equal(entries[4]?.error?.code, "output_invalid");
    assert.equal(requestsOf(model, "never").length, 2, "one repair attempt");
    assert.match(JSON.stringify(requestsOf(model, "repaired")[1]?.prompt), /does not fit/);
    assert.equal(result.output, "done");
    assertSound(events);
    const calls = entries.reduce((sum, { usage }) => sum + usage.model_calls, 0);
    assert.equal(result.usage.model_calls, calls + 2);
  }),

  behaviour(
    "T2 R4 a spawn call is a call: rails see and change its jobs, and see what came of them",
    async (make) => {
      const seen: unknown[] = [];
      const rails = [
        defineRail({ name: "pre", on: ["PRE_TOOL_CALL"] }, (ctx) => {
          if (ctx.inputs.toolName === "spawn_self") return skip("not now");
          ctx.inputs.arguments = { jobs: [{ task: "harmless" }] };
          return undefined;
        }),
        defineRail({ name: "post", on: ["POST_TOOL_CALL"] }, (ctx) => {
          seen.push(ctx.inputs.arguments, ctx.inputs.result, ctx.inputs.metadata);
        }),
      ];
      const { model, result, events } = await play(
        make,
        { Go: [{ calls: [spawn("harmful"), self("more harm")] }, "done"], harmless: ["ok"] },
        { rails },
      );
      assert.deepEqual(
        model.requests.map(opening).toSorted(),
        ["Go", "Go", "harmless"],
        "only what was let through ran",
      );
      const [ran, skipped] = resultsOf(result);
      assert.equal(entriesOf(result)[0]?.output, "ok");
      assert.deepEqual(ran?.metadata.original_args, { jobs: [{ task: "harmful" }] });
      assert.ok((ran?.metadata.completed_at ?? 0) >= (ran?.metadata.started_at ?? 1));
      assert.deepEqual([skipped?.metadata.status, skipped?.metadata.skipped_by], ["rejected", "pre"]);
      assert.match(
        JSON.stringify(requestsOf(model, "Go")[1]?.prompt),
        /other arguments than you wrote.*harmless/,
      );
      assert.equal(seen.length, 3);
      assert.deepEqual(seen[0], { jobs: [{ task: "harmless" }] });
      assert.deepEqual((seen[1] as { results: Entry[] }).results[0]?.output, "ok");
      assertSound(events);
    },
  ),

  behaviour(
    "R14 a tool that a rail refuses or a human declines never runs in a sub-agent either",
    async (make) => {
      const [bad, gated, good] = [noting("bad"), noting("gated"), noting("good")];
      const rails = [
        defineRail({ name: "no-bad", on: ["PRE_TOOL_CALL"] }, (ctx) =>
          ctx.inputs.toolName === "bad" ? skip("no") : undefined,
        ),
      ];
      const calls = { calls: [{ tool: "bad" }, { tool: "gated" }, { tool: "good" }] };
      const { result, events } = await play(
        make,
        {
          Go: [{ calls: [spawn("child", { task: "narrow", tool_names: ["bad", "gated", "good"] })] }, "done"],
          child: [{ calls: [...calls.calls, self("grandchild")] }, "child is done"],
          grandchild: [calls, "grandchild is done"],
          narrow: [calls, "narrow is done"],
        },
        { tools: [bad.tool, gated.tool, good.tool], rails, hitlTools: ["gated"] },
        { approve: () => ({ choice: "reject" }) },
      );
      assert.equal(result.output, "done");
      assert.deepEqual([bad.ran.length, gated.ran.length, good.ran.length], [0, 0, 3]);
      assertSound(events);
      const refused = events.flatMap((event) =>
        event.type === "tool_result" && event.metadata.status === "rejected" ? [event.tool] : [],
      );
      assert.deepEqual(refused.toSorted(), ["bad", "bad", "bad", "gated", "gated", "gated"]);
    },
  ),

  behaviour(
    "R14 R9 an abort anywhere in the tree ends all of it, with one error and every call paired",
    async (make) => {
      const { tool, state } = gate();
      const bad = noting("bad");
      const rails = [
        defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, async (ctx) => {
          if (ctx.inputs.toolName !== "bad") return undefined;
          await until(() => state.live === 2, "the others are at work");
          return abort("enough");
        }),
      ];
      const { events, error, result } = await play(
        make,
        {
          Go: [{ calls: [spawn("child", "sibling"), { tool: "hold" }] }, "not said"],
          child: [{ calls: [self("grandchild")] }, "not said"],
          grandchild: [{ calls: [{ tool: "bad" }] }, "not said"],
          sibling: [HOLD, "not said"],
        },
        { tools: [tool, bad.tool], rails },
      );
      assert.ok(error instanceof RailAbortError);
      assert.deepEqual([error.railName, error.point, error.reason], ["guard", "PRE_TOOL_CALL", "enough"]);
      assert.deepEqual(bad.ran, []);
      assertSound(events);
      assert.deepEqual(statuses(events).toSorted(), ["cancelled", "error", "error", "error"]);
      assert.deepEqual(outcomes(result.messages), ["cancelled_unknown", "cancelled_unknown"]);
    },
  ),

  behaviour("R5 a limit holds over the whole tree", async (make) => {
    const t = noting("t");
    const rails = [
      defineRail({ name: "limit", on: ["PRE_TOOL_CALL"] }, async (ctx) => {
        if (ctx.inputs.toolName !== "t") return undefined;
        const { granted } = await ctx.reserve("t", 1, 3);
        return granted ? undefined : skip("no more");
      }),
    ];
    const twice = { calls: [{ tool: "t" }, { tool: "t" }] };
    const { result } = await play(
      make,
      {
        Go: [{ calls: [spawn("a", "b"), { tool: "t" }] }, "done"],
        a: [twice, "ok"],
        b: [{ calls: [self("c")] }, "ok"],
        c: [twice, "ok"],
      },
      { tools: [t.tool], rails },
    );
    assert.equal(result.output, "done");
    assert.equal(t.ran.length, 3);
  }),

  behaviour("X5 a cancel reaches sub-agents at once, and every call has its result", async (make) => {
    const { tool, state } = gate();
    const model = cast({
      Go: [{ calls: [spawn("a", "b"), spawn("c")] }],
      ...Object.fromEntries(["a", "b", "c"].map((task) => [task, [{ calls: [self(`${task}, deep`)] }]])),
      ...Object.fromEntries(["a", "b", "c"].map((task) => [`${task}, deep`, [HOLD]])),
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [tool],
      allowParallelSubagents: true,
      allowSelfSpawn: true,
      maxParallelSubagents: 2,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const reading = collect(stream);
    await until(() => state.live === 2, "both slots are taken");
    stream.cancel("enough");
    const error = await rejection(stream.result);
    assert.equal(error.name, "RunCancelledError");
    const events = (await reading) as DurableEvent[];
    assertSound(events);
    assert.ok(statuses(events).every((status) => status === "cancelled"));
    assert.equal(byRun(events).size, 5, "whoever waited in line never began");
    assert.equal(
      events.filter((event) => event.type === "subagent" && event.state === "started").length,
      events.filter((event) => event.type === "subagent" && event.state === "completed").length,
    );
    const { messages } = error.result as RunResult<string>; // every error of a run carries it
    assert.deepEqual(outcomes(messages), ["cancelled_unknown", "cancelled_unknown"]);
    await until(() => state.live === 0, "the tools have been told");
  }),

  behaviour("L7 approvals of sub-agents and theirs reach whoever holds the stream", async (make) => {
    const pay = noting("pay");
    const locate = defineTool({
      name: "locate",
      input: z.object({}),
      output: z.object({ city: z.string() }),
      executor: "client",
    });
    const model = cast({
      Go: [{ calls: [spawn("a", "b")] }, "done"],
      a: [{ calls: [self("deep")] }, "ok"],
      deep: [{ calls: [{ tool: "pay", args: { n: 1 } }] }, "ok"],
      b: [{ calls: [{ tool: "pay", args: { n: 2 } }, { tool: "locate" }] }, "ok"],
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [pay.tool, locate],
      hitlTools: ["pay"],
      allowParallelSubagents: true,
      allowSelfSpawn: true,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const reading = collect(stream);
    await until(() => stream.pending.length === 3, "three wait at once");
    const waiting = (kind: string, n?: number) =>
      stream.pending.find((one) => one.kind === kind && (n === undefined || one.arguments?.["n"] === n))
        ?.id ?? "";
    const [deep, broad, client] = [waiting("tool_call", 1), waiting("tool_call", 2), waiting("client_tool")];
    assert.equal(new Set([deep, broad, client]).size, 3);
    await stream.decide(broad, { choice: "reject", reason: "too much" });
    await stream.decide(client, { choice: "submit", response: { city: "Ghent" } });
    await stream.decide(deep, { choice: "approve", editedArguments: { n: 7 } });
    const result = await stream.result;
    const events = (await reading) as DurableEvent[];
    assert.equal(result.output, "done");
    assert.deepEqual(
      pay.ran.map(({ n }) => n),
      [7],
    );
    assert.match(JSON.stringify(requestsOf(model, "b")[1]?.prompt), /too much.*Ghent/);
    assertSound(events);
    const asked = events.flatMap((event) =>
      event.type === "approval" && event.state === "pending" ? [event.path.length] : [],
    );
    assert.deepEqual(asked.toSorted(), [1, 1, 2], "each is told where it was asked");
  }),

  behaviour("L7 X5 a cancel closes what sub-agents wait for", async (make) => {
    const pay = noting("pay");
    const model = cast({
      Go: [{ calls: [spawn("a", "b")] }],
      a: [{ calls: [{ tool: "pay" }] }],
      b: [{ calls: [{ tool: "pay" }] }],
    });
    const agent = new Agent({
      name: "root",
      model,
      tools: [pay.tool],
      hitlTools: ["pay"],
      allowParallelSubagents: true,
    });
    const stream = agent.stream("Go", { engine: await make() });
    const reading = collect(stream);
    await until(() => stream.pending.length === 2, "both wait");
    const ids = stream.pending.map(({ id }) => id);
    stream.cancel("enough");
    await rejection(stream.result);
    for (const id of ids) {
      const late = await rejection(stream.decide(id, { choice: "approve" }));
      assert.equal(late.code, "approval_conflict");
    }
    assert.deepEqual(pay.ran, []);
    assertSound((await reading) as DurableEvent[]);
  }),
];
