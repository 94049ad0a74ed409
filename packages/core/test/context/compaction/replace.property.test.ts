import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkReplacement, pairProblem, replace } from "../../../src/context/compaction/check-replacement.ts";
import { project } from "../../../src/context/compaction/project.ts";
import type { CompactionInput } from "../../../src/context/compaction/view.ts";
import { estimateMessage } from "../../../src/context/estimate.ts";
import type { Message } from "../../../src/schema/message.ts";
import { projectionProblem } from "../../../src/schema/projection.ts";
import { callIds, moves, Writing } from "./conversations.ts";
import { expectSound, play, sent, targetFor } from "./judge.ts";

const logs = fc
  .tuple(moves, fc.integer({ min: 0, max: 100 }), fc.boolean())
  .map(([script, share, earlier]) => {
    const log = new Writing();
    for (const move of script) if (move.kind !== "compact") log.make(move);
    const before: CompactionInput = {
      id: "earlier",
      entries: log.entries,
      upTo: log.upTo,
      projection: null,
      opening: log.opening,
      count: estimateMessage,
      fixed: 10,
      target: 0,
      window: 128_000,
    };
    const { projection } = play({ ...before, target: targetFor(before, share) }).out;
    if (!earlier || projection === null) return before;
    return { ...before, entries: [...log.entries, projection], upTo: log.upTo + 1, projection };
  });

/** What a rail might do to one step or message: leave it, drop it, shorten it, put a note before it. */
const deeds = fc.array(fc.constantFrom("keep", "keep", "drop", "shorten", "note"), {
  minLength: 60,
  maxLength: 60,
});

/** Messages that belong together: a call with its results. */
function groups(messages: readonly Message[]): Message[][] {
  const all: Message[][] = [];
  for (const message of messages) {
    if (message.role === "tool") all.at(-1)?.push(message);
    else all.push([message]);
  }
  return all;
}

function shorten(message: Message): Message {
  if (message.role === "tool") return { ...message, output: { type: "text", value: "short" } };
  if (message.role === "user") return { ...message, parts: [{ type: "text", text: "short" }] };
  return { ...message, parts: message.parts.filter(({ type }) => type === "tool_call" || type === "text") };
}

function asRailWants(input: CompactionInput, done: readonly string[]): Message[] {
  const { opening, entries } = input;
  const stays = new Set(opening === null ? [] : entries.slice(opening.from, opening.to));
  return groups(sent(input)).flatMap((group, i) => {
    if (group.some((message) => stays.has(message))) return group;
    const deed = done[i % done.length];
    if (deed === "drop") return [];
    if (deed === "shorten") return group.map(shorten);
    const note: Message = { id: `note-${i}`, role: "user", parts: [{ type: "text", text: "by the way" }] };
    return deed === "note" ? [note, ...group] : group;
  });
}

/** Ids are not sent, and a summary has its projection's. */
const content = (messages: readonly Message[]) => messages.map(({ id: _id, ...rest }) => rest);

