import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { streamTransformer } from "../../bind-guards.ts";
import { RailAbortError } from "../../errors.ts";
import { postHook, preHook } from "../../hooks/pipeline-hooks.ts";
import { cont, regenerate } from "../../hooks/turn.ts";
import type { AgentBinding } from "../../local/bound-agent.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail, type RailReturn } from "../../rails/rail.ts";
import { abort, alert, ask, retry, skip } from "../../rails/verdicts.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import type { HookPoint } from "../../schema/points.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { type Script, scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, type MakeEngine, trace } from "./behaviour.ts";
import { offered, outcomes, systemOf } from "./cast.ts";

const to = (agent: string, more: object = {}) => ({
  calls: [{ tool: `handoff_to_${agent}`, args: { reason: `${agent} knows`, ...more } }],
});

/** An agent with a model of its own, which says these things. */
function member(name: string, script: Script, config: object = {}) {
  const model = scriptedModel(script, { modelId: name });
  const agent = new Agent({ name, model, instructions: `You are ${name}.`, ...config });
  return { agent, model };
}

function noting(name: string) {
  const ran: number[] = [];
  const tool = defineTool({
    name,
    input: z.object({ n: z.number().default(0) }),
    execute: ({ n }) => {
      ran.push(n);
      return `${name} ${n}`;
    },
  });
  return { tool, ran };
}

async function play(make: MakeEngine, agent: Agent, options: object = {}) {
  const stream = agent.stream("Go", { engine: await make(), ...options });
  const events = (await collect(stream)) as DurableEvent[]; // with live ones, which are told apart by their type
  const ended = await stream.result.then(
    (result) => ({ result, error: undefined }),
    (error: RailAbortError<RunResult<string>>) => ({ result: error.result, error }),
  );
  return { events, ...ended };
}

function handoffs(events: readonly DurableEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "handoff" ? [`${event.from} > ${event.to}: ${event.reason}`] : [],
  );
}

/** Triage, which hands over as soon as it is asked, to a specialist. */
function pair(specialist: AgentBinding, config: object = {}, rest: Script = ["I do it myself."]) {
  return member("triage", [to("specialist"), ...(rest as readonly string[])], {
    handoffs: [specialist],
    ...config,
  });
}

