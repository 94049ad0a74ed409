import { useSyncExternalStore } from "react";

/**
 * Whether the server answers, from what really happened: requests and streams that failed or worked. While it does not,
 * it is asked about once in a while, and everything is loaded anew once it is back.
 */
export class Connection {
  private readonly down = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private readonly comebacks = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly probe: () => Promise<boolean>;
  private readonly waits: (attempt: number) => number;

  constructor(
    probe: () => Promise<boolean>,
    waits = (attempt: number) => Math.min(1000 * 2 ** attempt, 15_000),
  ) {
    this.probe = probe;
    this.waits = waits;
  }

  failed(who: string): void {
    if (this.down.has(who)) return;
    const first = this.down.size === 0;
    this.down.add(who);
    this.changed();
    if (first) this.schedule(0);
  }

  worked(who: string): void {
    if (!this.down.delete(who)) return;
    this.changed();
    if (this.down.size > 0) return;
    clearTimeout(this.timer);
    for (const comeback of this.comebacks) comeback();
  }

  /** The stream is gone for good: what it said no longer counts. */
  forget(who: string): void {
    if (this.down.delete(who)) this.changed();
  }

  /** Called each time the server is back. */
  onComeback(comeback: () => void): () => void {
    this.comebacks.add(comeback);
    return () => this.comebacks.delete(comeback);
  }

  isDown = (): boolean => this.down.size > 0;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  private schedule(attempt: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const back = await this.probe().catch(() => false);
      if (!this.isDown()) return;
      if (back) for (const who of [...this.down]) this.worked(who);
      else this.schedule(attempt + 1);
    }, this.waits(attempt));
  }
}

export const connection = new Connection(async () => (await fetch("/api/v1/health")).ok);

export function useIsOffline(): boolean {
  return useSyncExternalStore(connection.subscribe, connection.isDown, () => false);
}
