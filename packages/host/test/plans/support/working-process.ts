import { Agent, type AgentBinding } from "trackside";
import { keyring, type Store, sqlite, Trackside } from "../../../src/index.ts";
import { rolesModel, titleIn } from "./planner.ts";

/**
 * A process that works plans over a SQLite file, and is killed before or after the write whose number it is given: as good
 * as pulled out of the wall. Arguments: file, number (0 for never), and an agent whose plan it is to run.
 */
const [, , file = "", number = "0", agent] = process.argv;
let left = Number(number);

function mortal(store: Store): Store {
  const die = (): boolean => {
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
    return left === 0;
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = value.bind(target);
      if (name !== "write" && name !== "append") return call;
      return async (...given: unknown[]) => {
        if (die()) return new Promise(() => {});
        const done = await call(...given);
        return die() ? new Promise(() => {}) : done;
      };
    },
  });
}

const model = () =>
  rolesModel(({ role, text }) =>
    role === "judge" ? JSON.stringify({ passed: true, reason: "Yes." }) : `did ${titleIn(text)}`,
  );

const trackside = new Trackside({
  store: mortal(sqlite(file, { sync: "normal" })),
  keyring: keyring({ current: "k1", keys: { k1: Buffer.alloc(32, 7) } }),
  agents: [new Agent({ name: "coded", model: model() })] as unknown as readonly AgentBinding[], // what an agent is
  models: { "demo:works": model() },
  notice: () => {},
});
await trackside.open();
if (agent !== undefined) await trackside.plans.runActive(agent, { by: "ann" }).catch(() => {}); // it may be done
setInterval(() => {}, 1_000); // until it is killed
