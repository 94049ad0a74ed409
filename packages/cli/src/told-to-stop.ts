import { EXIT } from "./command.ts";
import type { Io } from "./io.ts";

/** Aborted by the first signal; the second exits. */
export function toldToStop(io: Io): AbortSignal {
  const told = new AbortController();
  const stop = () => {
    if (told.signal.aborted) io.exit(EXIT.completed);
    told.abort();
  };
  io.signals.on("SIGINT", stop);
  io.signals.on("SIGTERM", stop);
  io.signals.on("SIGHUP", stop); // its terminal was closed
  io.gone.addEventListener("abort", stop, { once: true });
  return told.signal;
}

/** Nothing else keeps the process alive while there is nothing to do. */
export function until(stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => {}, 60_000);
    const done = () => {
      clearInterval(alive);
      resolve();
    };
    if (stopped.aborted) done();
    else stopped.addEventListener("abort", done, { once: true });
  });
}
