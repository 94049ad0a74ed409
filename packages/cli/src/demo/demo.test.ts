import { builtInRails } from "@trackside/rails";
import { Agent, type Approve, type Conversation, localEngine } from "trackside";
import { describe, expect, test } from "vitest";
import { demoModel, NO_PACE } from "./demo-model.ts";
import { onCallAgent } from "./on-call-agent.ts";
import { RELEASE_SUGGESTION, releaseManager, releaseTools } from "./release.ts";
import { SUGGESTIONS } from "./rules.ts";

const approve: Approve = () => ({ choice: "approve" });

/** Talks to the demo agent; each answer with the calls that led to it, step by step. */
async function talk(...messages: string[]) {
  return talkWith(approve, ...messages);
}

async function talkWith(approve: Approve, ...messages: string[]) {
  const agent = onCallAgent(demoModel(NO_PACE));
  const turns: { answer: string; steps: string[][] }[] = [];
  let conversation: Conversation | undefined;
  for (const message of messages) {
    const result = await agent.run(message, { approve, ...(conversation ? { conversation } : {}) });
    conversation = result.conversation;
    const steps = result.messages.flatMap((one) =>
      one.role === "assistant"
        ? [one.parts.flatMap((part) => (part.type === "tool_call" ? [part.tool] : []))]
        : [],
    );
    turns.push({ answer: result.text, steps: steps.filter((calls) => calls.length > 0) });
  }
  return turns;
}

describe("the demo agent", () => {
  test("finds what is wrong in several steps, some calls side by side", async () => {
    const [turn] = await talk(SUGGESTIONS[0]);
    expect(turn?.steps).toEqual([["service_status"], ["error_rate", "error_rate", "recent_deploys"]]);
    expect(turn?.answer).toContain("deploy d-481");
  });

  test("looks into one service and what it calls", async () => {
    const [turn] = await talk(SUGGESTIONS[1]);
    expect(turn?.steps).toEqual([["service_status", "error_rate", "recent_deploys"], ["error_rate"]]);
    expect(turn?.answer).toContain("3.3 times its usual requests");
  });

  test("opens the incident it offered, once", async () => {
    const turns = await talk(
      SUGGESTIONS[0],
      "yes, please",
      "Open an incident for checkout",
      "Is anything wrong?",
    );
    expect(turns.map(({ answer }) => answer)).toEqual([
      expect.stringContaining("Shall I open an incident for checkout?"),
      expect.stringContaining("I opened INC-101 for checkout, severity high"),
      expect.stringContaining("INC-101 is open for checkout already"),
      expect.stringContaining("Incident INC-101 is open for it."),
    ]);
  });

  test.each([
    ["Open an incident", "I opened INC-101 for checkout"],
    ["what was deployed today?", "d-480, search, 5 hours ago"],
    ["any deploys to payments?", "Nothing was deployed to payments"],
    ["how is search?", "Search is fine"],
    ["and payments?", "3.3 times its usual requests"],
    ["how is the warehouse doing?", "I know no service called warehouse."],
    ["please roll back d-481", "I have no tool that changes a service"],
    ["hello", "I watch over a small made-up shop."],
    ["thanks!", "You are welcome."],
    ["What is the meaning of life?", "I am a scripted demo and know a few questions only"],
    ["yes", "I am a scripted demo and know a few questions only"],
  ])("has an answer to %j", async (question, answer) => {
    const [turn] = await talk(question);
    expect(turn?.answer).toContain(answer);
  });

  test("asks before it opens an incident, and goes by what was decided", async () => {
    const reject: Approve = () => ({ choice: "reject", reason: "not yet" });
    const [rejected] = await talkWith(reject, "Open an incident for checkout");
    expect(rejected?.answer).toBe("No incident was opened. The call was rejected: not yet.");

    const edit: Approve = ({ arguments: args }) => ({
      choice: "approve",
      editedArguments: { ...args, severity: "low" },
    });
    const [edited] = await talkWith(edit, "Open an incident for checkout");
    expect(edited?.answer).toContain("I opened INC-101 for checkout, severity low");
  });

  test("keeps e-mail addresses from the model, and says so", async () => {
    const agent = onCallAgent(demoModel(NO_PACE));
    const events = [];
    for await (const event of agent.stream("what was deployed today?")) events.push(event);
    expect(JSON.stringify(events)).not.toContain("@shop.example");
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "rail",
        records: [
          expect.objectContaining({
            rail: "no-addresses",
            alert: "took 3 e-mail addresses out of what recent_deploys returned",
          }),
        ],
      }),
    );
  });

  test("can be stopped in the middle of a word", async () => {
    const agent = onCallAgent(demoModel({ thinking: 0, word: 10_000 }));
    const run = agent.stream("hello");
    setTimeout(() => run.cancel("enough"), 20);
    await expect(run.result).rejects.toThrow("The run was cancelled: enough");
  });
});

describe("the release manager", () => {
  test("plans, has two sub-agents check, and deploys once that is approved", async () => {
    const models = { "demo:scripted": demoModel(NO_PACE) };
    const agent = Agent.fromJSON(releaseManager("demo:scripted"), {
      tools: releaseTools(0),
      rails: builtInRails,
      models,
    });
    const events: string[] = [];
    const stream = agent.stream(RELEASE_SUGGESTION, { approve, engine: localEngine({ models }) });
    for await (const event of stream)
      if (event.type === "tool_result" || event.type === "plan")
        events.push(event.type === "plan" ? "plan" : event.tool);
    const { text } = await stream.result;
    expect(text).toBe("Both services passed their checks. checkout 2.14 is deployed on 6 instances.");
    expect(events).toEqual(["plan", "check_service", "check_service", "spawn_parallel", "deploy_service"]);
  });
});
