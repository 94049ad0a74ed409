import { Worker } from "node:worker_threads";
import type { Reach } from "./store/store.ts";

/** What the thread is started with. */
export interface PulseData {
  readonly reach: Reach;
  readonly processId: string;
  readonly leaseMs: number;
  /** When the lease was last renewed, and whether it was lost. */
  readonly shared: SharedArrayBuffer;
}

export interface Pulse {
  /** When the lease was last renewed, by the system's steady clock. */
  readonly renewedAt: bigint;
  readonly isLost: boolean;
  /** Resolves when the thread has ended and its connection to the store is closed. */
  stop(): Promise<void>;
}

/** Renews a lease from a thread of its own, so that a main thread that is busy for long does not lose its runs. */
export function startPulse(data: Omit<PulseData, "shared">, onError: () => void): Pulse {
  const shared = new SharedArrayBuffer(16);
  const times = new BigInt64Array(shared);
  const file = import.meta.url.endsWith(".ts") ? "./pulse-worker.ts" : "./pulse-worker.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: { ...data, shared },
    stdout: false,
  });
  worker.on("error", onError);
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.unref();
  return {
    get renewedAt() {
      return Atomics.load(times, 0);
    },
    get isLost() {
      return Atomics.load(times, 1) !== 0n;
    },
    // It leaves by itself: a thread that is stopped while it loads its driver takes the whole process with it.
    stop() {
      worker.ref(); // a process that waits for this must not end before
      worker.postMessage("stop");
      return ended;
    },
  };
}
