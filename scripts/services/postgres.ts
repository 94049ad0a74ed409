import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { aptInstall } from "./apt.ts";
import { findPrograms } from "./find-program.ts";
import { type Program, ServerProcess } from "./server-process.ts";
import { type Missing, missing, type Service } from "./service.ts";

const run = promisify(execFile);

export interface PostgresOptions {
  /** Commits reach the disk. Without it they survive the death of the server, not of the machine. */
  readonly durable?: boolean;
  /** More settings, as `postgres -c name=value`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresService extends Service {
  readonly url: string;
  /** An empty database; its URL. */
  createDatabase(): Promise<string>;
}

const PROGRAMS = ["postgres", "initdb", "createdb"];
const USUAL = [
  "/usr/lib/postgresql/*/bin",
  "/usr/pgsql-*/bin",
  "/usr/local/pgsql/bin",
  "/opt/homebrew/opt/postgresql@*/bin",
  "/usr/local/opt/postgresql@*/bin",
];
const find = () => findPrograms(PROGRAMS, USUAL);

export async function postgresServer(options: PostgresOptions = {}): Promise<PostgresService | Missing> {
  const why = find() === undefined ? await aptInstall("postgresql", () => find() !== undefined) : undefined;
  const bin = find();
  if (bin === undefined) return missing("PostgreSQL", why ?? "not found", "apt-get install postgresql");

  const user = serverUser();
  const dir = mkdtempSync(join(tmpdir(), "trackside-postgres-"));
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  chmodSync(dir, 0o700);
  const process = new ServerProcess(program(bin, dir, user, options), dir);
  try {
    await initialise(bin, dir, user);
    await process.start();
  } catch (error) {
    await process.stop();
    throw error;
  }
  return new Postgres(process, dir, bin);
}

class Postgres implements PostgresService {
  readonly #process: ServerProcess;
  readonly #bin: string;
  readonly dir: string;
  #databases = 0;

  constructor(process: ServerProcess, dir: string, bin: string) {
    this.#process = process;
    this.dir = dir;
    this.#bin = bin;
  }

  get url(): string {
    return this.#urlOf("postgres");
  }

  get port(): number {
    return this.#process.port;
  }

  get pid(): number {
    return this.#process.pid;
  }

  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await run(join(this.#bin, "createdb"), [
      "-h",
      "127.0.0.1",
      "-p",
      String(this.port),
      "-U",
      "postgres",
      name,
    ]);
    return this.#urlOf(name);
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }

  restart(): Promise<void> {
    return this.#process.restart();
  }

  kill(): Promise<void> {
    return this.#process.signal("SIGKILL");
  }

  #urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }
}

type User = Program["user"];

/** PostgreSQL refuses to run as root. It must be a user that the machine knows. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    "PostgreSQL does not run as root, and /etc/passwd knows neither postgres nor nobody: add one",
  );
}

async function initialise(bin: string, dir: string, user: User): Promise<void> {
  const args = [
    "-D",
    join(dir, "data"),
    "-U",
    "postgres",
    "--auth=trust",
    "-E",
    "UTF8",
    "--no-locale",
    "--no-sync",
  ];
  await run(join(bin, "initdb"), args, { cwd: dir, ...user });
}

function program(bin: string, dir: string, user: User, { durable, settings }: PostgresOptions): Program {
  const data = join(dir, "data");
  const fixed = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    // Commits are still written before they are answered, so that they survive `kill()`.
    ...(durable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...settings,
  };
  return {
    name: "PostgreSQL",
    command: join(bin, "postgres"),
    args: (port) => {
      const all = Object.entries({ ...fixed, port: String(port) });
      return ["-D", data, ...all.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
    },
    user,
    stopSignal: "SIGINT",
    endSignal: "SIGQUIT", // unlike a SIGKILL it leaves no shared memory behind
    isReady: async (_port, pid) => statusOf(data, pid) === "ready",
  };
}

/** The server keeps its state in the last line of its pid file. */
function statusOf(data: string, pid: number): string | undefined {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid ? lines[7]?.trim() : undefined;
  } catch {
    return undefined; // not written yet
  }
}
