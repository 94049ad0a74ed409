/** Trackside on PostgreSQL and Redis, driven by Temporal, with the agents that these measurements need. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Connection } from "@temporalio/client";
import { postgres, redisBus, Trackside } from "@trackside/host";
import { temporal } from "@trackside/temporal";
import { Agent, defineRail, defineTool } from "trackside";
import { z } from "zod";
import { v4Model } from "../contestants/v4-model.ts";
import { add, MAX_STEPS, TOOL } from "../workload.ts";
import type { Place } from "./servers.ts";

export const TASK_QUEUE = "trackside";
/** Runs of so many one-tool steps: with `plain` and `guarded` before the number they are agents. */
export const STEPS = [5, 10, 20, 25, 100] as const;
/** What a talking agent says: so many words, so far apart. Each is the time at which it was said. */
export const WORDS = 60;
export const PAUSE_MS = 20;

export const now = () => performance.timeOrigin + performance.now();

/** Told when something that never ends by itself has begun in this process. */
export const silent = { onBegun: (_what: "model" | "tool") => {} };

const input = z.object({ n: z.number() });
const addTool = defineTool({ ...TOOL, input, effect: "none", execute: ({ n }) => add(n) });
const silentTool = defineTool({
  ...TOOL,
  input,
  effect: "none",
  execute: () => {
    silent.onBegun("tool");
    return new Promise<number>(() => {});
  },
});

function silentModel(): LanguageModelV4 {
  const model = v4Model({ steps: 1, deltas: 0 });
  const doStream = () => {
    silent.onBegun("model");
    return new Promise<never>(() => {});
  };
  return { ...model, doStream };
}

function talkingModel(): LanguageModelV4 {
  const model = v4Model({ steps: 0, deltas: 0 });
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const parts = async function* () {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "0" };
    for (let i = 0; i < WORDS; i++) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      yield { type: "text-delta", id: "0", delta: `${now()} ` };
    }
    yield { type: "text-end", id: "0" };
    yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
  };
  // What a provider would send, without the fields that nobody reads here.
  const stream = () => ReadableStream.from(parts()) as unknown as ReadableStream<LanguageModelV4StreamPart>;
  return { ...model, doStream: async () => ({ stream: stream() }) };
}

const POINTS = [
  "START",
  "FINISHED",
  "ERROR",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
  "MODEL_ERROR",
  "TOOL_ERROR",
  "HANDOFF",
  "CONTEXT_WINDOW",
] as const;

/** A hook and a rail at every point, each of which waits for something, as one that asks a service does. */
function guarded(steps: number): Agent<readonly [typeof addTool]> {
  const wait = () => new Promise<void>((resolve) => setImmediate(resolve));
  const agent = new Agent({
    name: `guarded ${steps}`,
    model: v4Model({ steps, deltas: 0 }),
    tools: [addTool],
    maxSteps: MAX_STEPS,
    rails: [defineRail({ name: "watch" }, wait)],
  });
  for (const point of POINTS) agent.hookManager.add(point, wait);
  return agent;
}

export function openTrackside(place: Place, connection: Connection): Trackside {
  const agents = [
    ...STEPS.flatMap((steps) => [
      new Agent({
        name: `plain ${steps}`,
        model: v4Model({ steps, deltas: 0 }),
        tools: [addTool],
        maxSteps: MAX_STEPS,
      }),
      guarded(steps),
    ]),
    new Agent({ name: "talking", model: talkingModel() }),
    new Agent({ name: "in a tool", model: v4Model({ steps: 1, deltas: 0 }), tools: [silentTool] }),
    new Agent({ name: "in a model", model: silentModel() }),
  ];
  return new Trackside({
    store: postgres(place.postgres),
    bus: redisBus(place.redis),
    agents: agents as never, // agents of different tools in one list
    engine: temporal({ connection, taskQueue: TASK_QUEUE }),
  });
}
