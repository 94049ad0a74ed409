// A stream transformer: what it removes is never shown, stored or returned, wherever the stream is cut.
import { Agent, streamTransformer } from "trackside";
import { scriptedModel } from "trackside/testing";

/** Hides digits of numbers with more than three of them. It holds back the digits it has not seen the end of. */
const numbers = streamTransformer("numbers", () => {
  let held = "";
  const hide = (digits: string) => (digits.length > 3 ? "#".repeat(digits.length) : digits);
  return {
    push(chunk) {
      const text = held + chunk;
      held = /\d*$/.exec(text)?.[0] ?? "";
      return text.slice(0, text.length - held.length).replaceAll(/\d+/g, hide);
    },
    flush: () => hide(held),
  };
});

const secret = "Call 112, or me on 0470123456.";
for (const chunk of [1, 4, "whole"] as const) {
  const agent = new Agent({
    name: "a",
    model: scriptedModel([secret], { chunk }),
    hooks: { stream: [numbers] },
  });
  const stream = agent.stream("Your number?");
  let shown = "";
  for await (const event of stream) if (event.type === "text_delta") shown += event.text;
  const { output, messages } = await stream.result;
  console.log(shown, shown === output, JSON.stringify(messages).includes("0470"));
}
