import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aptInstall } from "./apt.ts";
import { findPrograms } from "./find-program.ts";
import { type Program, ServerProcess } from "./server-process.ts";
import { type Missing, missing, type Service } from "./service.ts";

const ANSWER_MS = 1000;

const find = () => findPrograms(["redis-server"], ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]);

export interface RedisService extends Service {
  readonly url: string;
}

/** A Redis that keeps nothing on disk: a restart finds it empty. */
export async function redisServer(): Promise<RedisService | Missing> {
  const why = find() === undefined ? await aptInstall("redis-server", () => find() !== undefined) : undefined;
  const bin = find();
  if (bin === undefined) return missing("Redis", why ?? "not found", "apt-get install redis-server");

  const dir = mkdtempSync(join(tmpdir(), "trackside-redis-"));
  const server = new ServerProcess(program(bin, dir), dir);
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    get url() {
      return `redis://127.0.0.1:${server.port}`;
    },
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

function program(bin: string, dir: string): Program {
  const settings = { bind: "127.0.0.1", save: "", appendonly: "no", daemonize: "no", dir };
  return {
    name: "Redis",
    command: join(bin, "redis-server"),
    args: (port) =>
      Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [`--${name}`, value]),
    user: undefined,
    stopSignal: "SIGTERM",
    endSignal: "SIGKILL",
    isReady: async (port, pid) => (await processOn(port)) === pid,
  };
}

/** The pid of the Redis that answers on a port: it might be another one than ours. */
function processOn(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let said = "";
    const end = (pid?: number) => {
      socket.destroy();
      resolve(pid);
    };
    socket.setTimeout(ANSWER_MS, end);
    socket.on("error", () => end());
    socket.on("close", () => end());
    socket.on("connect", () => socket.write("INFO server\r\n"));
    socket.on("data", (chunk) => {
      said += chunk;
      const pid = /process_id:(\d+)\r\n/.exec(said)?.[1];
      if (pid !== undefined) end(Number(pid));
    });
  });
}
