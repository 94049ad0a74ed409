import {
  Agent,
  type AgentDefinitionInput,
  alert,
  defineRail,
  type Json,
  type LanguageModel,
} from "trackside";
import { shopTools } from "./shop.ts";

const INSTRUCTIONS = `You are the on-call assistant of a small online shop with the services storefront, checkout, payments and search.
The storefront calls checkout and search, checkout calls payments.
Find out with the tools before you answer; ask for several things at once where you can. Say what you are about to do in one
short sentence, then do it. Answer briefly and exactly, in plain text without Markdown. Open an incident only when asked to.`;

const ADDRESS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/** What tools return about people is not for the model: neither it nor the log gets to see an e-mail address. */
export const noAddresses = defineRail(
  { name: "no-addresses", on: ["POST_TOOL_CALL"], priority: 15 },
  (ctx) => {
    const found = JSON.stringify(ctx.inputs.result).match(ADDRESS);
    if (found === null) return;
    ctx.inputs.result = withoutAddresses(ctx.inputs.result);
    const what = found.length === 1 ? "an e-mail address" : `${found.length} e-mail addresses`;
    return alert(`took ${what} out of what ${ctx.inputs.toolName} returned`);
  },
);

function withoutAddresses(value: Json): Json {
  return JSON.parse(JSON.stringify(value).replaceAll(ADDRESS, "[address]"));
}

const ON_CALL = { name: "on-call", instructions: INSTRUCTIONS };
const GATED = ["open_incident"];
const MAX_STEPS = 10;

/** The agent of `trackside chat`, on whichever model. */
export function onCallAgent(model: string | LanguageModel): Agent {
  const tools = shopTools();
  return new Agent({ ...ON_CALL, model, tools, hitlTools: GATED, rails: [noAddresses], maxSteps: MAX_STEPS });
}

/** The same as it is serialized, for the control room. */
export function onCallDefinition(model: string): AgentDefinitionInput {
  return {
    ...ON_CALL,
    model,
    max_steps: MAX_STEPS,
    hitl_tools: GATED,
    tools: shopTools().map(({ name }) => name),
    rails: [{ use: noAddresses.name }],
  };
}
