import { describe, expect, test } from "vitest";
import { OVER_WIRE } from "../support/over-wire.ts";
import type { WireRequest } from "../support/wire-server.ts";
import { expectSound } from "./soundness.ts";
import { Stage } from "./stage.ts";

const FIRST = { city: "Oslo" };
const SECOND = { city: "Bergen" };

describe.each(OVER_WIRE)("$provider and the ids of its calls", (over) => {
  const answer = { events: over.wire.text("Done.") };
  const batch = (...ids: string[]) => ({
    events: over.wire.toolCall([FIRST, SECOND].map((args, i) => ({ name: "book", args, id: ids[i] ?? "" }))),
  });

  test.each([
    ["repeated within a message and between steps", batch("same", "same")],
    ["empty", batch("", "")],
    ["fine", batch("call_a", "call_b")],
  ])("T7 ids that are %s: every call runs, and goes back under an id of its own", async (_how, calls) => {
    await using stage = await Stage.open(over);
    const played = await stage.play([calls, calls, answer]);
    expectSound(played, "ids");
    expect(played.result?.output).toBe("Done.");
    expect(played.executed).toEqual([FIRST, SECOND, FIRST, SECOND]);
    const sent = idsIn(played.requests[2]);
    expect(sent).toHaveLength(8); // four calls, four results
    expect(new Set(sent).size).toBe(4);
    const ours = played.events.flatMap((event) => (event.type === "tool_call" ? [event.call_id] : []));
    const { runId } = played.result ?? {};
    expect(ours).toEqual(["1.0", "1.1", "2.0", "2.1"].map((place) => `${runId}.main.${place}`));
  });
});

/** The ids of calls and results in a request, in whichever of the three APIs. */
function idsIn(request: WireRequest | undefined): string[] {
  const found: string[] = [];
  JSON.stringify(request?.body, (key, value) => {
    if (key === "call_id" || key === "tool_call_id" || key === "tool_use_id") found.push(String(value));
    if (value?.type === "tool_use" || (value?.type === "function" && value.id)) found.push(String(value.id));
    return value;
  });
  return found;
}