/** The turn goes to another agent (S7), and everybody's guards go with it (R14). */
export const handoff = [
  behaviour(
    "S7 the turn goes to another agent: its instructions, model and tools, and the same log",
    async (make) => {
      const [own, other] = [noting("own"), noting("other")];
      const specialist = member("specialist", [{ calls: [{ tool: "other", args: { n: 2 } }] }, "cured"], {
        tools: [other.tool],
      });
      const triage = member(
        "triage",
        [
          { text: "Let me look.", calls: [{ tool: "own", args: { n: 1 } }] },
          to("specialist", { input: "Cure the user." }),
        ],
        { tools: [own.tool], handoffs: [specialist.agent] },
      );
      const { events, result } = await play(make, triage.agent);
      assert.equal(result.output, "cured");
      assert.deepEqual(handoffs(events), ["triage > specialist: specialist knows"]);
      assert.deepEqual([own.ran, other.ran], [[1], [2]]);
      assert.deepEqual(offered(triage.model.requests[0]), ["own", "handoff_to_specialist"]);
      assert.deepEqual(offered(specialist.model.requests[0]), ["other"]);
      assert.equal(systemOf(specialist.model.requests[0]), "You are specialist.");
      const seen = JSON.stringify(specialist.model.requests[0]?.prompt);
      assert.match(seen, /Go.*Let me look\..*own 1.*Cure the user\..*Handed over to specialist/);
      assert.deepEqual(outcomes(result.messages), ["own 1", "Handed over to specialist.", "other 2"]);
      assert.equal(new Set(events.map(({ run_id }) => run_id)).size, 1, "it is one run");
      assert.equal(result.usage.model_calls, 4);
      const told = trace(events);
      assert.ok(told.indexOf("tool_result:handoff_to_specialist:success") < told.indexOf("handoff"));
      assert.ok(told.indexOf("handoff") < told.indexOf("step:2:completed"));
    },
  ),

  behaviour("S7 the shape of the answer and the number of steps stay the first agent's", async (make) => {
    const shape = z.object({ n: z.number() });
    const specialist = member("specialist", ["one", '{"n":1}'], {
      outputSchema: z.object({ text: z.string() }),
      maxSteps: 1,
    });
    const shaped = pair(specialist.agent, { outputSchema: shape });
    const { result } = await play(make, shaped.agent);
    assert.deepEqual(result.output, { n: 1 });

    const endless = member("specialist", [{ text: "still at it", calls: [{ tool: "t" }] }], {
      tools: [noting("t").tool],
    });
    const short = pair(endless.agent, { maxSteps: 2 });
    const stopped = (await play(make, short.agent)).result;
    assert.deepEqual([stopped.output, stopped.stopReason], ["still at it", "max_steps"]);
  }),

  behaviour(
    "S7 pre-hooks do not run again, post-hooks are the target's, and it regenerates",
    async (make) => {
      const ran: string[] = [];
      const pre = (name: string) =>
        preHook({ name }, (turn) => {
          ran.push(name);
          return cont(turn.append(`${name} says so`));
        });
      const post = (name: string) =>
        postHook({ name }, (turn) => {
          ran.push(`${name}: ${turn.answer}`);
          return turn.answer === "draft" ? regenerate("try again") : cont(turn);
        });
      const specialist = member("specialist", ["draft", "cured"], {
        hooks: { pre: [pre("pre-b")], post: [post("post-b")] },
      });
      const triage = pair(specialist.agent, { hooks: { pre: [pre("pre-a")], post: [post("post-a")] } });
      const { result } = await play(make, triage.agent);
      assert.equal(result.output, "cured");
      assert.deepEqual(ran, ["pre-a", "post-b: draft", "post-b: cured"]);
      const [first, second] = specialist.model.requests;
      assert.match(JSON.stringify(first?.prompt), /pre-a says so/, "the turn's tail stays");
      assert.match(JSON.stringify(second?.prompt), /draft.*try again/);
      assert.equal(systemOf(second), "You are specialist.");
    },
  ),

  behaviour(
    "R14 rails of both are one list, the origin's first on ties, and are told apart by name",
    async (make) => {
      const order: string[] = [];
      const rails = (agent: string) => [
        defineRail(
          { name: "late", priority: 60, on: ["PRE_LLM_CALL"] },
          () => void order.push(`${agent}/late`),
        ),
        defineRail(
          { name: "even", priority: 50, on: ["PRE_LLM_CALL"] },
          () => void order.push(`${agent}/even`),
        ),
        defineRail({ name: "early", priority: 40, on: ["PRE_LLM_CALL"] }, () => {
          order.push(`${agent}/early`);
          return alert("noted");
        }),
      ];
      const specialist = member("specialist", ["cured"], { rails: rails("specialist") });
      const triage = pair(specialist.agent, { rails: rails("triage") });
      const { events } = await play(make, triage.agent);
      assert.deepEqual(order, [
        "triage/early",
        "triage/even",
        "triage/late",
        "triage/early",
        "specialist/early",
        "triage/even",
        "specialist/even",
        "triage/late",
        "specialist/late",
      ]);
      const records = events.flatMap((event) => (event.type === "rail" ? event.records : []));
      assert.deepEqual(
        records.map(({ rail }) => rail),
        ["early", "triage/early", "specialist/early"],
      );
    },
  ),

  behaviour("R14 what the origin guards stays guarded, however far the turn has gone", async (make) => {
    const [pay, read] = [noting("pay"), noting("read")];
    const shout = streamTransformer("shout", () => ({ push: (text) => text.toUpperCase(), flush: () => "" }));
    const mark = streamTransformer("mark", () => ({ push: (text) => text, flush: () => "!" }));
    const guard = defineRail({ name: "guard", on: ["PRE_TOOL_CALL"] }, (ctx) =>
      ctx.inputs.toolName === "read" ? skip("not yours") : undefined,
    );
    const c = member("c", [{ calls: [{ tool: "pay" }, { tool: "read" }] }, "cured"], {
      tools: [pay.tool, read.tool],
      hooks: { stream: [mark] },
    });
    const b = member("b", [to("c")], { handoffs: [c.agent] });
    const known = noting("pay");
    const a = member("a", [to("b")], {
      handoffs: [b.agent],
      tools: [known.tool],
      hitlTools: ["pay"],
      rails: [guard],
      hooks: { stream: [shout] },
    });
    const asked: string[] = [];
    const { result } = await play(make, a.agent, {
      approve: ({ tool }: { tool: string }) => {
        asked.push(tool);
        return { choice: "reject", reason: "no" };
      },
    });
    assert.equal(result.output, "CURED!");
    assert.deepEqual(asked, ["pay"]);
    assert.deepEqual([pay.ran, read.ran], [[], []]);
    const refused = result.messages.flatMap((message) =>
      message.role === "tool" && message.metadata.status === "rejected" ? [message.metadata.skipped_by] : [],
    );
    assert.deepEqual(refused, [null, "a/guard"]);
  }),

  behaviour(
    "S7 a HANDOFF rail lets it go, has it stay, has it asked again, or ends the run",
    async (make) => {
      const seen: unknown[] = [];
      const engine = await make();
      const attempt = async (answer: (attempt: number) => RailReturn, point: HookPoint = "HANDOFF") => {
        seen.length = 0;
        const specialist = member("specialist", ["cured"]);
        const rail = defineRail({ name: "door", on: [point] }, (ctx) => {
          seen.push({ ...ctx.inputs });
          return answer(ctx.attempt);
        });
        const triage = pair(specialist.agent, { rails: [rail] });
        const played = await play(() => engine, triage.agent);
        return { ...played, told: JSON.stringify(triage.model.requests[1]?.prompt ?? null) };
      };
      const goes = await attempt(() => undefined);
      assert.equal(goes.result.output, "cured");
      assert.deepEqual(seen[0], { from: "triage", to: "specialist", input: "Go" });

      const stays = await attempt(() => skip("the door is shut"));
      assert.equal(stays.result.output, "I do it myself.");
      assert.deepEqual(handoffs(stays.events), []);
      assert.match(stays.told, /Not handed over: door has it stay: the door is shut/);
      const [message] = stays.result.messages.flatMap((one) => (one.role === "tool" ? [one.metadata] : []));
      assert.deepEqual([message?.status, message?.skipped_by], ["rejected", "door"]);

      const again = await attempt((n) => (n < 3 ? retry({ maxRetries: 2 }) : undefined));
      assert.equal(again.result.output, "cured");
      assert.equal(seen.length, 3);

      const exhausted = await attempt(() => retry({ maxRetries: 1 }));
      assert.ok(exhausted.error instanceof RailAbortError);
      assert.equal(seen.length, 2);

      const ends = await attempt(() => abort("shut for good"));
      assert.ok(ends.error instanceof RailAbortError);
      assert.deepEqual([ends.error.railName, ends.error.point], ["door", "HANDOFF"]);
      assert.deepEqual(outcomes(ends.result.messages), ["cancelled"]);
      assert.deepEqual(handoffs(ends.events), []);

      const skipped = await attempt(() => skip("no"), "PRE_TOOL_CALL");
      assert.equal(skipped.result.output, "I do it myself.");
    },
  ),

  behaviour("S7 a turn goes no way twice and no more than five ways, and the model is told", async (make) => {
    const b = member("b", [to("a"), to("a"), "b answers"], { handoffs: ["a"] });
    const a = member("a", [to("b"), to("b"), to("c"), "a answers"], {
      handoffs: [b.agent, member("c", [to("a"), "c answers"], { handoffs: ["a"] }).agent],
    });
    const { events, result } = await play(make, a.agent);
    assert.equal(result.output, "a answers");
    assert.deepEqual(
      handoffs(events).map((one) => one.split(":", 1)[0]),
      ["a > b", "b > a", "a > c", "c > a"],
    );
    assert.match(
      JSON.stringify(a.model.requests[2]?.prompt),
      /Not handed over: .*handed this turn to .*b.* before/,
    );

    let next: Agent = member("end", ["never"]).agent;
    let last = scriptedModel([]);
    for (const name of ["z", "y", "x", "w", "v"]) {
      const made = member(name, [to(next.definition.name), `${name} answers`], { handoffs: [next] });
      if (name === "z") last = made.model;
      next = made.agent;
    }
    const first = member("first", [to("v")], { handoffs: [next] });
    const far = await play(make, first.agent);
    assert.equal(handoffs(far.events).length, 5);
    assert.equal(far.result.output, "z answers");
    assert.match(JSON.stringify(last.requests[1]?.prompt), /at most 5/);
  }),

  behaviour("S7 of two handoffs in one step the first goes, beside calls that run", async (make) => {
    const t = noting("t");
    const b = member("b", ["b answers"]);
    const c = member("c", ["c answers"]);
    const calls = [{ tool: "t" }, ...to("b").calls, ...to("c").calls, { tool: "t" }];
    const a = member("a", [{ calls }], { handoffs: [b.agent, c.agent], tools: [t.tool] });
    const { events, result } = await play(make, a.agent);
    assert.equal(result.output, "b answers");
    assert.equal(handoffs(events).length, 1);
    assert.deepEqual(outcomes(result.messages), ["t 0", "Handed over to b.", "rejected", "t 0"]);
    assert.equal(t.ran.length, 2);
    assert.match(JSON.stringify(b.model.requests[0]?.prompt), /the turn goes to \\"b\\" already/);
    assert.equal(c.model.requests.length, 0);
  }),

  behaviour("L7 R14 after a handoff a call waits for whoever holds the stream", async (make) => {
    const pay = noting("pay");
    const asker = defineRail({ name: "asker", on: ["PRE_TOOL_CALL"] }, (ctx) =>
      ctx.inputs.toolName === "pay" ? ask("is it right?") : undefined,
    );
    const specialist = member("specialist", [{ calls: [{ tool: "pay", args: { n: 3 } }] }, "paid"], {
      tools: [pay.tool],
      hitlTools: ["pay"],
    });
    const triage = pair(specialist.agent, { rails: [asker] });
    const reasons: unknown[] = [];
    const { result } = await play(make, triage.agent, {
      approve: (approval: { reasons: readonly string[]; requester: string }) => {
        reasons.push(approval.requester, approval.reasons);
        return { choice: "approve", editedArguments: { n: 4 } };
      },
    });
    assert.equal(result.output, "paid");
    assert.deepEqual(pay.ran, [4]);
    assert.deepEqual(reasons, ["specialist", ["pay is in hitl_tools", "triage/asker: is it right?"]]);
  }),
];
