import { createServer } from "node:net";
import { messageOf } from "../approvals/approver.ts";
import { type Loaded, loadConfig } from "../config/load-config.ts";
import type { Io } from "../io.ts";
import { shown } from "../load-module.ts";
import type { Finding } from "./finding.ts";

/** Whether a config loads, and what it stands on works. */
export async function* checkConfig(io: Io, path: string): AsyncGenerator<Finding> {
  let loaded: Loaded;
  try {
    loaded = await loadConfig(path, io);
    const names = loaded.trackside.engine.registry.names;
    const detail = `${shown(path, io.cwd)} loads, with ${names.length === 0 ? "no agents" : names.join(", ")}`;
    yield { what: "Config", state: "ok", detail };
  } catch (error) {
    yield { what: "Config", state: "wrong", detail: messageOf(error), next: "Mend it and ask again." };
    return;
  }
  const { trackside } = loaded;
  try {
    yield* checkStore(loaded);
    yield* checkPort(loaded);
  } finally {
    await trackside.close().catch(() => {}); // a store that does not open has been told of
  }
}

async function* checkStore({ trackside }: Loaded): AsyncGenerator<Finding> {
  const { store } = trackside.engine;
  try {
    await trackside.open({ claims: false });
  } catch (error) {
    yield {
      what: "Store",
      state: "wrong",
      detail: `${store.name}: ${messageOf(error)}`,
      next: "Check that it runs and that this user may use it, or name another in the config.",
    };
    return;
  }
  const { now } = await trackside.stats.report({ from: 0, to: 1, buckets: 1 });
  yield { what: "Store", state: "ok", detail: `${store.name} opens` };
  if (now.parked > 0)
    yield {
      what: "Parked runs",
      state: "wrong",
      detail: `${now.parked} cannot go on by themselves`,
      next: "trackside runs --status parked lists them, trackside runs show says why.",
    };
  if (now.pending_approvals > 0)
    yield {
      what: "Approvals",
      state: "note",
      detail: `${now.pending_approvals} wait for somebody`,
      next: "trackside approvals asks you about one after the other.",
    };
  const { ok, problems } = await trackside.audit.verify();
  yield ok
    ? { what: "Audit", state: "ok", detail: "the chain is whole" }
    : {
        what: "Audit",
        state: "wrong",
        detail: problems[0]?.message ?? "the chain is broken",
        next: "Somebody changed rows. trackside audit verify lists all that is wrong.",
      };
  yield (await trackside.access.needsSetup())
    ? {
        what: "Sign-in",
        state: "note",
        detail: "nobody can sign in yet",
        next: "trackside start prints a link that makes the first admin.",
      }
    : { what: "Sign-in", state: "ok", detail: "there is an admin" };
}

async function* checkPort({ server: make }: Loaded): AsyncGenerator<Finding> {
  const server = await make({});
  const { hostname, port } = new URL(server.url);
  const problem = await listenProblem(hostname, Number(port || 80));
  yield problem === undefined
    ? { what: "Port", state: "ok", detail: `${hostname}:${port} is free` }
    : {
        what: "Port",
        state: "note",
        detail: `${hostname}:${port}: ${problem}`,
        next: "If that is not this installation, which runs already, choose another with --port.",
      };
}

function listenProblem(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const probe = createServer();
  probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  probe.listen(port, host.replaceAll(/[[\]]/g, ""), () => probe.close(() => resolve(undefined)));
  return promise;
}
