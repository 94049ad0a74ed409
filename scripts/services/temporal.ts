import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Program, ServerProcess } from "./server-process.ts";
import { type Missing, missing, type Service } from "./service.ts";
import { findTemporal, provideTemporal } from "./temporal-program.ts";

const ANSWER_MS = 30_000;
const HELP = "install Go 1.26.4 or newer and run this again, or set TEMPORAL_CLI_PATH to a temporal program";

export interface TemporalOptions {
  /** Dynamic configuration of the server: name and JSON value, such as `"limit.historyCount.error": 100`. */
  readonly settings?: Readonly<Record<string, boolean | number | string>>;
  /** Keeps everything in memory, which takes the server half the CPU time. Nothing survives `restart()` or `kill()`. */
  readonly memory?: boolean;
}

export interface TemporalService extends Service {
  /** Host and port, as clients and workers want it. */
  readonly address: string;
  readonly namespace: "default";
  /** The `temporal` program, to look into the server with. */
  readonly program: string;
}

/** Temporal's development server. Its workflows survive `restart()` and `kill()`, unless it keeps them in memory. */
export async function temporalServer(options: TemporalOptions = {}): Promise<TemporalService | Missing> {
  const why = await provideTemporal();
  const command = findTemporal();
  if (command === undefined) return missing("Temporal", why ?? "not found", HELP);

  const dir = mkdtempSync(join(tmpdir(), "trackside-temporal-"));
  const server = new ServerProcess(program(command, dir, options), dir);
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    get address() {
      return addressOf(server.port);
    },
    namespace: "default",
    program: command,
    get port() {
      return server.port;
    },
    dir,
    get pid() {
      return server.pid;
    },
    stop: () => server.stop(),
    restart: () => server.restart(),
    kill: () => server.signal("SIGKILL"),
  };
}

const addressOf = (port: number) => `127.0.0.1:${port}`;

function program(command: string, dir: string, { settings = {}, memory }: TemporalOptions): Program {
  // Known to this server alone, so that another one that took the port is never taken for it.
  const own = basename(dir);
  const env = bareEnvironment(dir);
  return {
    name: "Temporal",
    command,
    // Ports for metrics, HTTP and its own services are free ones of its own choice.
    args: (port) => [
      "server",
      "start-dev",
      "--headless",
      "--ip=127.0.0.1",
      `--port=${port}`,
      ...(memory ? [] : [`--db-filename=${join(dir, "temporal.db")}`]),
      "--log-level=error",
      `--namespace=${own}`,
      ...Object.entries(settings).map(
        ([name, value]) => `--dynamic-config-value=${name}=${JSON.stringify(value)}`,
      ),
    ],
    env,
    user: undefined,
    stopSignal: "SIGTERM",
    endSignal: "SIGKILL",
    isReady: async (port) => (await isOpen(port)) && (await takesWorkflows(command, env, port, own)),
  };
}

/** What the user has configured for `temporal` (a profile, an address, a key) is about other servers. */
function bareEnvironment(dir: string): Readonly<Record<string, string>> {
  return { PATH: process.env["PATH"] ?? "", HOME: dir, TMPDIR: dir };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(ANSWER_MS, () => end(false));
    socket.on("error", () => end(false));
    socket.on("connect", () => end(true));
  });
}

/**
 * Its health only says that the frontend is up. A workflow is taken when history and database are too; this one is out of
 * the way, in a namespace of its own.
 */
function takesWorkflows(
  command: string,
  env: Readonly<Record<string, string>>,
  port: number,
  namespace: string,
): Promise<boolean> {
  const args = [
    "workflow",
    "start",
    `--address=${addressOf(port)}`,
    `--namespace=${namespace}`,
    "--type=ready",
    "--task-queue=ready",
    "--run-timeout=1s",
  ];
  return new Promise((resolve) => {
    execFile(command, args, { env: { ...env }, timeout: ANSWER_MS, killSignal: "SIGKILL" }, (error) =>
      resolve(error === null),
    );
  });
}
