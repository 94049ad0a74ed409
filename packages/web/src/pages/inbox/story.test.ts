import type { DurableEvent } from "trackside/schema";
import { expect, test } from "vitest";
import { storyOf } from "./story.ts";

let seq = 0;
/** An event with its stamp; what a test leaves out is not read. */
const event = (given: object) =>
  ({ run_id: "run_1", turn_ref: "t", seq: ++seq, at: seq, path: [], ...given }) as unknown as DurableEvent;

const told = (...events: DurableEvent[]) =>
  storyOf(events, "keeper").map(({ who, did, text }) => [who, did, text]);

test("what was said and done is told in order, without what only machines care for", () => {
  expect(
    told(
      event({ type: "status", status: "starting" }),
      event({ type: "text", text: "I look first." }),
      event({ type: "tool_call", tool: "check", arguments: { service: "x" } }),
      event({
        type: "tool_result",
        tool: "check",
        success: true,
        duration_ms: 1200,
        output: { type: "json", value: { ok: 1 } },
      }),
      event({ type: "usage" }),
      event({ type: "text", text: "  " }),
    ),
  ).toEqual([
    ["keeper", "said", "I look first."],
    ["keeper", "called check", '{"service":"x"}'],
    ["check", "returned after 1.2 s", '{"ok":1}'],
  ]);
});

test("of rails those that spoke are told, with their reasons; decided questions with who decided", () => {
  const pass = { rail: "quiet", action: "continue", reason: "", shadow: false };
  const asked = { rail: "night-watch", action: "ask", reason: "it is late", shadow: true };
  expect(
    told(
      event({ type: "rail", point: "PRE_TOOL_CALL", records: [pass] }),
      event({ type: "rail", point: "PRE_TOOL_CALL", records: [pass, asked] }),
      event({ type: "approval", state: "pending", tool: "x", reasons: [] }),
      event({ type: "approval", state: "rejected", tool: "x", reasons: ["why"], decided_by: "bo" }),
    ),
  ).toEqual([
    ["rails at PRE_TOOL_CALL", "said", "night-watch: ask (shadow), it is late"],
    ["x", "rejected by bo", "why"],
  ]);
});