describe("R4 B4 what a CONTEXT_WINDOW rail wants sent instead", () => {
  test("R4 it is sent exactly so, the log stays as it is, and a later compaction goes on from there", () => {
    fc.assert(
      fc.property(logs, deeds, fc.integer({ min: 0, max: 100 }), (input, done, share) => {
        const wanted = asRailWants(input, done);
        const found = replace(wanted, { ...input, id: "rail" });
        if ("problem" in found) {
          expect(found.problem).toMatch(/nothing it could stand in for/);
          return;
        }
        const projection = found.projection ?? input.projection;
        expect(content(project(input.entries, input.upTo, projection))).toEqual(content(wanted));
        expect(found.change.tokens_after).toBe(
          wanted.reduce((n, one) => n + estimateMessage(one), input.fixed),
        );
        if (projection === null || found.projection === null) return;
        expect(projectionProblem(projection, input.upTo)).toBeUndefined();

        const later: Message = { id: "later", role: "assistant", parts: [{ type: "text", text: "I see." }] };
        const entries = [...input.entries, projection, later];
        const next = { ...input, id: "next", entries, upTo: entries.length, projection };
        const tight = { ...next, target: targetFor(next, share) };
        expectSound(tight, play(tight));
      }),
      { numRuns: 150 },
    );
  });

  test("R4 what it left alone is not stored again", () => {
    fc.assert(
      fc.property(logs, fc.nat(30), (input, n) => {
        const shown = sent(input);
        expect(replace(shown, input)).toMatchObject({ projection: null });
        const stays = new Set(
          input.opening === null ? [] : input.entries.slice(input.opening.from, input.opening.to),
        );
        const wanted = groups(shown).filter((group, i) => i >= n || group.some((one) => stays.has(one)));
        const found = replace(wanted.flat(), { ...input, id: "rail" });
        const cuts = "projection" in found ? (found.projection?.cuts ?? []) : [];
        expect(cuts.flatMap(({ messages }) => messages ?? [])).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe("R4 B4 a rail that breaks a rule is told which", () => {
  const log = new Writing();
  const text = (value: string) => ({ output: { type: "text" as const, value }, malformed: false });
  log.make({ kind: "turn", hooks: [], text: "one" });
  log.make({ kind: "step", text: "", calls: [text("a"), text("b")] });
  log.make({ kind: "answer", text: "done", partial: false, hooks: [] });
  log.make({ kind: "turn", hooks: ["remember"], text: "two" });
  log.make({ kind: "step", text: "", calls: [text("c")] });
  const input = {
    id: "rail",
    entries: log.entries,
    upTo: log.upTo,
    projection: null,
    opening: log.opening,
    count: estimateMessage,
    fixed: 0,
  };
  const shown = project(log.entries, log.upTo, null);
  const without = (...gone: number[]) => shown.filter((_, i) => !gone.includes(i));

  test.each<[string, Message[], RegExp]>([
    ["a result is gone", without(2), /the call call-0 of look has no result right behind it/],
    ["a call is gone", without(1), /the result call-0.result of look has no call right before it/],
    ["the message is gone", without(6), /this turn's opening \(m-5, m-6\) must be in it unchanged/],
    ["a durable part is gone", without(5), /this turn's opening/],
    ["the message is changed", shown.map((one, i) => (i === 6 ? shorten(one) : one)), /this turn's opening/],
    [
      "the opening is turned round",
      [...shown.slice(0, 5), ...shown.slice(5, 7).reverse(), ...shown.slice(7)],
      /opening/,
    ],
    [
      "a step is there twice",
      [...shown.slice(0, 4), ...shown.slice(1)],
      /the call call-0 of look is there twice/,
    ],
    ["nothing is left", [], /this turn's opening/],
  ])("R4 %s", (_what, messages, problem) => {
    expect(checkReplacement(messages, input)).toMatch(problem);
  });

  test("R4 a result with another wire id", () => {
    const wired = shown.map((one) => (one.role === "tool" ? { ...one, wire_id: "other" } : one));
    expect(checkReplacement(wired, input)).toMatch(/has another wire_id than its call/);
  });

  test("B4 a call that waits stays, with what has come of its siblings", () => {
    const open = ["call-2"];
    const entries = log.entries.slice(0, -1);
    const waiting = { ...input, entries, upTo: entries.length, open };
    const now = project(entries, entries.length, null);
    expect(callIds(now.at(-1) ?? now[0] ?? (shown[0] as Message))).toEqual(open);
    expect(pairProblem(now, new Set(open))).toBeUndefined();
    expect(checkReplacement(now, waiting)).toBeUndefined();
    expect(checkReplacement(now.slice(4), waiting)).toBeUndefined();
    expect(checkReplacement(now.slice(0, -1), waiting)).toMatch(/a call that waits for its result \(m-7\)/);
  });
});
