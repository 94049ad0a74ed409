import { expect, test } from "vitest";
import { postgresServer, serviceSuite } from "../../../../../scripts/services/index.ts";
import { script } from "./support/agents.ts";
import { frozen, placeOn, tempDir } from "./support/place.ts";

const RUNS = 300;

await serviceSuite("several workers", postgresServer, (server) => {
  test(`X11 three processes share ${RUNS} queued runs; one is killed, the others finish them, none twice`, async () => {
    const place = await placeOn("postgres", await server.createDatabase(), tempDir());
    const sender = await place.process({ claims: false });
    const runs = Array.from({ length: RUNS }, (_, n) => ({
      agent: "free" as const,
      queued: true,
      input: script(n, [
        { calls: [{ tool: "charge", args: { n, ms: 300 } }] },
        { calls: [{ tool: "charge", args: { n: n + 1000, ms: 300 } }] },
        "done",
      ]),
    }));
    // In the middle of it: it stands still in a charge until it is killed.
    const victim = await place.process({ freezesInTool: 6 });
    const workers = [victim, ...(await Promise.all([place.process(), place.process()]))];
    const ids = await sender.start(runs);
    await frozen(victim);
    await victim.kill();
    const asked = await place.settle(sender, RUNS);
    const ended = await place.ended(RUNS);
    expect(ended.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["completed"]));
    expect(place.ran().size).toBe(RUNS * 2);
    expect([...place.ran().values()].filter((times) => times !== 1)).toEqual([]);
    // They did share them, and the one that died left something in the middle.
    expect(asked).toBeGreaterThan(0);
    for (const { pid } of workers) expect(place.effects.some((line) => line.pid === pid)).toBe(true);
  });
});
