import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { placeSuite } from "./support/suite.ts";

await placeSuite("workers with other code", {}, (here) => {
  test("X9 a run that none of them could run is refused at submit, and what is missing is named", async () => {
    const { place } = here;
    place.worker({ without: "look" });
    await place.announced(1);
    await expect(place.start("free", script("refused", ["done"]))).rejects.toThrow(/the tool "look"/);
    await expect(place.start("guarded", script("refused", ["done"]))).rejects.toThrow(/"look"/);
    expect(await place.trackside.runs.list()).toEqual([]);
    await place.killAll();
  });

  test("X9 beside workers with the right code they pass a run on", async () => {
    const place = await here.another();
    const other = place.worker({ without: "guard" });
    const right = place.worker();
    await Promise.all([other.ready, right.ready, place.announced(2)]);
    const { text } = await place.run("guarded", script("mixed", [call("look", "mixed"), "done"]));
    expect(text).toBe("done");
    for (const { pid } of place.marks) expect(pid).toBe(right.pid);
  });

  test("X2 X9 alone with a run they cannot go on with, they park it: it says what is missing and can be resumed", async () => {
    const place = await here.another();
    const first = place.worker();
    await first.ready;
    const n = "parked";
    const runId = await place.start("free", script(n, [call("put", n), call("look", n, "first"), "done"]));
    await place.kill(await place.marked(n, "tool", "look"));
    await place.worker({ without: "look" }).ready;
    await place.until("the run to be parked", async () => {
      const { status } = await place.trackside.runs.get(runId);
      return status === "parked" ? status : undefined;
    });
    const parked = (await place.trackside.runs.events(runId)).at(-1);
    expect(parked).toMatchObject({ type: "status", status: "parked" });
    expect(JSON.stringify(parked)).toContain('the tool \\"look\\"');
    await place.killAll();
    await place.worker().ready;
    await place.trackside.runs.resume(runId);
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool", "put")).toHaveLength(1);
    expect(place.marksOf(n, "model")).toHaveLength(3);
  });
});
