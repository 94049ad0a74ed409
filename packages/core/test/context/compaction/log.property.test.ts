import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateMessage } from "../../../src/context/estimate.ts";
import { type Rendered, renderInto } from "../../../src/context/render.ts";
import { Conversation, conversationWith, Log, logOf } from "../../../src/local/conversation.ts";
import type { Message } from "../../../src/schema/message.ts";
import type { LogEntry, Projection } from "../../../src/schema/projection.ts";
import { moves, Writing } from "./conversations.ts";
import { play, sent, targetFor } from "./judge.ts";

/** A log with the projections that making room at random left in it, and where this turn's tail went each time. */
const logs = moves.map((script) => {
  const writing = new Writing();
  const tails: { upTo: number; at: number }[] = [];
  let projection: Projection | null = null;
  for (const [i, move] of script.entries()) {
    if (move.kind !== "compact") writing.make(move);
    else {
      const { entries, upTo, opening } = writing;
      const all = {
        id: `p-${i}`,
        entries: entries.slice(),
        upTo,
        projection,
        opening,
        count: estimateMessage,
        fixed: 0,
        target: 0,
        window: 128_000,
      };
      const { out } = play({ ...all, target: targetFor(all, Math.max(0, move.share)) }, move.says);
      if (out.projection === null) continue;
      projection = out.projection;
      writing.entries.push(projection);
    }
    if (writing.opening !== null) tails.push({ upTo: writing.upTo, at: writing.opening.to });
  }
  return { entries: writing.entries, tails };
});

function rendered(messages: readonly Message[]): Rendered[] {
  const all: Rendered[] = [];
  renderInto(all, messages, 0, messages.length);
  return all;
}

/** The projection that holds for a request up to a position, found the simple way. */
function inForce(entries: readonly LogEntry[], upTo: number): Projection | null {
  return entries.slice(0, upTo).findLast((entry) => entry.role === "projection") ?? null;
}

const requestOf = (entries: readonly LogEntry[], upTo: number) =>
  sent({ entries, upTo, projection: inForce(entries, upTo) });

describe("a log with projections", () => {
  test("H5 B4 it renders as if from the start, whatever was rendered before, and only compaction rewrites the prefix", () => {
    fc.assert(
      fc.property(logs, fc.array(fc.nat(200), { maxLength: 5 }), ({ entries }, looks) => {
        const log = new Log([]);
        let before = "[";
        for (const entry of entries) {
          log.append(entry);
          const upTo = log.messages.length;
          const bytes = JSON.stringify(log.render(upTo));
          expect(bytes).toBe(JSON.stringify(rendered(requestOf(entries, upTo))));
          // Results of one step come together: only whole steps are ever sent.
          if (entry.role !== "tool" && entry.role !== "projection")
            expect(bytes.startsWith(before)).toBe(true);
          before = bytes.slice(0, -1);
          for (const look of looks) {
            const at = look % (upTo + 1);
            expect(log.render(at)).toEqual(rendered(requestOf(entries, at)));
          }
        }
        expect(new Log([...entries]).render(entries.length)).toEqual(log.render(entries.length));
      }),
      { numRuns: 60 },
    );
  });

  test("H5 the tail stays behind the message that opened the turn, also when the history before it is cut", () => {
    fc.assert(
      fc.property(logs, ({ entries, tails }) => {
        const log = new Log([...entries]);
        for (const { upTo, at } of tails) {
          const opened = entries[at - 1];
          const prompt = log.render(upTo);
          const last = prompt[log.renderedLength(at, upTo) - 1];
          expect(opened?.role === "user" && rendered([opened])).toEqual([last]);
          const [head, rest] = [log.shown(upTo, 0, at), log.shown(upTo, at)];
          expect([...head, ...rest]).toEqual(log.shown(upTo));
          expect(head.at(-1)).toBe(opened);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("B6 its size is counted once for each message, and anew only after a compaction", () => {
    fc.assert(
      fc.property(logs, ({ entries }) => {
        const log = new Log([]);
        let counted = 0;
        let projections = 0;
        const count = (message: Message) => {
          counted += 1;
          return estimateMessage(message);
        };
        let expected = 0;
        for (const entry of entries) {
          log.append(entry);
          const upTo = log.messages.length;
          const request = requestOf(entries, upTo);
          expected = request.reduce((n, one) => n + estimateMessage(one), 0);
          expect([log.tokens(upTo, count), log.tokens(upTo, count)]).toEqual([expected, expected]);
          if (entry.role === "projection") projections += request.length;
        }
        const messages = entries.filter(({ role }) => role !== "projection").length;
        expect(counted).toBeLessThanOrEqual(messages + projections);
      }),
      { numRuns: 60 },
    );
  });

  test("B4 summaries go along as JSON and are seen by nobody", () => {
    fc.assert(
      fc.property(logs, ({ entries }) => {
        const written = JSON.stringify(conversationWith("c", new Log([...entries])));
        const read = Conversation.fromJSON(JSON.parse(written));
        expect(logOf(read).messages).toEqual(JSON.parse(JSON.stringify(entries)));
        expect(logOf(read).render(entries.length)).toEqual(
          rendered(JSON.parse(JSON.stringify(requestOf(entries, entries.length)))),
        );
        expect(read.messages.map(({ id }) => id)).toEqual(
          entries.filter(({ role }) => role !== "projection").map(({ id }) => id),
        );
        expect(
          entries.every(({ id, role }) => (role === "projection") === (logOf(read).find(id) === undefined)),
        ).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

test("T7 wire ids of calls that a rail put into a projection are in use", () => {
  const call = { type: "tool_call", call_id: "c", wire_id: "w", tool: "look", arguments: {} } as const;
  const log = new Log([]);
  log.append({ id: "u", role: "user", parts: [{ type: "text", text: "hi" }] });
  log.append({
    id: "p",
    role: "projection",
    cuts: [{ from: 0, to: 1, summary: null, messages: [{ id: "a", role: "assistant", parts: [call] }] }],
    stubs_to: 0,
    tokens_before: 0,
    tokens_after: 0,
  });
  expect([...log.wireIds]).toEqual(["w"]);
});

test("a stored conversation whose cuts overlap, or reach behind themselves, is refused and says where", () => {
  const stored = (cuts: unknown, stubs_to = 0) => ({
    v: 1,
    id: "c",
    messages: [
      { id: "u", role: "user", parts: [] },
      { id: "a", role: "assistant", parts: [] },
      { id: "p", role: "projection", cuts, stubs_to, tokens_before: 0, tokens_after: 0 },
    ],
  });
  const read = (cuts: unknown, stubsTo?: number) => () => Conversation.fromJSON(stored(cuts, stubsTo));
  const cut = (from: number, to: number) => ({ from, to, summary: null });
  expect(read([cut(0, 2)])).not.toThrow();
  expect(read([cut(0, 2), cut(1, 2)])).toThrow(
    /messages\.2 \(p\): a cut from 1 begins before the one that ends at 2/,
  );
  expect(read([cut(0, 4)])).toThrow(/reaches to 4, and stands at 2 itself/);
  expect(read([], 3)).toThrow(/reaches to 3/);
  expect(read([cut(1, 1)])).toThrow(/`to` comes after `from`/);
});
