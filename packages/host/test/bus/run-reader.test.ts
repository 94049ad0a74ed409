import fc from "fast-check";
import type { DurableEvent, LiveEvent } from "trackside/schema";
import { expect, test } from "vitest";
import { formatCursor, parseCursor, RunReader } from "../../src/bus/index.ts";
import { call, durable, input, message, progress, reasoning, text } from "./items.ts";
import { Client, isLive, type Plan, plan, play } from "./reading.ts";

type RunEvent = DurableEvent | LiveEvent;

const given = (reader: RunReader, ...events: RunEvent[]) =>
  events.flatMap((event) => [...reader.read(event)]);

test("E4 cut anywhere, also inside a message, and resumed with the cursor, the transcript is the same", () => {
  fc.assert(
    fc.property(
      plan,
      fc.infiniteStream(fc.nat(9)),
      fc.array(fc.nat(40)),
      fc.nat(20),
      (planned, dice, cuts, back) => {
        const timeline = play(planned);
        const whole = timeline.filter((event) => !isLive(event));
        const client = new Client(planned);
        let cursor = "0";
        // Each connection is cut after so many events, the last one is not.
        for (const limit of [...cuts, Number.POSITIVE_INFINITY]) {
          const reader = new RunReader(parseCursor(cursor));
          let taken = 0;
          for (const event of arrival(timeline, dice)) {
            for (const given of reader.read(event)) {
              client.take(given);
              taken += 1;
              cursor = reader.cursor;
              if (taken >= limit) break;
            }
            if (taken >= limit) break;
          }
          cursor = client.forgetSome(cursor, back);
        }
        expect(client.seqs).toEqual(whole.map((event) => ("seq" in event ? event.seq : 0)));
        expect(client.transcript()).toEqual(transcriptOf(planned));
      },
    ),
    { numRuns: 2000 },
  );
});

test("E4 who reads all that is shown sees every message whole before it is committed", () => {
  fc.assert(
    fc.property(plan, fc.nat(200), (planned, cut) => {
      const timeline = play(planned);
      const client = new Client(planned);
      const first = new RunReader();
      for (const event of timeline.slice(0, cut)) for (const one of first.read(event)) client.take(one);
      // The bus sends the open message again from its beginning, the store what follows.
      const second = new RunReader(parseCursor(first.cursor));
      for (const event of timeline) for (const one of second.read(event)) client.take(one);
      expect(client.completed).toEqual(shownOf(planned));
    }),
  );
});

test("E4 each thing is given once, however often it comes", () => {
  const reader = new RunReader();
  const step = durable(1, { type: "step", step: 1, state: "started" });
  const a = text(0, "ab", { after_seq: 1 });
  expect(given(reader, step, step, a, a)).toEqual([step, a]);
  expect(given(reader, text(0, "abcd", { after_seq: 1 }))).toEqual([text(2, "cd", { after_seq: 1 })]);
  expect(reader.cursor).toBe(`1:${message()}@4`);
});

test("E4 a live event waits for the events it follows", () => {
  const reader = new RunReader();
  const [one, two] = [
    durable(1, { type: "status", status: "starting" }),
    durable(2, { type: "step", state: "started" }),
  ];
  const early = text(0, "a", { after_seq: 2 });
  expect(given(reader, early)).toEqual([]);
  expect(given(reader, one)).toEqual([one]);
  expect(given(reader, two)).toEqual([two, early]);
});

test("E4 the cursor is right after each of several events", () => {
  const reader = new RunReader();
  given(reader, text(0, "a", { after_seq: 1 }), text(1, "b", { after_seq: 1 }));
  const cursors = [];
  for (const _ of reader.read(durable(1, { type: "step", state: "started" }))) cursors.push(reader.cursor);
  expect(cursors).toEqual(["1", `1:${message()}@1`, `1:${message()}@2`]);
});

test("E4 after a hole in the text nothing is given until it joins up again", () => {
  const reader = new RunReader({ seq: 3 });
  expect(given(reader, text(0, "ab"), text(4, "ef"))).toEqual([text(0, "ab")]);
  expect(given(reader, text(0, "abcdef"))).toEqual([text(2, "cdef")]);
});

test("a durable event that is not the next is left to the store", () => {
  const reader = new RunReader({ seq: 3 });
  expect(given(reader, durable(5, { type: "usage" }), durable(3, { type: "usage" }))).toEqual([]);
  expect(reader.seq).toBe(3);
});

