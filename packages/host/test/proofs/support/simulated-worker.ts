// A thread that plays many lives, each with an identity and a store of its own. A life that crashes freezes: its store and
// its ledger never answer again. Later lives of the same job are played by other threads.
import { parentPort } from "node:worker_threads";
import { thisProcess } from "../../../src/journal/process-identity.ts";
import type { Job } from "./job.ts";
import { type Player, play } from "./play.ts";

/** Above the greatest process id there can be: other lives see this owner as gone at once. */
const NO_PID = 2 ** 22 + 1;
const identity = () => ({ ...thisProcess(), pid: NO_PID });
const held = new Map<number, () => void>();

parentPort?.on("message", ({ id, job }: { id: number; job?: Job }) => {
  if (job === undefined) {
    held.get(id)?.();
    return;
  }
  const tell = (said: object) => parentPort?.postMessage({ id, ...said });
  const player: Player = {
    identity,
    die: () => tell({ life: { killed: true } }),
    overtaken: () =>
      new Promise((resolve) => {
        held.set(id, resolve);
        tell({ held: true });
      }),
  };
  play(job, player).then(
    (done) => tell({ life: { done } }),
    (error: unknown) => tell({ life: { wrong: error instanceof Error ? error.stack : String(error) } }),
  );
});
