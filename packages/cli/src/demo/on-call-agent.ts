import { Agent, alert, defineRail, type Json, type LanguageModel } from "trackside";
import { shopTools } from "./shop.ts";

const INSTRUCTIONS = `You are the on-call assistant of a small online shop with the services storefront, checkout, payments and search.
The storefront calls checkout and search, checkout calls payments.
Find out with the tools before you answer; ask for several things at once where you can. Say what you are about to do in one
short sentence, then do it. Answer briefly and exactly, in plain text without Markdown. Open an incident only when asked to.`;

const ADDRESS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/** What tools return about people is not for the model: neither it nor the log gets to see an e-mail address. */
const noAddresses = defineRail({ name: "no-addresses", on: ["POST_TOOL_CALL"], priority: 15 }, (ctx) => {
  const found = JSON.stringify(ctx.inputs.result).match(ADDRESS);
  if (found === null) return;
  ctx.inputs.result = withoutAddresses(ctx.inputs.result);
  const what = found.length === 1 ? "an e-mail address" : `${found.length} e-mail addresses`;
  return alert(`took ${what} out of what ${ctx.inputs.toolName} returned`);
});

function withoutAddresses(value: Json): Json {
  return JSON.parse(JSON.stringify(value).replaceAll(ADDRESS, "[address]"));
}

/** The agent of `trackside start`, on whichever model. */
export function onCallAgent(model: string | LanguageModel): Agent {
  return new Agent({
    name: "on-call",
    model,
    instructions: INSTRUCTIONS,
    tools: shopTools(),
    hitlTools: ["open_incident"],
    rails: [noAddresses],
    maxSteps: 10,
  });
}