test("deltas of what is committed, retracted or over come too late", () => {
  const reader = new RunReader({ seq: 3 });
  const said = durable(4, { type: "text", message_id: message(), text: "ab" });
  expect(given(reader, said, text(0, "ab"), reasoning(0, "hmm"))).toEqual([said]);
  const called = durable(5, { type: "tool_call", message_id: message(), call_id: call() });
  expect(given(reader, called, input(0, "{}"))).toEqual([called]);
  const result = durable(6, { type: "tool_result", call_id: call() });
  expect(given(reader, progress(0), result, progress(1))).toEqual([progress(0), result]);
  const taken = durable(7, { type: "message_retracted", message_id: message(2), attempt: 2 });
  const other = { message_id: message(2) };
  expect(given(reader, text(0, "x", other), taken, text(1, "y", other), input(0, "{", other))).toEqual([
    text(0, "x", other),
    taken,
  ]);
  const ended = durable(8, { type: "status", status: "completed" });
  const more = durable(9, { type: "usage" });
  expect(given(reader, ended, text(0, "z", { after_seq: 8, message_id: message(3) }), more)).toEqual([ended]);
  expect(reader.ended).toBe(true);
});

test("what is open beside the text is in the cursor too", () => {
  const reader = new RunReader({ seq: 3 });
  given(reader, reasoning(0, "hmm"), text(0, "a"), input(0, '{"x'));
  expect(reader.cursor).toBe(`3:${message()}@1,reasoning@3,${call()}@3`);
  const again = new RunReader(parseCursor(reader.cursor));
  expect(given(again, reasoning(0, "hmmm"), text(0, "ab"), input(0, '{"x":1}'))).toEqual([
    reasoning(3, "m"),
    text(1, "b"),
    input(3, '":1}'),
  ]);
  // The text is committed, its calls are not yet.
  const said = durable(4, { type: "text", message_id: message(), text: "ab" });
  given(again, said);
  expect(again.cursor).toBe(`4:${message()}@0,${call()}@7`);
  expect(given(new RunReader(parseCursor(again.cursor)), text(0, "ab"))).toEqual([]);
});

test("a stream that never joins the store does not fill the memory", () => {
  const reader = new RunReader();
  for (let n = 0; n < 100_000; n++) given(reader, text(n * 10, "0123456789", { after_seq: 1 }));
  const out = given(reader, durable(1, { type: "step", state: "started" }));
  // What was kept does not join up with the beginning, so nothing of it is shown.
  expect(out).toHaveLength(1);
});

test("a cursor in a message that has gone is no obstacle", () => {
  const reader = new RunReader(
    parseCursor(formatCursor({ seq: 3, message: { id: "gone", text: 9, reasoning: 0, inputs: {} } })),
  );
  expect(given(reader, text(0, "new"))).toEqual([text(0, "new")]);
  expect(reader.cursor).toBe(`3:${message()}@3`);
});

/** The timeline as a reader may see it: live events early, late, again or never, durable ones in order. */
function* arrival(timeline: readonly RunEvent[], dice: Iterator<number>): Generator<RunEvent> {
  const roll = () => dice.next().value ?? 0;
  const stored = timeline.filter((event) => !isLive(event));
  const shown = timeline.filter(isLive);
  let [a, b] = [0, 0];
  for (let n = 0; n < 4 * timeline.length; n++) {
    const rolled = roll();
    const event = rolled < 5 ? stored[a++] : shown[b++];
    if (event !== undefined && rolled !== 9) yield event;
    if (event !== undefined && rolled === 9) a = Math.max(0, a - 2); // the store is read again
    if (rolled === 8) b = Math.max(0, b - 3); // the bus sends again what it has kept
  }
  yield* stored;
}

/** A message that says nothing leaves no event. */
function transcriptOf(planned: Plan): Record<string, { text: string; reasoning: string }> {
  const kept = planned.steps.flatMap(({ attempts }) => attempts.slice(-1));
  const messages = kept.map(
    ({ id, text, reasoning }) => [id, { text: text.join(""), reasoning: reasoning.join("") }] as const,
  );
  return Object.fromEntries(messages.filter(([, said]) => said.text !== "" || said.reasoning !== ""));
}

function shownOf(planned: Plan): Record<string, string> {
  const all = planned.steps.flatMap((step) => step.attempts);
  return Object.fromEntries(
    all.filter((said) => said.text.join("") !== "").map((said) => [said.id, said.text.join("")]),
  );
}
