import { Agent, defineTool } from "trackside";
import { expect, test } from "vitest";
import { agentOf, echo, hostOn } from "./support/host.ts";
import { onBothStores } from "./support/stores.ts";

const ENGINE = { name: "elsewhere", start: async () => {} };
const ANN = { by: "ann" };
const [search, mail] = ["search", "mail"].map((name) => defineTool({ name, execute: () => name }));
if (search === undefined || mail === undefined) throw new Error("two were made");

await onBothStores("stored agents on an engine elsewhere", (database) => {
  test("X9 a run is refused when no worker can make its agent, by what none of them has", async () => {
    const store = await database();
    const front = hostOn(store(), { engine: ENGINE, tools: [search, mail] });
    const { agents } = front;
    const both = agentOf("clerk", { tools: ["search", "mail"] });
    await agents.create({ definition: both }, ANN);
    const announce = async (id: string, parts: Parameters<typeof hostOn>[1]) => {
      const worker = hostOn(store(), { claims: false, ...parts });
      await worker.open();
      await worker.engine.effects().announce(ENGINE.name, id);
    };

    await announce("one", { tools: [search], models: {} });
    await expect(front.start("clerk", "hi")).rejects.toMatchObject({
      code: "not_available",
      message:
        'No worker of elsewhere can run the agent "clerk": none has the tool "mail", the model "demo:echo". Start a worker with it, or run it on this machine\'s engine.',
    });
    await announce("two", { tools: [mail], models: { "demo:echo": echo() } });
    await expect(front.start("clerk", "hi")).rejects.toThrow(
      /each lacks something, one of them the tool "search"/,
    );
    await agents.create({ definition: agentOf("mailer", { tools: ["mail"] }) }, ANN);
    const { runId } = await front.start("mailer", "hi");
    expect(await front.runs.get(runId)).toMatchObject({ status: "queued", agent: "mailer" });
    await announce("three", { tools: [mail, search], models: { "demo:echo": echo() } });
    await front.start("clerk", "hi");
    expect(await front.runs.list()).toHaveLength(2);
  });

  test("X9 whoever it hands the turn to counts, unless a worker has them in code", async () => {
    const store = await database();
    const desk = new Agent({ name: "desk", model: "openai:gpt-4o", tools: [mail] });
    const front = hostOn(store(), { engine: ENGINE, agents: [desk], tools: [search] });
    await front.agents.create({ definition: agentOf("one", { tools: ["search"] }) }, ANN);
    await front.agents.create({ definition: agentOf("two", { handoffs: ["one", "desk"] }) }, ANN);
    const worker = async (id: string, parts: Parameters<typeof hostOn>[1]) => {
      const made = hostOn(store(), { claims: false, ...parts });
      await made.open();
      await made.engine.effects().announce(ENGINE.name, id);
    };
    await worker("a", { agents: [desk] });
    await expect(front.start("two", "hi")).rejects.toThrow(/none has the tool "search"/);
    await worker("b", { agents: [desk], tools: [search] });
    await front.start("two", "hi");
  });
});
