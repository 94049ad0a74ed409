/** Starts runs and reads what comes of them, in a process of its own: does what it is told to, one thing at a time. */
import { Client, Connection } from "@temporalio/client";
import { DONE, PROMPT } from "../workload.ts";
import { now, openTrackside } from "./host.ts";
import type { Place } from "./servers.ts";

export type Order =
  | { readonly do: "trackside"; readonly runs: number; readonly steps: number }
  | { readonly do: "hand"; readonly runs: number; readonly steps: number }
  | { readonly do: "history"; readonly agent: string }
  | { readonly do: "talk"; readonly runs: number }
  | { readonly do: "leave"; readonly agent: string }
  | { readonly do: "cancel"; readonly runId: string };

/** What a run costs. Actions are what Temporal Cloud counts. */
export interface History {
  readonly events: number;
  readonly bytes: number;
  readonly actions: number;
}

const place: Place = JSON.parse(process.argv[2] ?? "");
const connection = await Connection.connect({ address: place.temporal });
const { workflow } = new Client({ connection });
const trackside = openTrackside(place, connection);
await trackside.open();

process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => {
  perform(order).then(
    (ok) => process.send?.({ ok }),
    (error: unknown) => process.send?.({ failed: error instanceof Error ? error.stack : String(error) }),
  );
});
process.send?.("ready");

async function perform(order: Order): Promise<unknown> {
  if (order.do === "trackside") return timed(order.runs, () => run(`plain ${order.steps}`));
  if (order.do === "hand") return timed(order.runs, (i) => byHand(i, order.steps));
  if (order.do === "history") return history(order.agent);
  if (order.do === "talk") return talk(order.runs);
  if (order.do === "leave") return leave(order.agent);
  await trackside.runs.cancel(order.runId);
  return null;
}

async function timed(runs: number, run: (i: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: runs }, (_, i) => run(i)));
  return performance.now() - start;
}

async function run(agent: string): Promise<void> {
  const { runId, result } = await trackside.start(agent, PROMPT);
  await workflow.getHandle(runId).result(); // as the other one waits
  const { output } = await result();
  if (output !== DONE) throw new Error(`${agent} answered "${output}"`);
}

async function byHand(i: number, steps: number): Promise<void> {
  const workflowId = `hand-${now()}-${i}`;
  await workflow.execute("loop", { taskQueue: "hand", workflowId, args: [steps] });
}

async function history(agent: string): Promise<History> {
  const { runId, result } = await trackside.start(agent, PROMPT);
  await result();
  const handle = workflow.getHandle(runId);
  await handle.result();
  const { historyLength, historySize = Number.NaN } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const counted = events?.filter((event) => {
    const {
      workflowExecutionStartedEventAttributes: started,
      activityTaskScheduledEventAttributes: activity,
    } = event;
    const { timerStartedEventAttributes: timer, workflowExecutionSignaledEventAttributes: signal } = event;
    return [started, activity, timer, signal].some((one) => one !== null && one !== undefined);
  });
  return { events: historyLength, bytes: historySize, actions: counted?.length ?? Number.NaN };
}

/** How long each word took from the model's stream in a worker to the reader here. */
async function talk(runs: number): Promise<number[]> {
  const took: number[] = [];
  await Promise.all(
    Array.from({ length: runs }, async () => {
      for await (const event of trackside.stream("talking", PROMPT)) {
        if (event.type !== "text_delta") continue;
        const heard = now();
        for (const said of event.text.trim().split(" ")) took.push(heard - Number(said));
      }
    }),
  );
  return took;
}

/** A run that never ends by itself. */
async function leave(agent: string): Promise<string> {
  const { runId, result } = await trackside.start(agent, PROMPT);
  result().catch(() => {}); // cancelled
  return runId;
}
