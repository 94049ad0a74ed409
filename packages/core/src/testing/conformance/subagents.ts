import assert from "node:assert/strict";
import { Agent } from "../../agent.ts";
import { defineRail } from "../../rails/rail.ts";
import { skip } from "../../rails/verdicts.ts";
import { behaviour, until } from "./behaviour.ts";
import { byRun, cast, offered, opening, outcomes, requestsOf, systemOf } from "./cast.ts";
import {
  assertSound,
  type Entry,
  entriesOf,
  gate,
  HOLD,
  noting,
  play,
  resultsOf,
  self,
  spawn,
} from "./tree-stage.ts";

/** Sub-agents: runs of their own, with what they are given, and what comes of them (S1 to S6). */
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
    const at = events.map((event) => (event.type === "subagent" ? event.state : event.run_id));
    assert.ok(at.indexOf("started") < at.indexOf(childId), "it is announced before it begins (E4)");
    assert.ok(at.lastIndexOf(childId) < at.indexOf("completed"), "and is over before that is told");
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
];
