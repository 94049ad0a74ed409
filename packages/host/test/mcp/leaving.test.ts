import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { processesWith } from "./support/processes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Our own process leaves while servers run, without a chance or a thought to close the hub. */
describe.concurrent("M4 a process of ours that", () => {
  test.for([
    ["exits", "will-not-die"],
    ["throws", "will-not-die"],
    ["has nothing more to do", "will-not-die"],
    ["has nothing more to do", "good"],
    // Nobody can do anything at that moment; an honest server sees that its input ended.
    ["is killed", "good"],
  ] as const)("%s leaves no server behind (%s)", async ([way, fake]) => {
    const mark = `mark-${randomUUID()}`;
    const program = join(import.meta.dirname, "support", "leaver.ts");
    const leaver = spawn(process.execPath, ["--conditions=@trackside/source", program, mark, fake, way], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    leaver.stdout.on("data", (chunk) => (said += chunk));
    // It ends by itself: no server of a run that is over keeps it.
    await once(leaver, "close");
    expect(said).toBe('"connected"');
    await vi.waitFor(() => expect(processesWith(mark)).toEqual([]), { timeout: 50_000, interval: 50 });
  });
});
