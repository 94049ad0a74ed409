// A post-hook sends an answer back, at most `maxRegenerations` times. The draft is retracted and never logged.
import { Agent, cont, postHook, regenerate } from "trackside";
import { scriptedModel } from "trackside/testing";

const brief = postHook({ name: "brief" }, (turn, { defer }) => {
  const words = turn.answer?.split(" ").length ?? 0;
  if (words > 5) return regenerate(`That was ${words} words. Use five at most.`);
  defer({ name: "count", run: (input) => console.log("after the run:", input) }, `${words} words`);
  return cont(turn);
});

const model = scriptedModel(["Well, that is really quite a long story, you know.", "It is a long story."]);
const agent = new Agent({ name: "a", model, maxRegenerations: 2, hooks: { post: [brief] } });

const stream = agent.stream("Tell me");
for await (const event of stream) {
  if (event.type === "message_retracted") console.log("retracted:", event.reason);
  if (event.type === "text") console.log("answer:", event.text);
}
const { steps, messages } = await stream.result;
console.log(steps, "steps,", messages.length, "messages in the log");
