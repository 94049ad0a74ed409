import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { ownServerSuite } from "./support/suite.ts";

await ownServerSuite("the Temporal server", {}, (here) => {
  test("X9 is killed and comes back: runs go on, what ended meanwhile is not done again, what was started begins", async () => {
    const { place, temporal } = here;
    await place.inside();
    const n = "server";
    const steps = [call("look", n), call("charge", n, "gate"), call("put", n), "done"];
    const runId = await place.start("free", script(n, steps));
    await place.marked(n, "tool", "charge");
    await temporal.kill();
    place.opens(n); // the tool comes to its end while nobody can be told
    await place.marked(n, "ended", "charge");
    const later = place.start("free", script("away", [call("look", "away"), "done"]));
    await place.until(
      "the run to be there",
      async () => (await place.trackside.runs.list()).length > 1 || undefined,
    );
    await temporal.restart();
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool").map(({ of }) => of)).toEqual(["look", "charge", "put"]);
    expect(place.marksOf(n, "model")).toHaveLength(4);
    const events = await place.trackside.runs.events(runId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(await place.text(await later)).toBe("done");
    expect(place.marksOf("away", "tool")).toHaveLength(1);
  });
});
