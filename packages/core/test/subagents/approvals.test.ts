import { type Approval, type Approve, ask, defineRail, TracksideError } from "trackside";
import { manualClock } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { byRun, requestsOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, eventsOf, failure, outputs, play, results, tracked } from "../guards/stage.ts";
import { calls, entries, expectSound, parallel, self, tree } from "./stage.ts";

const GATED = { hitlTools: ["t"] };
const asking = defineRail({ name: "asker", on: ["PRE_TOOL_CALL"] }, (ctx) =>
  ctx.inputs.toolName === "t" ? ask("may I?") : undefined,
);

describe.each(ENGINES)("approvals in sub-agents, on the %s engine", (_name, make) => {
  test("L7 the approver of a run is asked for its whole tree, with where it is asked", async () => {
    const t = tracked("t");
    const seen: Approval[] = [];
    const approve: Approve = (approval) => {
      seen.push(approval);
      return { choice: "approve" };
    };
    const { agent } = tree(
      {
        Go: [calls("t", self("it")), "done"],
        it: [calls("t", self("deep")), "ok"],
        deep: [calls("t"), "ok"],
      },
      { tools: [t.tool], ...GATED },
    );
    const { result, events } = await play(agent, { engine: make(), approve });

    expect(result.output).toBe("done");
    expect(t.ran).toHaveLength(3);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(3);
    expect(seen.map(({ run_id }) => run_id).toSorted()).toEqual([...byRun(events).keys()].toSorted());
    for (const { call_id, run_id } of seen) expect(call_id?.startsWith(`${run_id}.`)).toBe(true);
  });

  test("L7 L6 a run with gates and nobody to decide is refused, whatever would have needed it", async () => {
    const { agent, model } = tree({ Go: [calls(self("it"))] }, { tools: [tracked("t").tool], ...GATED });
    const error = await failure(agent.run("Go", { engine: make() }));
    expect(error.code).toBe("not_available");
    expect(model.requests).toEqual([]);
  });

  test("L6 what a rail asks in a sub-agent, with nobody there, is rejected with that reason", async () => {
    const t = tracked("t");
    const { agent, model } = tree(
      { Go: [calls(self("it")), "done"], it: [calls("t"), "ok"] },
      { tools: [t.tool], rails: [asking] },
    );
    const result = await agent.run("Go", { engine: make() });
    expect(t.ran).toEqual([]);
    expect(result.output).toBe("done");
    expect(JSON.stringify(requestsOf(model, "it")[1]?.prompt)).toContain("nobody is there to approve it");
  });

  test("L7 L2 a deadline passes in a sub-agent: its call is refused, the others are not", async () => {
    const clock = manualClock();
    const t = tracked("t");
    const { agent } = tree(
      {
        Go: [calls(parallel("late", "quick")), "done"],
        late: [{ calls: [{ tool: "t", args: { n: 1 } }] }, "gave up"],
        quick: [{ calls: [{ tool: "t", args: { n: 2 } }] }, "did it"],
      },
      { tools: [t.tool], ...GATED, hitlTimeoutSeconds: 60 },
    );
    const approve: Approve = ({ arguments: args }) =>
      args?.["n"] === 2 ? { choice: "approve" } : new Promise(() => {});
    const { result, events } = await clock.finish(play(agent, { engine: make({ clock }), approve }));

    expect(t.ran).toEqual([2]);
    expect(entries(result).map(({ output }) => output)).toEqual(["gave up", "did it"]);
    const statuses = eventsOf(events, "tool_result").map(({ metadata }) => metadata.approval_status);
    expect(statuses.toSorted()).toEqual(["approved", "not_required", "timed_out"]);
    expectSound(events);
  });

  test("L7 L4 deciding twice, too late or on what is not there is told apart in a tree as well", async () => {
    const t = tracked("t");
    const { agent } = tree(
      { Go: [calls(parallel("a", "b")), "done"], a: [calls("t"), "ok"], b: [calls("t"), "ok"] },
      { tools: [t.tool], ...GATED },
    );
    const stream = agent.stream("Go", { engine: make() });
    const decided: string[] = [];
    for await (const event of stream) {
      if (event.type !== "approval" || event.state !== "pending") continue;
      expect(stream.pending.map(({ id }) => id)).toContain(event.approval_id);
      const choice = decided.length === 0 ? "approve" : "reject";
      await stream.decide(event.approval_id, { choice });
      const other = choice === "approve" ? "reject" : "approve";
      const conflict = await failure(stream.decide(event.approval_id, { choice: other }));
      expect(conflict.code).toBe("approval_conflict");
      decided.push(event.approval_id);
    }
    const nobody = await failure(stream.decide("run_x.approval.1", { choice: "approve" }));
    expect(nobody).toBeInstanceOf(TracksideError);
    await stream.result;
    expect(t.ran).toHaveLength(1);
    expect(stream.pending).toEqual([]);
  });

  test("L7 L3 an edit in a sub-agent passes the rails again, and its model is told", async () => {
    const t = tracked("t");
    const seen: unknown[] = [];
    const look = defineRail({ name: "look", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      if (ctx.inputs.toolName === "t") seen.push(ctx.inputs.arguments["n"]);
    });
    const { agent, model } = tree(
      { Go: [calls(self("it")), "done"], it: [{ calls: [{ tool: "t", args: { n: 1 } }] }, "ok"] },
      { tools: [t.tool], ...GATED, rails: [look] },
    );
    await play(agent, {
      engine: make(),
      approve: () => ({ choice: "approve", editedArguments: { n: 9 } }),
    });
    expect(seen).toEqual([1, 9]);
    expect(t.ran).toEqual([9]);
    expect(JSON.stringify(requestsOf(model, "it")[1]?.prompt)).toContain("other arguments than you wrote");
    expect(JSON.stringify(requestsOf(model, "Go")[1]?.prompt)).not.toContain(
      "other arguments than you wrote",
    );
  });
});

