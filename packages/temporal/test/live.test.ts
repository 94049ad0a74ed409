import type { LiveEvent } from "trackside";
import { expect, test } from "vitest";
import { call, type Step, script } from "./support/agents.ts";
import { placeSuite } from "./support/suite.ts";

const TEXT = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");
const SAYS: Step = { text: TEXT, chunkDelayMs: 10, first: { text: TEXT, chunkDelayMs: 10, hangAfter: 40 } };

type Delta = Extract<LiveEvent, { type: "text_delta" }>;

await placeSuite("live events over Redis", { live: true }, (here) => {
  test("E1 X9 deltas of a worker on another process come in order, and none twice after its attempt was killed", async () => {
    const { place } = here;
    await place.workers(1);
    const runId = await place.start("free", script("live", [call("look", "live", "gate"), SAYS]));
    const deltas: Delta[] = [];
    const retracted = new Map<string, number>();
    let text = "";
    let isFollowing = false;
    const following = (async () => {
      for await (const { event } of place.trackside.runs.follow(runId)) {
        isFollowing = true;
        if (event.type === "text_delta") deltas.push(event);
        if (event.type === "message_retracted") retracted.set(event.message_id, deltas.length);
        if (event.type === "text") text = event.text;
      }
    })();
    await place.until("the first event", () => isFollowing || undefined);
    place.opens("live");
    const { pid } = await place.marked("live", "model", "1");
    await place.until("half of the text", () => (deltas.length > 20 ? true : undefined));
    expect(text).toBe(""); // it is shown while it is said
    await place.kill({ pid });
    await place.inside();
    await following;

    const byMessage = Map.groupBy(deltas, ({ message_id }) => message_id);
    expect(byMessage.size).toBe(2);
    for (const said of byMessage.values()) {
      let at = 0;
      for (const { offset, text: piece } of said) {
        expect(offset).toBe(at);
        at += piece.length;
      }
    }
    const [[lost, seen] = ["", 0]] = retracted;
    expect(byMessage.get(lost)).toHaveLength(seen); // nothing of it came after it was taken back
    const [kept] = [...byMessage].filter(([id]) => id !== lost).map(([, said]) => said);
    expect(kept?.map((delta) => delta.text).join("")).toBe(TEXT);
    expect(text).toBe(TEXT);
  });
});
