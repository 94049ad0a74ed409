// A long conversation within 70 % of a small window: old turns become a summary, and what cannot fit is never sent.
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";

/** Answers at length, and sums up when it is asked to. It reports no usage, so every count is our own estimate. */
const model = scriptedModel(
  [
    ({ prompt: [first] }) => {
      const isSummary = first?.role === "system" && first.content.startsWith("You summarise");
      const text = isSummary ? "Ann travels by train." : "Noted, with every detail of the day. ".repeat(12);
      return { text, usage: { input: 0, output: 0 } };
    },
  ],
  { loop: true },
);
const agent = new Agent({
  name: "travel",
  model,
  instructions: "You help with trips.",
  contextWindowTokens: 1_500, // models that are known have their window from a table
  budgetAwareness: "limit:70",
});

let { conversation } = await agent.run("I am Ann and travel by train.");
for (let day = 1; day <= 14; day++) {
  const stream = agent.stream(`Day ${day}: ${"a museum, a walk, something to eat; ".repeat(8)}`, {
    conversation,
  });
  for await (const event of stream)
    if (event.type === "context")
      console.log(
        `day ${day}: ${event.action}, ${event.tokens_before} → ${event.tokens_after}: ${event.detail}`,
      );
  conversation = (await stream.result).conversation;
}
console.log("the log still has all of it:", conversation.messages.length, "messages");

// Nothing can be left out of the message itself: the run ends as a run does, says why, and nothing was sent.
const before = model.requests.length;
const { output, stopReason } = await agent.run("word ".repeat(2_000), { conversation });
console.log(`${stopReason}: ${output}`);
console.log("requests for it:", model.requests.length - before);
