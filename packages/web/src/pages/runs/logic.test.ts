import { expect, test } from "vitest";
import { parseSearch } from "../../search.ts";
import { asCurl } from "./curl.ts";
import { isNarrowed, queryOf, readFilters, toggled } from "./filters.ts";
import { priorities } from "./priorities.ts";
import { before, changesOf, changeWords } from "./request-changes.ts";
import { RunLog } from "./run-log.ts";
import { timeScale } from "./time-scale.ts";
import { transcriptOf } from "./transcript.ts";
import type { LiveEvent, RunEvent, SentRequest } from "./types.ts";
import { recoveriesOf, shortId, storyOf } from "./words.ts";

const run = {
  status: "completed",
  outcome: null,
  steps: 3,
  cancel_reason: null,
  parked: null,
  pending_approvals: [],
  definition: { max_steps: 12 },
} as const;

test("a run says why it stopped, in words, and what to do", () => {
  const story = (more: object) => storyOf({ ...run, ...more } as never); // only what a story is told from
  const completed = (stop_reason: string) => ({
    outcome: { status: "completed", stop_reason, message_id: null },
  });
  expect(story(completed("answered")).what).toBe("It answered after 3 steps.");
  expect(story(completed("max_steps")).what).toBe("It reached its most steps, 12.");
  expect(
    story({
      status: "error",
      outcome: { status: "error", failure: { code: "mcp_unavailable", message: "files is away" } },
    }),
  ).toEqual({
    what: "An MCP server could not be reached.",
    why: "files is away",
    next: "Start the server, then retry from the last step.",
  });
  expect(story({ status: "cancelled", outcome: { status: "cancelled", reason: "wrong service" } }).why).toBe(
    "wrong service",
  );
  expect(story({ status: "parked", parked: "Its process died 4 times." }).why).toBe(
    "Its process died 4 times.",
  );
  expect(story({ status: "waiting", pending_approvals: ["a", "b"] }).what).toBe("It waits for 2 decisions.");
  expect(story({ status: "running", cancel_reason: "enough" })).toEqual({
    what: "It is being stopped.",
    why: "enough",
  });
});

test("recoveries name what was begun again, most often first", () => {
  expect(recoveriesOf({ recoveries: { "2/tool/0": 1, "1/model/1": 3 } })).toEqual([
    { effect: "1/model/1", times: 3 },
    { effect: "2/tool/0", times: 1 },
  ]);
  expect(shortId("run_1m7gwwsth000m8vt42d78myc")).toBe("42d78myc");
});

test("the filters of the list are the API's own words, and running takes queued along", () => {
  const filters = readFilters(
    parseSearch("?status=running&status=error&status=nonsense&agent=clerk&range=1h&search=%20refund%20"),
  );
  expect(queryOf(filters, 7_200_500, 50)).toEqual({
    limit: 50,
    status: ["queued", "running", "error"],
    agent: "clerk",
    from: 3_600_000,
    search: "refund",
  });
  expect(queryOf(readFilters(parseSearch("?range=1h&from=5&to=9&after=run_1")), 0, 50)).toEqual({
    limit: 50,
    from: 5,
    to: 9,
    after: "run_1",
  });
  expect(isNarrowed(readFilters({ after: "run_1" }))).toBe(false);
  expect(isNarrowed(filters)).toBe(true);
  expect(toggled(["queued", "error"], "running")).toEqual(["error"]);
  expect(toggled(["error"], "running")).toEqual(["error", "running"]);
});

test("a copied command has no token in it, and survives quotes", () => {
  expect(asCurl("http://h/api/v1/runs/a?children=true")).toBe(
    `curl -sS -H "Authorization: Bearer $TRACKSIDE_TOKEN" 'http://h/api/v1/runs/a?children=true'`,
  );
  expect(asCurl("http://h/x", { method: "POST", body: { input: "it's" } })).toContain(
    `-d '{"input":"it'\\''s"}'`,
  );
});

