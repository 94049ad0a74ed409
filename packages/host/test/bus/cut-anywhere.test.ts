import { expect, test } from "vitest";
import { memoryBus } from "../../src/bus/index.ts";
import { cutAndResume, recordedRun, screen } from "./cut-anywhere.ts";

test("E4 the stream of a run cut at every event and resumed gives the same transcript", async () => {
  const events = await recordedRun();
  const durable = events.filter((event) => "seq" in event);
  const shown = screen(events);
  expect(Object.keys(shown)).toHaveLength(3);
  for (let cut = 0; cut <= events.length; cut++) {
    const bus = memoryBus();
    const seen = await cutAndResume(events, cut, { into: bus, outOf: bus });
    expect(seen.filter((event) => "seq" in event)).toEqual(durable);
    expect(screen(seen)).toEqual(shown);
    await bus.close();
  }
});
