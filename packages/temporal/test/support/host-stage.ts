import { join } from "node:path";
import { memoryBus, type ScheduleMirror, sqlite, Trackside } from "@trackside/host";
import type { Effects } from "@trackside/host/effects";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { type HostOptions, type HostStage, optionsOf } from "../../../host/test/conformance/stage.ts";
import { scheduleMirror } from "../../src/client/schedules.ts";
import { engineName } from "../../src/common/wire.ts";
import { Relay } from "../../src/worker/relay.ts";
import { scheduleActivities } from "../../src/worker/schedules.ts";
import { historiesOf, writeHistory } from "./histories.ts";
import type { Home, SharedWorker } from "./shared-worker.ts";

/** Hosts whose runs Temporal drives. Each has a worker's host beside it, on the same database. */
export class TemporalStage implements HostStage {
  readonly #shared: SharedWorker;
  readonly #path = join(temporaryFolder("host-conformance"), "trackside.db");
  readonly #home: Home;
  readonly #stops: (() => Promise<unknown>)[] = [];
  readonly #afterwards: (() => unknown)[] = [];
  readonly #schedules: ScheduleMirror;
  readonly #mirrored = new Set<string>();
  /** Settles once there is a worker: until then effects wait, as they do on a task queue without workers. */
  #effects = Promise.withResolvers<Effects>();
  #worker: Trackside | undefined;

  constructor(shared: SharedWorker) {
    this.#shared = shared;
    const clocks = shared.scheduleClient();
    const mirror = scheduleMirror(clocks, shared.taskQueue);
    const stage = this;
    this.#home = {
      get effects() {
        return stage.#effects.promise;
      },
      async fireSchedule(id) {
        if (stage.#worker === undefined) throw new Error("the host is closed");
        await scheduleActivities(stage.#worker.schedules, clocks, shared.taskQueue).fireSchedule(id);
      },
    };
    this.#schedules = {
      async put(schedule) {
        shared.register(schedule.id, stage.#home);
        stage.#mirrored.add(schedule.id);
        await mirror.put(schedule);
      },
      remove: (id) => mirror.remove(id),
    };
  }

  async host(options: HostOptions): Promise<Trackside> {
    const { workflows, taskQueue, own } = this.#shared;
    const name = engineName("default", taskQueue);
    const start = this.#shared.starts(this.#home);
    const bus = memoryBus();
    const store = () => sqlite(this.#path, { sync: "normal" });
    const worker = new Trackside({ store: store(), bus, ...optionsOf(options), claims: false });
    await worker.open({ claims: false });
    worker.engine.drivenBy({ name, start });
    const effects = worker.engine.effects((runIds) => void relay.woken(runIds));
    const relay = new Relay({ effects, workflows, engine: name, start, notice: () => {} });
    effects.listen();
    relay.start();
    await effects.announce(name, own);
    const engine = { name, start, schedules: this.#schedules };
    const host = new Trackside({ store: store(), bus, ...optionsOf(options), engine });
    this.#stops.push(
      () => host.close(),
      () => relay.close(),
      () => effects.close(),
      () => worker.close(),
    );
    this.#worker = worker;
    this.#effects.resolve(effects);
    await host.open();
    return host;
  }

  async desk(): Promise<Trackside> {
    const store = sqlite(this.#path, { sync: "normal" });
    const desk = new Trackside({ store, ...optionsOf({ claims: false }) });
    this.#stops.push(() => desk.close());
    await desk.open();
    return desk;
  }

  async stop(): Promise<void> {
    this.#effects = Promise.withResolvers();
    this.#worker = undefined;
    for (const stop of this.#stops.splice(0)) await stop();
  }

  async histories(): Promise<string> {
    const texts: string[] = [];
    for (const id of this.#shared.idsOf(this.#home))
      for (const history of await historiesOf(this.#shared.workflows, id))
        texts.push(writeHistory(history, []));
    return texts.join("\n");
  }

  afterwards(close: () => unknown): void {
    this.#afterwards.push(close);
  }

  async close(): Promise<void> {
    const open = await this.#openRuns();
    await this.stop();
    for (const id of this.#mirrored) await this.#schedules.remove(id);
    await this.#shared.forget(this.#home, open);
    for (const close of this.#afterwards.splice(0)) await close();
  }

  async #openRuns(): Promise<readonly string[]> {
    const open = await this.#worker?.engine.store.read(function* (db) {
      return (yield db.selectFrom("runs").select("id").where("ended_at", "is", null).compile()).rows;
    });
    return ((open ?? []) as readonly { id: string }[]).map(({ id }) => id); // as it was selected
  }
}
