import { Agent, defineTool } from "trackside";
import { digestOf } from "trackside/engine";
import { type Script, scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { AgentRegistry } from "../../src/journal/agent-registry.ts";
import { databaseFile as file } from "./support/database.ts";
import { becomes, hostOf } from "./support/hosts.ts";
import { until } from "./support/until.ts";

const HAND_OVER = { calls: [{ tool: "handoff_to_specialist", args: { reason: "it knows" } }] };
const PAY = { calls: [{ tool: "pay", args: { amount: 3 } }] };

function pay(ran: unknown[] = []) {
  return defineTool({
    name: "pay",
    input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
    execute: (args: object) => {
      ran.push(args);
      return "paid";
    },
  });
}

const triage = (script: Script = [HAND_OVER], more: object = {}) =>
  new Agent({ name: "triage", model: scriptedModel(script), handoffs: ["specialist"], ...more } as never);

function specialist(script: Script, more: object = {}) {
  const model = scriptedModel(script);
  const config = { name: "specialist", model, tools: [pay()], hitlTools: ["pay"], ...more };
  return { model, agent: new Agent(config as never) };
}

/** A turn that was handed over and waits for an approval, and its process is gone. */
async function left(path: string): Promise<string> {
  const first = hostOf(path, [triage(), specialist([PAY], { instructions: "Be brief." }).agent]);
  const { runId } = await first.start("triage", "Go");
  await becomes(first, runId, "waiting");
  await first.close();
  return runId;
}

async function approve(host: ReturnType<typeof hostOf>): Promise<void> {
  const [asked] = await until(async () => {
    const found = await host.approvals.list();
    return found.length > 0 ? found : undefined;
  });
  await host.approvals.decide(asked?.id ?? "", { choice: "approve", by: "ann" });
}

test("X2 without handoffs a run is pinned to its definition and nothing more: old rows load", () => {
  const agent = new Agent({ name: "alone", model: scriptedModel(["hi"]), tools: [pay()] });
  const { body, digest } = new AgentRegistry([agent as never]).pinned(agent as never);
  expect(JSON.parse(body)).not.toHaveProperty("team");
  expect(digest).toBe(digestOf(JSON.parse(JSON.stringify({ ...agent.definition, tools: ["pay"] }))));
});

test("X2 S7 a run keeps the definitions of everybody it may be handed to; edits reach later runs only", async () => {
  const path = file();
  const runId = await left(path);
  const ran: unknown[] = [];
  const { agent, model } = specialist(["done", PAY, "done"], {
    instructions: "Be verbose.",
    tools: [pay(ran)],
  });
  const second = hostOf(path, [triage([HAND_OVER]), agent]);
  await second.open();
  await approve(second);
  expect((await second.runs.result(runId)).output).toBe("done");
  expect(ran).toEqual([{ amount: 3 }]);
  const later = second.run("triage", "Go");
  await approve(second);
  await later;
  const systems = model.requests.map(({ prompt }) => prompt[0]?.content);
  expect(systems).toEqual(["Be brief.", "Be verbose.", "Be verbose."]);
});

test("X2 S7 a run whose team is not whole is parked, says who is missing, and goes on when they are back", async () => {
  const path = file();
  const runId = await left(path);
  const alone = hostOf(path, [triage()]);
  await alone.open();
  const { parked } = await becomes(alone, runId, "parked");
  expect(parked).toContain('there is no agent "specialist" here, to whom "triage" may hand the turn');
  await alone.close();

  const changed = hostOf(path, [triage(), specialist([], { tools: [], hitlTools: [] }).agent]);
  await changed.runs.resume(runId);
  const { parked: why } = await becomes(changed, runId, "parked").then(() =>
    until(async () => {
      const run = await changed.runs.get(runId);
      return run.parked?.includes("has changed") ? run : undefined;
    }),
  );
  expect(why).toContain('the agent "specialist" has changed');
  expect(why).toContain('the tool "pay"');
  await changed.close();

  const back = hostOf(path, [triage(), specialist(["done"]).agent]);
  await back.runs.resume(runId);
  await approve(back);
  expect((await back.runs.result(runId)).output).toBe("done");
});

test("L4 an edit of a call by somebody the turn was handed to is checked by its own tool", async () => {
  const path = file();
  const { agent } = specialist([PAY, "done"]);
  const host = hostOf(path, [triage([HAND_OVER], { handoffs: [agent] })]);
  const { result } = await host.start("triage", "Go");
  const [asked] = await until(async () => {
    const found = await host.approvals.list();
    return found.length > 0 ? found : undefined;
  });
  const edit = (amount: unknown) =>
    host.approvals.decide(asked?.id ?? "", {
      choice: "approve",
      by: "ann",
      editedArguments: { amount } as never,
    });
  await expect(edit("three")).rejects.toThrow("editedArguments");
  await edit(30);
  expect((await result()).output).toBe("done");
});

test("X2 a function without a name cannot be found again, whoever has it: the run is refused", async () => {
  const { agent } = specialist(["done"]);
  agent.hookManager.add("START", () => {});
  const host = hostOf(file(), [triage([HAND_OVER])]);
  await expect(
    triage([HAND_OVER], { handoffs: [agent] }).run("Go", { engine: host.engine } as never),
  ).rejects.toThrow('The agent "specialist" has a hook without a name');
});
