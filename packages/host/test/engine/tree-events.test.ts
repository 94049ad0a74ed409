import { Agent, type DurableEvent, type LiveEvent } from "trackside";
import { expect, test } from "vitest";
import { parseCursor } from "../../src/bus/index.ts";
import type { StreamedEvent, Trackside } from "../../src/index.ts";
import { FENCED } from "../../src/journal/lease.ts";
import { rows } from "../../src/store/index.ts";
import { screen } from "../bus/cut-anywhere.ts";
import { type Cast, cast, spawn, spawnSelf } from "./support/cast.ts";
import { databaseFile as file } from "./support/database.ts";
import { gated, hostOf, isWhole, meddle } from "./support/hosts.ts";
import { until } from "./support/until.ts";

type Event = DurableEvent | LiveEvent;

/** Two sub-agents side by side, one of which has one of its own, and another after them. */
const PARTS: Cast = {
  Go: [spawn("left", "right"), spawnSelf("last"), "all of it is done"],
  left: [{ text: "I ask another.", ...spawnSelf("deep") }, "left is done, and said so at some length"],
  deep: [{ text: "Let me look.", calls: [{ tool: "work", args: { n: 1 } }] }, "deep is done"],
  right: [{ calls: [{ tool: "work", args: { n: 2 } }] }, "right is done"],
  last: ["last is done"],
};

function treeHost(path = file()) {
  const work = gated("work", { effect: "none" });
  const agent = new Agent({
    name: "root",
    model: cast(PARTS, 3),
    tools: [work.tool],
    allowParallelSubagents: true,
    allowSelfSpawn: true,
  });
  return { work, host: hostOf(path, [agent]) };
}

async function all(reading: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> {
  const found: StreamedEvent[] = [];
  for await (const one of reading) found.push(one);
  return found;
}

const durable = (events: readonly Event[]) => events.filter((event): event is DurableEvent => "seq" in event);

function byRun(events: readonly Event[]): Map<string, DurableEvent[]> {
  const runs = new Map<string, DurableEvent[]>();
  for (const event of durable(events)) runs.set(event.run_id, [...(runs.get(event.run_id) ?? []), event]);
  return runs;
}

/** Every sub-agent's events come after the one that says it started and before the one that says it completed. */
function expectInPlace(events: readonly Event[]): void {
  const at = (child: string, state: string) =>
    events.findIndex((one) => one.type === "subagent" && one.child_run_id === child && one.state === state);
  for (const [i, event] of events.entries()) {
    const started = at(event.run_id, "started");
    if (event.path.filter((part) => part !== "planner").length === 0) continue;
    expect(started).toBeGreaterThanOrEqual(0);
    expect(started).toBeLessThan(i);
    expect(at(event.run_id, "completed")).toBeGreaterThan(i);
  }
}

/** What each run says in the end, from its own record. */
async function truth(host: Trackside, runs: Iterable<string>): Promise<Map<string, readonly DurableEvent[]>> {
  const found = new Map<string, readonly DurableEvent[]>();
  for (const id of runs) found.set(id, await host.runs.events(id));
  return found;
}

test("E4 a reader of a run is given its sub-agents' events, and theirs, each without a gap and in its place", async () => {
  const { host, work } = treeHost();
  const { runId } = await host.start("root", "Go");
  const reading = all(host.runs.follow(runId));
  await until(() => (work.begun.length === 2 ? true : undefined));
  work.go();
  const events = (await reading).map(({ event }) => event);
  const runs = byRun(events);
  expect(runs.size).toBe(5);
  for (const own of runs.values()) expect(isWhole(own as never)).toBe(true);
  expectInPlace(events);
  expect(await truth(host, runs.keys())).toEqual(runs);
  expect(events.at(-1)).toMatchObject({ run_id: runId, type: "status", status: "completed" });
  expect((await reading).at(-1)?.cursor).toMatch(/^\d+$/); // nobody is under way any more
  // Live text of sub-agents too, which adds up.
  expect(events.some((event) => event.type === "text_delta" && event.run_id !== runId)).toBe(true);
  screen(events);

  const listed = await host.runs.events(runId, { children: true });
  expectInPlace(listed);
  expect(byRun(listed)).toEqual(runs);
  expect(await host.runs.events(runId)).toEqual(runs.get(runId));
});

test("E4 a reader that is cut after any event goes on with the rest, and ends with the same transcript", async () => {
  const { host, work } = treeHost();
  work.go();
  const { runId, result } = await host.start("root", "Go");
  await result();
  const whole = await all(host.runs.follow(runId));
  for (const [i, { cursor }] of whole.entries()) {
    const rest = await all(host.runs.follow(runId, { after: cursor }));
    expect(rest.map(({ event }) => event)).toEqual(whole.slice(i + 1).map(({ event }) => event));
    expect(rest.map((one) => one.cursor)).toEqual(whole.slice(i + 1).map((one) => one.cursor));
  }
  // A cursor that says nothing of sub-agents under way gets all of theirs.
  const at = whole.findIndex(({ cursor }) => Object.keys(parseCursor(cursor).children).length >= 2);
  const { seq } = parseCursor(whole[at]?.cursor ?? "");
  const again = await all(host.runs.follow(runId, { after: String(seq) }));
  for (const [id, events] of byRun(again.map(({ event }) => event)))
    expect(isWhole(events as never)).toBe(id !== runId);
});

test("E4 a reader that comes back after every single event, while it happens, misses nothing and sees nothing twice", async () => {
  const { host, work } = treeHost();
  const { runId } = await host.start("root", "Go");
  const seen: Event[] = [];
  let cursor = "0";
  const isOver = () => {
    const last = seen.at(-1);
    return last?.run_id === runId && last.type === "status" && last.status === "completed";
  };
  while (!isOver()) {
    for await (const one of host.runs.follow(runId, { after: cursor })) {
      seen.push(one.event);
      cursor = one.cursor;
      break;
    }
    if (work.begun.length === 2) work.go();
  }
  const runs = byRun(seen);
  expect(await truth(host, runs.keys())).toEqual(runs);
  expectInPlace(durable(seen));
  screen(seen);
});

test("E4 whoever holds the stream of a tree that goes on elsewhere sees the rest of it, once", async () => {
  const path = file();
  const { host: first, work } = treeHost(path);
  const stream = first.stream("root", "Go");
  const events: Event[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event as Event);
  })();
  await until(() => (work.begun.length === 2 ? true : undefined));
  // Others take it, as they do from a process that was frozen.
  await meddle(path, (db) => rows(db.updateTable("processes").set({ expires_at: FENCED })));
  const { host: second, work: again } = treeHost(path);
  again.go();
  await second.open();
  await stream.result;
  await reading;
  const runs = byRun(events);
  for (const own of runs.values()) expect(isWhole(own as never)).toBe(true);
  expect(await truth(second, runs.keys())).toEqual(runs);
});