describe.each(ENGINES)("a gated spawn call, on the %s engine", (_name, make) => {
  const gated = (decision: ReturnType<Approve>, jobs: readonly string[] = ["it"]) => {
    const { agent, model } = tree(
      { Go: [calls(parallel(...jobs)), "done"], it: ["ok"], other: ["other ok"] },
      { hitlTools: ["spawn_parallel"] },
    );
    return play(agent, { engine: make(), approve: () => decision }).then((played) => ({ ...played, model }));
  };

  test("L1 T2 starts no sub-agent before it is approved, and its time begins then", async () => {
    const clock = manualClock();
    const { agent, model } = tree(
      { Go: [calls(parallel("it")), "done"], it: ["ok"] },
      { hitlTools: ["spawn_parallel"] },
    );
    const stream = agent.stream("Go", { engine: make({ clock }) });
    await clock.advance(5000);
    expect(requestsOf(model, "it")).toEqual([]);
    const [approval] = stream.pending;
    expect(approval).toMatchObject({ tool: "spawn_parallel", arguments: { jobs: [{ task: "it" }] } });
    await stream.decide(approval?.id ?? "", { choice: "approve" });
    const result = await clock.finish(stream.result);
    const [record] = results(result).map(({ metadata }) => metadata);
    expect(record).toMatchObject({ approval_status: "approved", approval_wait_ms: 5000, attempts: 1 });
    expect((record?.started_at ?? 0) - (approval?.requested_at ?? 0)).toBeGreaterThanOrEqual(5000);
    expect(entries(result)[0]?.output).toBe("ok");
  });

  test("L2 one that is rejected starts none", async () => {
    const { result, model, events } = await gated({ choice: "reject", reason: "too dear" });
    expect(outputs(result)).toEqual(["rejected"]);
    expect(requestsOf(model, "it")).toEqual([]);
    expect(byRun(events).size).toBe(1);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("too dear");
  });

  test("L3 one that is edited starts what was approved, and the model is told", async () => {
    const editedArguments = { jobs: [{ task: "other" }] };
    const { result, model } = await gated({ choice: "approve", editedArguments });
    expect(entries(result)[0]?.output).toBe("other ok");
    expect(requestsOf(model, "it")).toEqual([]);
    expect(results(result)[0]?.metadata.original_args).toEqual({ jobs: [{ task: "it" }] });
    expect(JSON.stringify(requestsOf(model, "Go")[1]?.prompt)).toContain("other arguments than you wrote");
  });

  test.each([
    ["too many", { jobs: Array(9).fill({ task: "it" }) }],
    ["a tool that is none", { jobs: [{ task: "it", tool_names: ["nope"] }] }],
    ["a schema that is none", { jobs: [{ task: "it", output_schema: { $ref: "https://x.example" } }] }],
  ])("L3 S2 an edit to %s starts none", async (_what, editedArguments) => {
    const { model, events } = await gated({ choice: "approve", editedArguments });
    expect(requestsOf(model, "it")).toEqual([]);
    expect(byRun(events).size).toBe(1);
  });
});
