import { expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../../scripts/services/index.ts";
import { script } from "./support/agents.ts";
import { frozen, isProof, placeOn, tempDir, until } from "./support/place.ts";

const RUNS = isProof ? 300 : 40;
/** More of them, until each process has begun one. */
const MORE = 10;

await serviceSuite("several workers", sharedPostgres, (server) => {
  test(`X11 three processes share ${RUNS} queued runs; one is killed, the others finish them, none twice`, async () => {
    const place = await placeOn("postgres", await server.createDatabase(), tempDir());
    const sender = await place.process({ claims: false });
    // In the middle of it: it stands still in a charge until it is killed.
    const victim = await place.process({ freezesInTool: 1 });
    const workers = [victim, ...(await Promise.all([place.process(), place.process()]))];
    const ids = [...(await sender.start(charging(0, RUNS)))];
    // On a busy machine two of them may take all the runs before the third looks.
    while (!workers.every(({ pid }) => place.effects.some((line) => line.pid === pid))) {
      const open = async () => (await place.runs()).some(({ status }) => status === "queued");
      await until("the queue to be empty", async () => ((await open()) ? undefined : true));
      ids.push(...(await sender.start(charging(ids.length, MORE))));
    }
    await frozen(victim);
    await victim.kill();
    const asked = await place.settle(sender, ids.length);
    const ended = await place.ended(ids.length);
    expect(ended.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["completed"]));
    expect(place.ran().size).toBe(ids.length * 2);
    expect([...place.ran().values()].filter((times) => times !== 1)).toEqual([]);
    expect(asked).toBeGreaterThan(0); // the one that died left something in the middle
  });
});

/** Runs of two charges each, for whichever process claims them. */
function charging(from: number, count: number) {
  return Array.from({ length: count }, (_, i) => from + i).map((n) => ({
    agent: "free" as const,
    queued: true,
    input: script(n, [
      { calls: [{ tool: "charge", args: { n, ms: 300 } }] },
      { calls: [{ tool: "charge", args: { n: n + 1000, ms: 300 } }] },
      "done",
    ]),
  }));
}
