/** Trackside's agents with what watches over a context, for the scenarios of it. */
import { Agent, Conversation, defineTool } from "trackside";
import { z } from "zod";
import { v4Model } from "../contestants/v4-model.ts";
import { add, PROMPT, perScript, type Script, TOOL } from "../workload.ts";

const MAX_STEPS = 5000;
/** A window that nothing here comes near. */
const WINDOW = 10_000_000;
const tools = [defineTool({ ...TOOL, input: z.object({ n: z.number() }), execute: ({ n }) => add(n) })];

type Run = (script: Script) => Promise<unknown>;
type Budget = "per-message" | `limit:${number}` | null;

/** The agent of the other scenarios, with a budget to keep. */
export function budgeted(budgetAwareness: Budget): Run {
  const agent = perScript((script) => {
    const window = budgetAwareness === null ? {} : { contextWindowTokens: WINDOW };
    const model = v4Model(script);
    return new Agent({ name: "bench", model, tools, maxSteps: MAX_STEPS, budgetAwareness, ...window });
  });
  return (script) => agent(script).run(PROMPT);
}

/** The same with sub-agents it could spawn and an agent it could hand over to. */
export function delegating(budgetAwareness: Budget): Run {
  const other = new Agent({ name: "other", model: v4Model({ steps: 0, deltas: 0 }) });
  const agent = perScript(
    (script) =>
      new Agent({
        name: "bench",
        model: v4Model(script),
        tools,
        maxSteps: MAX_STEPS,
        budgetAwareness,
        contextWindowTokens: WINDOW,
        allowSelfSpawn: true,
        allowParallelSubagents: true,
        handoffs: [other],
      }),
  );
  return (script) => agent(script).run(PROMPT);
}

/** What one turn of a long conversation says: with its call and the result about 1.5 kB in four messages. */
const QUESTION = "Which parts on this shelf are below their minimum, and who has ordered them last? ".repeat(
  3,
);
const SHELF = "bolt M6 x 20, 14 of 50, ordered by the workshop in week 31; ".repeat(20);
/** Less than a tenth of what a message has, so that nearly everything has to go. */
const TOKENS_PER_MESSAGE = 8;

/** A turn that continues a long conversation: with `fits` there is room for all of it, else it has to be compacted. */
export async function longTurn(messages: number, fits: boolean): Promise<() => Promise<LongTurn>> {
  let calls = 0;
  const fake = v4Model({ steps: 0, deltas: 0 }); // it answers everything alike, a summariser too
  const model: typeof fake = {
    ...fake,
    doStream: (options) => {
      calls++;
      return fake.doStream(options);
    },
  };
  const contextWindowTokens = fits ? WINDOW : messages * TOKENS_PER_MESSAGE;
  const agent = new Agent({ name: "bench", model, tools, budgetAwareness: "limit:90", contextWindowTokens });
  const template = await oneTurn();
  return async () => {
    const conversation = repeated(template, messages);
    const callsBefore = calls;
    const before = process.cpuUsage();
    await agent.run(PROMPT, { conversation });
    const { user, system } = process.cpuUsage(before);
    const log = conversation.toJSON().messages;
    if (log.some(({ role }) => role === "projection") === fits)
      throw new Error(fits ? "it was compacted" : "it was not compacted");
    return { cpuMillis: (user + system) / 1e3, summaries: calls - callsBefore - 1 };
  };
}

export interface LongTurn {
  cpuMillis: number;
  summaries: number;
}

/** A question, a call, its result and an answer, as they are stored. */
async function oneTurn(): Promise<string> {
  const shelf = defineTool({ ...TOOL, input: z.object({ n: z.number() }), execute: () => SHELF });
  const agent = new Agent({ name: "bench", model: v4Model({ steps: 1, deltas: 0 }), tools: [shelf] });
  const { conversation } = await agent.run(QUESTION);
  return JSON.stringify(conversation.toJSON().messages).slice(1, -1);
}

/** The same turn over and over, each with ids of its own. Its messages are new objects: nothing is known of them yet. */
function repeated(turn: string, messages: number): Conversation {
  const id = /run_\w+/.exec(turn)?.[0] ?? "";
  const turns = Array.from({ length: messages / 4 }, (_, i) =>
    turn.replaceAll(id, `${id}t${i}`).replaceAll('"call-0"', `"call-${i}"`),
  );
  return Conversation.fromJSON({ v: 1, id: "bench", messages: JSON.parse(`[${turns.join()}]`) });
}
