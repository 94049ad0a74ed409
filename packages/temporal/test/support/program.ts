// A process of its own: a worker, or a desk that has the store and nothing else.
import { flushCompileCache } from "node:module";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { postgres, redisBus, Trackside } from "@trackside/host";
import { TracksideError } from "trackside";
import { createWorker } from "../../src/worker/index.ts";
import { type AgentsInit, makeAgents, makeWorkflows, toolkitOf } from "./agents.ts";
import { KEYS } from "./keys.ts";

export interface WorkerProgram extends AgentsInit {
  readonly role: "worker";
  readonly address: string;
  readonly taskQueue: string;
  readonly database: string;
  readonly redis?: string;
  /** The file of the workflow bundle. */
  readonly bundle: string;
}

/** Decides one approval, not before a moment, and says what came of it. */
export interface DeskProgram {
  readonly role: "desk";
  readonly database: string;
  readonly id: string;
  readonly choice: "approve" | "reject";
  readonly by: string;
  readonly at: number;
}

export interface Decided {
  readonly state?: string;
  readonly by?: string;
  readonly code?: string;
}

const init: WorkerProgram | DeskProgram = JSON.parse(process.argv[2] ?? "");
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
if (init.role === "worker") await work(init);
else await decide(init);

async function work({ address, taskQueue, database, redis, bundle, ...made }: WorkerProgram): Promise<void> {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address });
  const agents = makeAgents(made);
  const trackside = new Trackside({
    store: postgres(database),
    keyring: KEYS,
    agents,
    workflows: makeWorkflows(agents),
    ...toolkitOf(agents),
    claims: false,
    notice: (notice) => say({ notice }),
    ...(redis === undefined ? {} : { bus: redisBus(redis) }),
  });
  const options = { workflowBundle: { codePath: bundle }, shutdownGraceTime: "1 s" as const };
  const worker = await createWorker({ connection, taskQueue, trackside, options });
  const running = worker.run();
  process.on("SIGTERM", () => worker.shutdown());
  say({ ready: true });
  flushCompileCache(); // most of these processes are killed, and would leave nothing to the next
  await running;
  await trackside.close();
  await connection.close();
}

async function decide({ database, id, choice, by, at }: DeskProgram): Promise<void> {
  const trackside = new Trackside({ store: postgres(database), keyring: KEYS, agents: [], claims: false });
  await trackside.open();
  say({ ready: true });
  await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
  const decided: Decided = await trackside.approvals.decide(id, { choice, by }).then(
    ({ state, decision }) => ({
      state,
      ...(decision === null || decision === undefined ? {} : { by: decision.by }),
    }),
    (error: unknown) => ({ code: error instanceof TracksideError ? error.code : String(error) }),
  );
  say(decided);
  await trackside.close();
}