test("a night's wait is drawn short, and times keep their order", () => {
  const night = { from: 2_000, to: 30_000_000 };
  const scale = timeScale(0, 30_004_000, [night]);
  expect(scale.breaks).toHaveLength(1);
  expect(scale.place(2_000)).toBeGreaterThan(0.25);
  expect(scale.place(30_000_000)).toBeLessThan(0.4);
  expect(scale.place(30_004_000)).toBe(1);
  const places = [0, 1_000, 2_000, 9_000_000, 30_000_000, 30_002_000].map(scale.place);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(scale.ticks.length).toBeLessThan(12);
  expect(timeScale(0, 10_000, [{ from: 1_000, to: 1_500 }]).breaks).toEqual([]);
});

const request = (key: string, more: Partial<SentRequest> = {}): SentRequest => ({
  key,
  kind: "step",
  agent: "clerk",
  step: 1,
  attempt: 1,
  path: [],
  model: "m",
  system: "Be brief.",
  tools: [],
  messages: [],
  usage: null,
  complete: true,
  missing: [],
  ...more,
});

const said = (text: string) => ({ role: "user" as const, content: [{ type: "text", text }] });

test("a request is compared with the one before it of its kind", () => {
  const tool = { name: "a", description: "", input_schema: {} };
  const plan = request("plan/1/model/1", { kind: "planner" });
  const first = request("1/model/1", { tools: [tool], messages: [said("hi"), said("one")] });
  const second = request("2/model/1", {
    tools: [
      { ...tool, description: "new" },
      { ...tool, name: "b" },
    ],
    system: "Be long.",
    messages: [said("hi"), said("two"), said("three")],
  });
  expect(before([plan, first, second], second)).toBe(first);
  expect(before([plan, first, second], first)).toBeUndefined();
  expect(changeWords(changesOf(first, second))).toEqual([
    "The system prompt changed",
    "Tools added: b",
    "Tools changed: a",
    "1 message gone or changed",
    "2 messages new",
    "1 message the same",
  ]);
});

test("priorities come from the definition before the registry", () => {
  const known = [
    { name: "secrets", priority: 10 },
    { name: "pii", priority: null },
  ];
  const found = priorities({ rails: [{ use: "secrets", priority: 5 }, "odd", null] }, known);
  expect([...found]).toEqual([["secrets", 5]]);
  expect([...priorities(null, known)]).toEqual([["secrets", 10]]);
});

const event = (seq: number, type: string, more: object): RunEvent =>
  ({ type, seq, run_id: "r", turn_ref: "t", at: seq, path: [], ...more }) as never; // what the transcript reads

test("a transcript keeps drafts that were taken back, with the reason, and results with their calls", () => {
  const items = transcriptOf(
    [
      event(1, "text", { message_id: "m1", text: "A secret" }),
      event(2, "message_retracted", { message_id: "m1", attempt: 1, reason: "secrets: a key" }),
      event(3, "tool_call", { message_id: "m2", call_id: "c", tool: "a", arguments: {} }),
      event(4, "text", { message_id: "m3", text: "of a sub-agent", run_id: "other" }),
      event(5, "tool_result", { call_id: "c", success: true }),
    ],
    "r",
  );
  expect(items).toMatchObject([
    { kind: "said", text: "A secret", retracted: "secrets: a key" },
    { kind: "call", result: { seq: 5 } },
  ]);
});

test("text that is being written is superseded by its event, and begins again with another attempt", () => {
  let tell = () => {};
  const log = new RunLog("r", (next) => {
    tell = next;
  });
  let told = 0;
  log.subscribe(() => {
    told += 1;
  });
  const delta = (offset: number, text: string): LiveEvent => ({
    type: "text_delta",
    run_id: "r",
    turn_ref: "t",
    path: [],
    after_seq: 0,
    attempt: 1,
    message_id: "m",
    offset,
    text,
  });
  log.add(delta(0, "Hel"));
  log.add(delta(3, "lo"));
  expect(log.live?.text).toBe("Hello");
  log.add(delta(0, "No"));
  expect(log.live?.text).toBe("No");
  expect(told).toBe(0);
  tell();
  expect(told).toBe(1);
  log.add(event(1, "text", { message_id: "m", text: "No." }));
  expect(log.live).toBeUndefined();
  expect(log.add(event(1, "text", { message_id: "m", text: "No." }))).toBe(false);
  expect(log.ended).toBe(false);
  log.load([event(2, "status", { status: "completed" })]);
  expect(log.ended).toBe(true);
});
