import { Agent, type LanguageModel } from "trackside";
import { shopTools } from "./shop.ts";

const INSTRUCTIONS = `You are the on-call assistant of a small online shop with the services storefront, checkout, payments and search.
The storefront calls checkout and search, checkout calls payments.
Find out with the tools before you answer; ask for several things at once where you can. Say what you are about to do in one
short sentence, then do it. Answer briefly and exactly, in plain text without Markdown. Open an incident only when asked to.`;

/** The agent of \`trackside start\`, on whichever model. */
export function onCallAgent(model: string | LanguageModel): Agent {
  return new Agent({ name: "on-call", model, instructions: INSTRUCTIONS, tools: shopTools(), maxSteps: 10 });
}
