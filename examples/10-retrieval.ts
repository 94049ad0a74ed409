// Pre-hooks: two lookups at once, merged in their declared order, for this turn only; and a memory that stays.
import { Agent, cont, memberHook, parallel, preHook } from "trackside";
import { scriptedModel } from "trackside/testing";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const handbook = memberHook({ name: "handbook" }, async (turn) => {
  await wait(30);
  return `From the handbook, on "${turn.text}": refunds take five days.`;
});
const orders = memberHook({ name: "orders", critical: true }, async (turn) => {
  await wait(5);
  return `Orders of ${turn.scope["user"]}: no. 17, paid on Monday.`;
});
const memory = preHook({ name: "memory", durable: true }, (turn) =>
  cont(turn.context.length === 0 ? turn.append("The customer prefers short answers.") : turn),
);

const model = scriptedModel(["By Saturday.", "You are welcome."]);
const agent = new Agent({ name: "support", model, hooks: { pre: [memory, parallel(handbook, orders)] } });

const first = await agent.run("When is my refund?", { scope: { user: "ann" } });
const second = await agent.run("Thanks!", { scope: { user: "ann" }, conversation: first.conversation });

for (const { prompt } of model.requests) {
  console.log("--- the model was sent");
  for (const { role, content } of prompt) console.log(`${role}: ${JSON.stringify(content)}`);
}
console.log(first.output, second.output, "| the log has", second.conversation.messages.length, "messages");
