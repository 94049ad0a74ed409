import { Agent, defineTool } from "trackside";
import { expect, test } from "vitest";
import { type Cast, cast, spawnSelf } from "./support/cast.ts";
import { databaseFile as file } from "./support/database.ts";
import { hostOf } from "./support/hosts.ts";
import { until } from "./support/until.ts";

const schema = {
  type: "object",
  properties: { size: { type: "integer", minimum: 1 } },
  required: ["size"],
};

const PARTS: Cast = {
  Go: [spawnSelf("order"), "done"],
  order: [{ calls: [{ tool: "order" }] }, "ordered"],
};

/** A sub-agent's tool that asks how large it is to be. */
function ordering(answers: unknown[] = []) {
  const order = defineTool({
    name: "order",
    effect: "none",
    execute: async (_, { elicit }) => {
      const answer = await elicit({ message: "Which size?", schema });
      answers.push(answer);
      return "as you say";
    },
  });
  return new Agent({ name: "root", model: cast(PARTS), tools: [order], allowSelfSpawn: true });
}

async function question(host: ReturnType<typeof hostOf>) {
  const [asked] = await until(async () => {
    const found = await host.approvals.list();
    return found.length > 0 ? found : undefined;
  });
  if (asked === undefined) throw new Error("nothing was asked");
  return asked;
}

test("L8 what a tool asks is answered from a process that knows no agents, and the answer has to fit", async () => {
  const path = file();
  const answers: unknown[] = [];
  const here = hostOf(path, [ordering(answers)]);
  const { runId, result } = await here.start("root", "Go");
  const desk = hostOf(path, []);
  const asked = await question(desk);
  expect(asked).toMatchObject({ kind: "elicitation", choices: ["accept", "decline"], root_run_id: runId });
  const decide = (decision: object) => desk.approvals.decide(asked.id, { by: "ann", ...decision } as never);
  await expect(decide({ choice: "approve" })).rejects.toMatchObject({ code: "decision_invalid" });
  for (const response of [undefined, { size: 0 }, { size: "large" }, "large"])
    await expect(decide({ choice: "accept", response })).rejects.toMatchObject({ code: "decision_invalid" });
  await expect(
    decide({ choice: "accept", response: { size: 2 }, editedArguments: {} }),
  ).rejects.toMatchObject({
    code: "decision_invalid",
  });
  expect((await desk.approvals.get(asked.id)).state).toBe("pending"); // none of that has changed anything
  await decide({ choice: "accept", response: { size: 2 } });
  expect((await result()).output).toBe("done");
  expect(JSON.stringify(answers)).toContain('"size":2');
});

test("L4 L5 what a tool asked is answered while nobody runs it; a tool that runs again asks again", async () => {
  const path = file();
  const first = hostOf(path, [ordering()]);
  const { runId } = await first.start("root", "Go");
  const asked = await question(first);
  await first.close();
  const desk = hostOf(path, []);
  await desk.approvals.decide(asked.id, { choice: "accept", by: "ann", response: { size: 3 } });
  const answers: unknown[] = [];
  const second = hostOf(path, [ordering(answers)]);
  await second.open();
  const again = await question(second);
  expect(again).toMatchObject({ kind: "elicitation", run_id: asked.run_id });
  await desk.approvals.decide(again.id, { choice: "accept", by: "ann", response: { size: 4 } });
  expect((await second.runs.result(runId)).output).toBe("done");
  expect(answers).toEqual([{ action: "accept", content: { size: 4 } }]);
});

test("X6 X7 a sub-agent has one turn: nothing is sent to its conversation, and what comes too late is dropped", async () => {
  const path = file();
  const here = hostOf(path, [ordering()]);
  const { runId, conversationId, result } = await here.start("root", "Go");
  const asked = await question(here);
  const steered = here.steer(asked.run_id, "hurry");
  await here.approvals.decide(asked.id, { choice: "decline", by: "ann" });
  await result();
  expect(["admitted", "dropped"]).toContain((await steered).state);
  await expect(here.run("root", "and?", { conversation: asked.run_id })).rejects.toThrow(
    `Go on with ${conversationId}`,
  );
  const open = await here.runs.list({ status: ["queued", "running", "parked"] });
  expect(open).toEqual([]);
  expect(await here.runs.get(asked.run_id)).toMatchObject({ root_run_id: runId, status: "completed" });
});
