import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromiumServer } from "./chromium-server.ts";
import { postgresServer } from "./postgres.ts";
import { redisServer } from "./redis.ts";
import type { Missing } from "./service.ts";
import { temporalServer } from "./temporal.ts";

/** Starts each service that the test files of a run share. */
const START = {
  chromium: async () => described(await chromiumServer(), ({ url }) => ({ url })),
  postgres: async () => described(await postgresServer(), ({ url }) => ({ url })),
  redis: async () => described(await redisServer(), ({ url }) => ({ url })),
  temporal: async () =>
    described(await temporalServer({ memory: true }), ({ address, program }) => ({
      address,
      namespace: "default" as const,
      program,
    })),
};

export type SharedName = keyof typeof START;
/** How a client reaches the service. Plain JSON. */
export type SharedAddress<N extends SharedName> = Exclude<
  Awaited<ReturnType<(typeof START)[N]>>,
  Missing
>["address"];

interface Running {
  readonly address: object;
  stop(): Promise<void>;
}

async function described<S extends { stop(): Promise<void> }, A extends object>(
  service: S | Missing,
  addressOf: (service: S) => A,
): Promise<Missing | { address: A; stop(): Promise<void> }> {
  if ("missing" in service) return service;
  return { address: addressOf(service), stop: () => service.stop() };
}

/** Where the keeper of a run listens. */
export const keeperSocket = (runFolder: string) => join(runFolder, "services.sock");

/**
 * Starts shared services in the main process of a test run, each when a test file first asks for it, and stops them after
 * the last file. Test files run in threads and processes that end earlier, so none of them can own a server.
 *
 * A client connects, writes the name of a service and a newline, and reads one line of JSON: `{ address }`, `{ missing }`
 * or `{ error }`.
 */
export class ServicesKeeper {
  readonly #services = new Map<string, Promise<Missing | Running>>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on("error", () => {}); // the test file ended before the service was up
      createInterface({ input: socket }).once("line", async (name) => {
        socket.end(`${JSON.stringify(await this.#answer(name))}\n`);
      });
    });
  }

  static async listen(runFolder: string): Promise<ServicesKeeper> {
    const keeper = new ServicesKeeper();
    await new Promise<void>((resolve, reject) => {
      keeper.#server.once("error", reject).listen(keeperSocket(runFolder), resolve);
    });
    keeper.#server.unref();
    return keeper;
  }

  async close(): Promise<void> {
    this.#server.close();
    const started = await Promise.allSettled(this.#services.values());
    await Promise.all(
      started.map(async (result) => {
        if (result.status === "fulfilled" && "stop" in result.value) await result.value.stop();
      }),
    );
  }

  async #answer(name: string): Promise<object> {
    try {
      if (!(name in START)) throw new Error(`no shared service is called ${JSON.stringify(name)}`);
      const start = START[name as SharedName]; // checked above
      let service = this.#services.get(name);
      if (service === undefined) {
        service = start();
        this.#services.set(name, service);
      }
      const found = await service;
      return "missing" in found ? found : { address: found.address };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}
