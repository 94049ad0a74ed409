import { join } from "node:path";
import { serve } from "@hono/node-server";
import { sqlite, Trackside } from "@trackside/host";
import { Hono } from "hono";
import type { Agent, Tool } from "trackside";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import type { ProtocolCredential, ProtocolEnv, ProtocolRole } from "../../src/protocols/env.ts";

export interface Stage {
  readonly url: string;
  readonly trackside: Trackside;
  /** Whoever asks from now on. */
  as(role: ProtocolRole, user?: string, tenant?: string): void;
  /** Stops the server and its host; another stage may go on with its home. */
  close(): Promise<void>;
  readonly home: string;
}

/** Agents behind a real HTTP server, on SQLite, with a credential of the test's choice. Gone when the test is. */
export async function stage(
  agents: readonly Agent<readonly Tool[], never>[],
  routes: Hono<ProtocolEnv>,
  home = temporaryFolder("protocols"),
): Promise<Stage> {
  const trackside = new Trackside({
    store: sqlite(join(home, "test.db"), { sync: "normal" }),
    agents,
    notice: () => {},
  });
  await trackside.open();
  let credential: ProtocolCredential = { tenant: "acme", user: { id: "u1", name: "Una" }, role: "admin" };
  const app = new Hono<ProtocolEnv>();
  app.use("*", async (c, next) => {
    c.set("credential", credential);
    c.set("trackside", trackside);
    c.set("publicUrl", "http://control.room");
    await next();
  });
  app.route("/", routes);
  const { server, port } = await new Promise<{ server: ReturnType<typeof serve>; port: number }>(
    (resolve) => {
      const made = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) =>
        resolve({ server: made, port: info.port }),
      );
    },
  );
  let closed: Promise<void> | undefined;
  const end = async () => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await trackside.close();
  };
  const close = () => {
    closed ??= end();
    return closed;
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}`,
    trackside,
    home,
    close,
    as(role, user = "u1", tenant = "acme") {
      credential = { tenant, user: { id: user, name: user }, role };
    },
  };
}

/** Waits until something is so, however long this machine takes. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<Exclude<T, false>>> {
  for (;;) {
    const found = await look();
    if (found) return found as NonNullable<Exclude<T, false>>; // neither false nor nothing
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
