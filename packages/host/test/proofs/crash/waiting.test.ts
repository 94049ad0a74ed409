import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type Clock } from "trackside";
import { systemClock } from "trackside/engine";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { DurableEngine } from "../../../src/journal/durable-engine.ts";
import { rows, sqlite } from "../../../src/store/index.ts";

const RESTARTS = 6;
const LONG_MS = 600_000;
const dir = temporaryFolder("waiting");

test("X2 a run that waits for a provider is not parked, however often its process is restarted", async () => {
  const overloaded = Object.assign(new Error("overloaded"), { statusCode: 503 });
  const agent = new Agent({ name: "waits", model: scriptedModel([{ error: overloaded }], { loop: true }) });
  const store = () => sqlite(join(dir, "t.db"), { sync: "normal" });
  for (let i = 0; i < RESTARTS; i += 1) {
    let isWaiting = false;
    const clock: Clock = {
      ...systemClock,
      after(ms, then) {
        if (ms < LONG_MS / 8) return systemClock.after(ms, then);
        isWaiting = true;
        return { stop() {} }; // nobody waits that long here
      },
    };
    const retry = { baseMs: LONG_MS, maxMs: LONG_MS };
    const engine = new DurableEngine({ store: store(), agents: [agent], retry, clock });
    await engine.open();
    engine.start(agent, "Go", { requestId: "the run" }).result.catch(() => {}); // it goes on elsewhere
    while (!isWaiting && (await statusOf(engine)) !== "parked") await sleep(5);
    expect(await statusOf(engine)).toBe("running");
    await engine.close();
  }
});

async function statusOf({ store }: DurableEngine): Promise<string | undefined> {
  const [run] = await store.read((db) => rows(db.selectFrom("runs").select("status")));
  return run?.status;
}
