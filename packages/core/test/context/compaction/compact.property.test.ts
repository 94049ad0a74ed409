import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CompactionInput } from "../../../src/context/compaction/view.ts";
import { estimateMessage } from "../../../src/context/estimate.ts";
import { frozenCopy } from "../../../src/schema/json.ts";
import type { Projection } from "../../../src/schema/projection.ts";
import { type Move, moves, Writing } from "./conversations.ts";
import { expectSound, type Played, play, sent, targetFor } from "./judge.ts";

const FIXED = 50;

function inputOf(log: Writing, projection: Projection | null, id: string, window: number): CompactionInput {
  return {
    id,
    entries: log.entries.slice(),
    upTo: log.upTo,
    projection,
    opening: log.opening,
    count: estimateMessage,
    fixed: FIXED,
    target: 0,
    window,
  };
}

/** Writes a log, making room where it says, and hands every such moment over. */
function write(
  script: readonly Move[],
  window: number,
  look: (input: CompactionInput, played: Played, move: Extract<Move, { kind: "compact" }>) => void,
): void {
  const log = new Writing();
  let projection: Projection | null = null;
  for (const [i, move] of script.entries()) {
    if (move.kind !== "compact") {
      log.make(move);
      continue;
    }
    const all = inputOf(log, projection, `p-${i}`, window);
    const target = targetFor(all, move.share);
    const input = { ...all, target, aim: Math.floor((target * move.slack) / 100) };
    const played = play(input, move.says);
    look(input, played, move);
    if (played.out.projection === null) continue;
    projection = played.out.projection;
    log.entries.push(projection);
  }
}

const windows = fc.constantFrom(300, 900, 4_000, 128_000);

describe("B4 whatever the conversation, the target and the summariser", () => {
  test("B4 B3 H6 pairs, opening, latest step and what is open stay; it fits or nobody is asked; requests fit the window", () => {
    fc.assert(
      fc.property(moves, windows, (script, window) => {
        write(script, window, (input, played) => expectSound(input, played));
      }),
      { numRuns: 100 },
    );
  });

  test("B4 calls that wait, and calls that others say wait, are not touched", () => {
    const shares = fc.integer({ min: -5, max: 100 });
    fc.assert(
      fc.property(moves, windows, shares, fc.nat(), (script, window, share, pick) => {
        const log = new Writing();
        for (const move of script) if (move.kind !== "compact") log.make(move);
        const ids = log.entries.flatMap((entry) => (entry.role === "tool" ? [entry.call_id] : []));
        const open = ids.length === 0 ? [] : [ids[pick % ids.length] ?? ""];
        if (pick % 2 === 0) log.reopen();
        const all = { ...inputOf(log, null, "p", window), open };
        const input = { ...all, target: targetFor(all, share) };
        expectSound(input, play(input));
      }),
      { numRuns: 100 },
    );
  });

  test("B4 the log stays as it is, and the same input makes the same requests and the same projection", () => {
    fc.assert(
      fc.property(moves, windows, (script, window) => {
        write(script, window, (input, played, { says }) => {
          const frozen = frozenCopy(input.entries);
          expect(play({ ...input, entries: frozen }, says)).toEqual(played);
          expect(input.entries).toEqual(frozen);
        });
      }),
      { numRuns: 100 },
    );
  });

  test("B4 a projection is reused: with room enough nothing is done again, and the next one folds it in", () => {
    fc.assert(
      fc.property(moves, windows, (script, window) => {
        write(script, window, (input, { out }) => {
          if (out.projection === null) return;
          const next = {
            ...input,
            entries: [...input.entries, out.projection],
            upTo: input.upTo + 1,
            projection: out.projection,
          };
          const again = play(next);
          expect([again.requests, again.out.projection, again.out.fits]).toEqual([[], null, true]);
          expect(sent(next)).toEqual(sent(input, out));

          const tighter = play({ ...next, target: Math.floor(out.tokensAfter * 0.7) });
          if (tighter.out.projection === null) return;
          for (const { from, to } of out.projection.cuts) {
            const covered = tighter.out.projection.cuts.some((cut) => cut.from <= from && cut.to >= to);
            expect(covered, "what was cut stays cut").toBe(true);
          }
          expect(tighter.out.projection.stubs_to).toBeGreaterThanOrEqual(out.projection.stubs_to);
        });
      }),
      { numRuns: 100 },
    );
  });

  test("B4 no summary is asked for in vain: what a model wrote is in what is sent", () => {
    fc.assert(
      fc.property(moves, (script) => {
        write(script, 128_000, (input, { out, requests }, { says }) => {
          if (says !== "text") return;
          const text = JSON.stringify(sent(input, out));
          for (const i of requests.keys()) expect(text).toContain(`Summary ${i + 1}. They`);
        });
      }),
      { numRuns: 100 },
    );
  });

  test("B4 once turns are summarised, at most the two most recent are left as they were", () => {
    fc.assert(
      fc.property(moves, (script) => {
        write(script, 128_000, (input, { out }) => {
          const isTurns = ({ action, detail }: { action: string; detail: string }) =>
            action === "summarised" && detail.includes("of the conversation");
          if (!out.changes.some(isTurns)) return;
          const questions = sent(input, out).filter(
            (message) => message.role === "user" && JSON.stringify(message.parts).includes("question "),
          );
          expect(questions.length).toBeLessThanOrEqual(2);
        });
      }),
      { numRuns: 100 },
    );
  });
});
