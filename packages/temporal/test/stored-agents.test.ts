import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { placeSuite } from "./support/suite.ts";

const ANN = { by: "ann" };
const definition = { name: "clerk", model: "demo:script", tools: ["look", "charge"], hitl_tools: ["charge"] };

await placeSuite("agents that are in no code", {}, (here) => {
  test("X2 X9 a worker makes them from what the run is pinned to; killed, another goes on, though the agent is gone", async () => {
    const { place } = here;
    const { agents, approvals } = place.trackside;
    await place.workers(1);
    await place.announced(1);
    await agents.create({ definition }, ANN);
    const n = "stored";
    const runId = await place.start(
      "clerk",
      script(n, [call("look", n, "first"), call("charge", n), "done"]),
    );
    const mark = await place.marked(n, "tool", "look");
    await agents.save(
      "clerk",
      { definition: { ...definition, tools: ["put"], hitl_tools: [] } },
      { ...ANN, version: 1 },
    );
    await agents.delete("clerk", { ...ANN, erase: true });
    await place.kill(mark);
    await place.inside();
    const { id } = await place.pending(runId);
    await approvals.decide(id, { choice: "approve", by: "ann" });
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool", "charge")).toHaveLength(1);
  });

  test("X9 what no worker has is named when a run is submitted, and nothing is begun", async () => {
    const place = await here.another();
    await place.inside({ without: "look" });
    await place.announced(1);
    await place.trackside.agents.create({ definition }, ANN);
    await expect(place.start("clerk", "hi")).rejects.toMatchObject({
      code: "not_available",
      message: expect.stringMatching(
        /No worker of temporal:.* can run the agent "clerk": none has the tool "look"\. Start a worker with it/,
      ),
    });
    expect(await place.trackside.runs.list()).toEqual([]);
    await place.inside();
    await place.announced(2);
    const n = "later";
    await place.trackside.agents.save(
      "clerk",
      { definition: { ...definition, tools: ["charge", "put"], hitl_tools: [] } },
      { ...ANN, version: 1 },
    );
    const runId = await place.start("clerk", script(n, [call("put", n), "done"]));
    expect(await place.text(runId)).toBe("done");
  });

  test("W4 W5 X9 so are workflows: killed at a node, approved while nobody has it any more, and each call once", async () => {
    const place = await here.another();
    const { workflows, approvals } = place.trackside;
    await place.workers(1);
    await place.announced(1);
    const n = "flow";
    const call = (tool: string, more: object = {}) => ({ kind: "tool", tool, arguments: { n, ...more } });
    const definition = {
      name: "billing",
      nodes: {
        look: call("look", { hangs: "first" }),
        agent: { kind: "agent", agent: "free", prompt: script(`${n}.free`, ["looked"]) },
        ask: { kind: "approval", message: "Charge after {{ nodes.agent }}?" },
        charge: call("charge"),
      },
      edges: [
        { from: "look", to: "ask" },
        { from: "agent", to: "ask" },
        { from: "ask", to: "charge" },
      ],
      output: ["{{ nodes.look }}", "{{ nodes.agent }}", "{{ nodes.charge }}"],
    };
    await workflows.create(definition, ANN);
    const { runId } = await workflows.start("billing", {});
    const mark = await place.marked(n, "tool", "look");
    await workflows.delete("billing", ANN);
    await place.kill(mark);
    await place.inside();
    const { id, reasons } = await place.pending(runId);
    expect(reasons).toEqual(["Charge after looked?"]);
    await approvals.decide(id, { choice: "approve", by: "ann" });
    expect(JSON.parse(await place.text(runId))).toEqual([`look ${n}`, "looked", `charge ${n}`]);
    expect(place.marksOf(n, "tool", "charge")).toHaveLength(1);
  });
});
