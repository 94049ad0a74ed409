import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const AGAIN_MS = 500;

/**
 * Hears of wakes that other stores have written, on a connection of its own. It connects again when that breaks, and then
 * calls back once, because what was said meanwhile is lost. Returns the way to stop.
 */
export function listen(config: pg.ClientConfig, heard: () => void): () => void {
  let stopped = false;
  let client: pg.Client | undefined;

  async function connected(): Promise<void> {
    const own = new pg.Client(config);
    client = own;
    const ended = new Promise<void>((resolve) => own.once("end", () => resolve()));
    own.on("error", () => undefined); // it ends as well
    own.on("notification", ({ payload }) => {
      if (payload !== config.application_name) heard();
    });
    try {
      await own.connect();
      (own as pg.Client & { unref(): void }).unref(); // which its types leave out
      await own.query("LISTEN trackside_wakes");
      heard();
      await ended;
    } catch {
      // The server is down or restarting: the next attempt tells.
    }
    await own.end().catch(() => undefined);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      await connected();
      if (!stopped) await sleep(AGAIN_MS, undefined, { ref: false });
    }
  }

  void loop();
  return () => {
    stopped = true;
    void client?.end().catch(() => undefined);
  };
}
