import { estimateMessage, estimateText, type Message, type RailContext } from "trackside";

/** What the JSON Schema of a tool comes to, roughly; rails see names and descriptions only. */
const PER_TOOL = 60;

const known = new WeakMap<Message, number>();

/** Roughly the input tokens of a request. Each message is counted once, however long the conversation gets. */
export function estimateRequest({ agent, inputs }: RailContext<"PRE_LLM_CALL">): number {
  let tokens = estimateText(agent.instructions);
  for (const { name, description } of inputs.tools)
    tokens += PER_TOOL + estimateText(name) + estimateText(description);
  for (const message of inputs.messages) {
    let size = known.get(message);
    if (size === undefined) {
      size = estimateMessage(message);
      known.set(message, size);
    }
    tokens += size;
  }
  return tokens;
}
