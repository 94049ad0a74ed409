import { parentPort, workerData } from "node:worker_threads";
import type { PulseData } from "./pulse.ts";

// A thread of its own: the lease is renewed however busy the main thread is. It imports nothing but a database driver.
const { reach, processId, leaseMs, shared } = workerData as PulseData; // as `startPulse` sends it
const times = new BigInt64Array(shared);
const FENCED = 0;
let count = 0;

type Renew = (value: number) => boolean | Promise<boolean>;

async function connect(): Promise<Renew> {
  if (reach.kind === "sqlite") {
    const { default: Database } = await import("better-sqlite3");
    const db = new Database(reach.path, { fileMustExist: true });
    db.pragma("busy_timeout = 1000");
    const update = db.prepare("UPDATE processes SET expires_at = ? WHERE id = ? AND expires_at != ?");
    return (value) => update.run(value, processId, FENCED).changes > 0;
  }
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ ...reach.config, max: 1 });
  pool.on("error", () => {}); // the next try connects again
  return async (value) => {
    const text = "UPDATE processes SET expires_at = $1 WHERE id = $2 AND expires_at != $3";
    return ((await pool.query(text, [value, processId, FENCED])).rowCount ?? 0) > 0;
  };
}

parentPort?.once("message", () => process.exit());

let renew: Renew | undefined;

async function beat(): Promise<void> {
  const asked = process.hrtime.bigint(); // counted from before it was asked for
  try {
    renew ??= await connect();
    const kept = await renew(Date.now() + leaseMs + (count++ % 2));
    if (kept) Atomics.store(times, 0, asked);
    else Atomics.store(times, 1, 1n); // others have taken the runs; the main thread finds out for itself
  } catch {
    // The store is away: the lease runs out unless it comes back in time.
  }
  setTimeout(beat, leaseMs / 4);
}

void beat();
