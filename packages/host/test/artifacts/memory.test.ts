import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const script = fileURLToPath(new URL("./support/memory.ts", import.meta.url));
const MB = 1_000_000;

/** A process of its own, so that nothing else is in its memory. */
async function growth(engine: string, tool: string): Promise<{ kept: number; peak: number }> {
  // Collected on one thread, so that what is collected when does not depend on the load of the machine.
  const args = [
    "--expose-gc",
    "--single-threaded-gc",
    "--conditions=@trackside/source",
    "--disable-warning=ExperimentalWarning",
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, script, engine, tool]);
  return JSON.parse(stdout) as { kept: number; peak: number };
}

// Other systems do not tell how much memory a process has had at the most.
describe.runIf(process.platform === "linux")("T4 a result of 10 MB", () => {
  const kinds = ["text", "wide_text", "json", "wide_json", "once"] as const;

  test.each(kinds)("T4 is all that memory grows by: %s, in process", { timeout: 60_000 }, async (kind) => {
    const { kept, peak } = await growth("local", kind);
    expect(kept).toBeLessThan(20 * MB);
    expect(peak).toBeLessThan(50 * MB);
  });

  test.each(kinds)("T4 leaves nothing in memory that a store has: %s", { timeout: 60_000 }, async (kind) => {
    const { kept, peak } = await growth("durable", kind);
    expect(kept).toBeLessThan(5 * MB);
    expect(peak).toBeLessThan(50 * MB); // what the database holds of it until it is committed is 10 MB
  });
});
