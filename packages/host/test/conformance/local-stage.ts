import { type Store, Trackside } from "../../src/index.ts";
import { type HostOptions, type HostStage, optionsOf } from "./stage.ts";

/** Hosts that execute their runs themselves, on stores that `open` makes over one database. */
export class LocalStage implements HostStage {
  readonly #store: () => Store;
  readonly #hosts: Trackside[] = [];
  readonly #afterwards: (() => unknown)[] = [];

  constructor(store: () => Store) {
    this.#store = store;
  }

  async host(options: HostOptions): Promise<Trackside> {
    const host = new Trackside({ store: this.#store(), ...optionsOf(options) });
    this.#hosts.push(host);
    await host.open();
    return host;
  }

  desk(): Promise<Trackside> {
    return this.host({ claims: false });
  }

  async stop(): Promise<void> {
    for (const host of this.#hosts.splice(0)) await host.close();
  }

  async histories(): Promise<string> {
    return "";
  }

  afterwards(close: () => unknown): void {
    this.#afterwards.push(close);
  }

  async close(): Promise<void> {
    await this.stop();
    for (const close of this.#afterwards.splice(0)) await close();
  }
}
