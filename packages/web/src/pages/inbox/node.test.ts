import type { DurableEvent } from "trackside/schema";
import { expect, test } from "vitest";
import { actionsOf } from "./actions.ts";
import { questionOf, titleOf } from "./approval.ts";
import { approval } from "./fixtures.ts";
import { nodeConsequences } from "./node-choices.ts";
import { nodeStory } from "./node-story.ts";
import { sampleOf } from "./sample.ts";

const asked = approval({
  kind: "workflow_node",
  tool: "ask",
  agent: "release",
  reasons: ["Release 2.14?"],
  deadline: 9,
});
const waits = approval({ ...asked, choices: ["submit", "reject"], tool: "order" });

test("L8 a node asks in its own words; one that waits says where", () => {
  expect(questionOf(asked)).toBe("release asks: Release 2.14?");
  expect(titleOf(asked)).toBe("Release 2.14?");
  expect(questionOf(waits)).toBe("release waits at order");
  expect(titleOf(waits)).toBe("order");
  const long = approval({ ...asked, reasons: [`${"x".repeat(200)}\nmore`] });
  expect(titleOf(long)).toHaveLength(160);
  expect(actionsOf(waits).map(({ label, needsResponse }) => [label, needsResponse])).toEqual([
    ["Send it to order", true],
    ["Reject order", false],
  ]);
});

const tool = { kind: "tool", tool: "t" } as const;
const nodes = {
  ask: { kind: "approval", message: "?" } as const,
  roll: tool,
  hold: { ...tool, name: "Hold it" },
};

test("W5 what each choice leads to is told by the edges", () => {
  const firm = { name: "w", nodes, edges: [{ from: "ask", to: "roll" }] };
  expect(nodeConsequences(firm, "ask", asked)).toMatchObject({
    approve: "The node is done, with your answer as its output. Next: roll.",
    reject:
      "The node fails with your reason. roll is skipped. What does not need it ends, then the run fails.",
  });
  const kind = { ...firm, edges: [...firm.edges, { from: "ask", to: "hold", when: "rejected" as const }] };
  expect(nodeConsequences(kind, "ask", asked)).toMatchObject({
    reject: "It takes its rejected edge with your reason. Next: Hold it.",
    timeout: "It takes its rejected edge because nobody decided in time. Next: Hold it.",
  });
  const last = { name: "w", nodes, edges: [{ from: "ask", to: "hold", when: "failed" as const }] };
  expect(nodeConsequences(last, "ask", { ...asked, deadline: null })).toMatchObject({
    approve: "The node is done, with your answer as its output. Nothing follows it.",
    reject: "The node fails with your reason and takes its failed edge. Next: Hold it.",
    timeout: "It waits until somebody decides.",
  });
  expect(nodeConsequences(last, "gone", asked)).toEqual({});
});

let seq = 0;
const event = (type: string, more: object): DurableEvent =>
  ({ type, run_id: "r", turn_ref: "t", seq: ++seq, at: seq * 1000, path: [], ...more }) as never; // only what is read
const node = (id: string, state: string, more: object = {}) =>
  event("node", { node: id, kind: "tool", state, ...more });

test("what became of the nodes before the question is told, and what is under way beside it", () => {
  const events = [
    node("build", "started"),
    node("side", "started"),
    node("build", "retrying", { retry_in_ms: 500, failure: { message: "no network" } }),
    node("build", "started", { attempt: 2 }),
    node("build", "completed", { attempt: 2, output: { ok: true } }),
    node("check", "completed", { port: "true" }),
    node("other", "skipped", { reason: '"check" went true' }),
    node("many", "completed", { output: Array.from({ length: 51 }, () => 1) }),
    node("ask", "started"),
    event("approval", { approval_id: "a", kind: "workflow_node", state: "pending", tool: "ask" }),
    node("late", "completed"),
  ];
  expect(nodeStory(events, "a").map(({ who, did, text }) => [who, did, text])).toEqual([
    ["build", "failed, and is tried again in 500 ms", "no network"],
    ["build", "is done after 1.0 s, 2 tries", '{"ok":true}'],
    ["check", "went true", ""],
    ["other", "was skipped", '"check" went true'],
    ["many", "is done", "51 entries"],
    ["side", "is under way", ""],
  ]);
});

test("a sample has the shape that is asked for", () => {
  const schema = {
    type: "object",
    properties: {
      order: { type: "string" },
      size: { enum: ["s", "m"] },
      lines: { type: "array", items: { type: "object", properties: { amount: { type: "integer" } } } },
    },
  };
  expect(sampleOf(schema)).toEqual({ order: "…", size: "s", lines: [{ amount: 1 }] });
  expect(sampleOf({})).toEqual({});
});
