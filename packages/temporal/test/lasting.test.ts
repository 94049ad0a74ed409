import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { staysSmall } from "./support/stays-small.ts";
import { placeSuite } from "./support/suite.ts";

// Workers with other code, which wait for better ones, beside a run of many steps: both wait more than they work.

await placeSuite("what takes its time", {}, (here) => {
  test.concurrent("X9 a run that none of them could run is refused at submit, and what is missing is named", async () => {
    const { place } = here;
    await place.inside({ without: "look" });
    await place.announced(1);
    await expect(place.start("free", script("refused", ["done"]))).rejects.toThrow(/the tool "look"/);
    await expect(place.start("guarded", script("refused", ["done"]))).rejects.toThrow(/"look"/);
    expect(await place.trackside.runs.list()).toEqual([]);
  });

  test.concurrent("X9 beside workers with the right code they pass a run on", async () => {
    const place = await here.another();
    await place.inside({ without: "guard" });
    const right = await place.inside();
    await place.announced(2);
    const { text } = await place.run("guarded", script("mixed", [call("look", "mixed"), "done"]));
    expect(text).toBe("done");
    for (const { pid } of place.marks) expect(pid).toBe(right);
  });

  test.concurrent("X2 X9 alone with a run they cannot go on with, they park it: it says what is missing and can be resumed", async () => {
    const place = await here.another();
    await place.workers(1);
    const n = "parked";
    const runId = await place.start("free", script(n, [call("put", n), call("look", n, "first"), "done"]));
    await place.kill(await place.marked(n, "tool", "look"));
    const wrong = await place.inside({ without: "look" });
    await place.until("the run to be parked", async () => {
      const { status } = await place.trackside.runs.get(runId);
      return status === "parked" ? status : undefined;
    });
    const parked = (await place.trackside.runs.events(runId)).at(-1);
    expect(parked).toMatchObject({ type: "status", status: "parked" });
    expect(JSON.stringify(parked)).toContain('the tool \\"look\\"');
    await place.stop(wrong);
    await place.inside();
    await place.trackside.runs.resume(runId);
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool", "put")).toHaveLength(1);
    expect(place.marksOf(n, "model")).toHaveLength(3);
  });

  // 500 steps in lasting.prove.ts.
  test.concurrent("X9 20 steps with rails on every point stay far from every limit of the server", async () => {
    await staysSmall(await here.another(), 20);
  });
});
