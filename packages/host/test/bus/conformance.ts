import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import type { Bus, BusLimits } from "../../src/bus/index.ts";
import {
  call,
  committed,
  hasText,
  hasType,
  input,
  joined,
  message,
  pieces,
  progress,
  RUN,
  reasoning,
  text,
  until,
  wake,
} from "./items.ts";

/** Where items go in and where they come out; the same bus, or two that are connected. */
export interface Ends {
  readonly into: Bus;
  readonly outOf: Bus;
}

/** What every bus does. */
export function busConformance(make: (limits?: Partial<BusLimits>) => Ends): void {
  const open = (limits?: Partial<BusLimits>): Ends => {
    const ends = make(limits);
    onTestFinished(async () => {
      await ends.into.close();
      await ends.outOf.close();
    });
    return ends;
  };

  test("E4 a reader gets what is published, each message joined up", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe(RUN);
    const whole = "Ein Zug fährt 🚂 durch das Tal.";
    for (const delta of pieces(whole, 3)) into.publish(RUN, delta);
    expect(joined(await until(live, hasText(whole)))).toBe(whole);
  });

  test("E4 a reader that comes in the middle of a message gets the text it missed", async () => {
    const { into, outOf } = open();
    const first = outOf.subscribe(RUN);
    for (const delta of pieces("once upon", 2)) into.publish(RUN, delta);
    await until(first, hasText("once upon"));
    const late = outOf.subscribe(RUN);
    into.publish(RUN, text(9, " a time"));
    expect(joined(await until(late, hasText("once upon a time")))).toBe("once upon a time");
  });

  test("E4 a reader that comes back with its position gets the rest of the message", async () => {
    const { into, outOf } = open();
    into.publish(RUN, reasoning(0, "hmm"));
    into.publish(RUN, text(0, "once upon"));
    into.publish(RUN, input(0, '{"a":1}'));
    const from = { id: message(), text: 5, reasoning: 3, inputs: { [call()]: 4 } };
    const live = outOf.subscribe(RUN, { seq: 3, message: from });
    into.publish(RUN, committed(4));
    expect(await until(live, hasType("committed"))).toEqual([
      text(5, "upon"),
      input(4, ":1}"),
      { type: "committed", run_id: RUN, seq: 4 },
    ]);
  });

  test("a reader whose position is past a message gets none of it", async () => {
    const { into, outOf } = open();
    into.publish(RUN, text(0, "old"));
    into.publish(RUN, committed(6));
    const live = outOf.subscribe(RUN, { seq: 6 });
    into.publish(RUN, committed(7));
    into.publish(RUN, text(0, "new", { after_seq: 7, message_id: message(2) }));
    const items = await until(live, (read) => joined(read, message(2)) === "new");
    expect(joined(items)).toBe("");
  });

  test("a message is kept until something newer is shown", async () => {
    const { into, outOf } = open();
    into.publish(RUN, text(0, "old"));
    into.publish(RUN, committed(4));
    const between = outOf.subscribe(RUN);
    expect(joined(await until(between, hasText("old")))).toBe("old");
    into.publish(RUN, text(0, "new", { after_seq: 4, message_id: message(2) }));
    await until(between, (read) => joined(read, message(2)) === "new");
    const late = outOf.subscribe(RUN);
    const items = await until(late, (read) => joined(read, message(2)) === "new");
    expect(joined(items)).toBe("");
  });

  test("what a message follows is announced before it", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe(RUN);
    into.publish(RUN, committed(3));
    into.publish(RUN, text(0, "a"));
    const items = await until(live, hasText("a"));
    expect(items.map((item) => item.type)).toEqual(["committed", "text_delta"]);
  });

  test("signals reach the readers; of `committed` the latest, the same wake once", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe(RUN);
    for (const seq of [1, 2, 3]) into.publish(RUN, committed(seq));
    for (const what of ["approval", "cancel", "approval"]) into.publish(RUN, wake(what));
    const items = await until(live, (read) => read.filter((item) => item.type === "wake").length === 2);
    expect(items).toContainEqual(committed(3));
    expect(items).toContainEqual(wake("approval"));
    expect(items).toContainEqual(wake("cancel"));
  });

  test("every report of a call arrives, also those of a later attempt", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe(RUN);
    for (const offset of [0, 1, 2]) into.publish(RUN, progress(offset));
    into.publish(RUN, progress(0, { attempt: 2 }));
    const items = await until(live, (read) => read.length === 4);
    expect(items).toEqual([progress(0), progress(1), progress(2), progress(0, { attempt: 2 })]);
  });

  test("runs do not see each other", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe("run_2");
    into.publish(RUN, text(0, "mine"));
    into.publish(RUN, wake("mine"));
    into.publish("run_2", text(0, "yours", { run_id: "run_2" }));
    expect((await live.next()).value).toEqual(text(0, "yours", { run_id: "run_2" }));
  });

  test("after a run's end nothing of it is kept", async () => {
    const { into, outOf } = open();
    const before = outOf.subscribe(RUN);
    into.publish(RUN, text(0, "the end"));
    await until(before, hasText("the end"));
    into.publish(RUN, committed(9));
    into.finish(RUN);
    await until(before, hasType("committed"));
    before.close();
    const late = outOf.subscribe(RUN, { seq: 9 });
    into.publish(RUN, wake("nothing else"));
    const items = await until(late, (read) => read.some((item) => item.type === "wake"));
    expect(joined(items)).toBe("");
  });

  test("of a message that is too long the end is kept, and a late reader is told of the gap", async () => {
    const { into, outOf } = open({ maxChars: 1000 });
    const whole = "0123456789".repeat(500);
    const present = outOf.subscribe(RUN);
    for (const delta of pieces(whole, 50)) into.publish(RUN, delta);
    const end = (read: readonly { type: string }[]) => {
      const last = read.at(-1);
      return last?.type === "text_delta" && JSON.stringify(last).includes(`${whole.slice(-20)}"`);
    };
    await until(present, end);
    const late = outOf.subscribe(RUN);
    const items = await until(late, end);
    expect(items[0]).toEqual({ type: "gap", run_id: RUN });
    const rest = items[1];
    if (rest?.type !== "text_delta") throw new Error("no text after the gap");
    expect(rest.text).toBe(whole.slice(rest.offset));
    expect(rest.text.length).toBeLessThanOrEqual(1000);
  });

  test("1,000 readers that never read hold nothing, and each finds the whole message when it does", async () => {
    const { into, outOf } = open();
    const idle = Array.from({ length: 1000 }, () => outOf.subscribe(RUN));
    const eager = outOf.subscribe(RUN);
    const before = heapUsed();
    const whole = "all the news that fit ".repeat(5000);
    for (const delta of pieces(whole, 4)) into.publish(RUN, delta);
    await until(eager, hasText(whole));
    expect(heapUsed() - before).toBeLessThan(32 * 2 ** 20);
    for (const reader of idle) expect(joined(await until(reader, hasText(whole))).length).toBe(whole.length);
  });

  test("questions asked before there is an answer are answered in order", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe(RUN);
    const asked = [live.next(), live.next()];
    into.publish(RUN, progress(0));
    into.publish(RUN, progress(1));
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([progress(0), progress(1)]);
  });

  test("a reader that leaves its loop is closed; the others go on", async () => {
    const { into, outOf } = open();
    const [leaving, staying] = [outOf.subscribe(RUN), outOf.subscribe(RUN)];
    into.publish(RUN, text(0, "a"));
    for await (const item of leaving) {
      expect(item).toEqual(text(0, "a"));
      break;
    }
    expect(await leaving.next()).toEqual({ done: true, value: undefined });
    into.publish(RUN, text(1, "b"));
    expect(joined(await until(staying, hasText("ab")))).toBe("ab");
  });

  test("closing ends the subscriptions; a closed bus takes no harm from its users", async () => {
    const { into, outOf } = open();
    const live = outOf.subscribe(RUN);
    const waiting = live.next();
    await outOf.close();
    await into.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    into.publish(RUN, text(0, "a"));
    into.finish(RUN);
    expect(await outOf.subscribe(RUN).next()).toEqual({ done: true, value: undefined });
    await turn();
  });
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}
