// Every event of a turn, as it happens: what is durable has a seq, what is live has not.
import agent from "./02-agent-file.ts";

const stream = agent.stream("Is the shop up?");
for await (const event of stream) {
  if (event.type === "text_delta") process.stdout.write(event.text);
  else if ("seq" in event) console.log(`\n#${event.seq} ${event.type}`);
}
const { steps, usage } = await stream.result;
console.log(`${steps} steps, ${usage.input_tokens + usage.output_tokens} tokens`);
