import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, globSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { fixture } from "../fixture.ts";
import { aptInstall } from "./apt.ts";
import { findPrograms } from "./find-program.ts";
import { postgresServer, redisServer, serviceSuite, sharedPostgres, temporalServer } from "./index.ts";
import { isAlive, withLock } from "./lock-file.ts";
import { type Missing, missing, type Service } from "./service.ts";

const run = promisify(execFile);
const PATIENCE = { timeout: 60_000 };
vi.setConfig({ testTimeout: 150_000 }); // servers start and end when they get a turn

await serviceSuite("PostgreSQL for tests", postgresServer, (postgres) => {
  const sql = async (url: string, query: string) =>
    (await run(join(psqlFolder(), "psql"), [url, "-XAtc", query])).stdout.trim();

  test("databases are apart from each other", async () => {
    const [one, two] = [await postgres.createDatabase(), await postgres.createDatabase()];
    await sql(one, "create table t (n int)");
    expect(await sql(two, "select count(*) from pg_tables where tablename = 't'")).toBe("0");
  });

  test("a restart and a kill keep port and committed data", async () => {
    const url = await postgres.createDatabase();
    await sql(url, "create table t (n int)");
    const first = postgres.pid;
    await postgres.restart();
    await sql(url, "insert into t values (1)");
    await postgres.kill();
    expect(() => postgres.pid).toThrow("PostgreSQL does not run");
    await postgres.restart();
    expect(await sql(url, "select n from t")).toBe("1");
    expect(postgres.pid).not.toBe(first);
    expect(isAlive(first)).toBe(false);
  });

  test("a frozen one is restarted all the same", async () => {
    process.kill(postgres.pid, "SIGSTOP");
    await postgres.restart();
    expect(await sql(postgres.url, "select 1")).toBe("1");
  });
});

await serviceSuite("PostgreSQL that test files share", sharedPostgres, (postgres) => {
  const sql = async (url: string, query: string) =>
    (await run(join(psqlFolder(), "psql"), [url, "-XAtc", query])).stdout.trim();

  test("is one server, with databases of their own, empty or copied", async () => {
    expect(await sharedPostgres()).toMatchObject({ url: postgres.url });
    const template = await postgres.createDatabase();
    await sql(template, "create table t as select 7 as n");
    expect(await sql(await postgres.createDatabase(template), "select n from t")).toBe("7");
    const empty = await postgres.createDatabase();
    expect(await sql(empty, "select count(*) from pg_tables where tablename = 't'")).toBe("0");
  });
});

await serviceSuite(
  "durable PostgreSQL for tests",
  () => postgresServer({ durable: true }),
  (postgres) => {
    test("commits reach the disk", async () => {
      const { stdout } = await run(join(psqlFolder(), "psql"), [postgres.url, "-XAtc", "show fsync"]);
      expect(stdout.trim()).toBe("on");
    });
  },
);

await serviceSuite("Redis for tests", redisServer, (redis) => {
  test("it answers, and after a restart it is empty, on the same port", async () => {
    const { port } = redis;
    expect(await ask(port, "SET k v\r\n")).toBe("+OK\r\n");
    await redis.restart();
    expect(redis.port).toBe(port);
    expect(await ask(port, "GET k\r\n")).toBe("$-1\r\n");
    await redis.kill();
    await redis.restart();
    expect(await ask(port, "PING\r\n")).toBe("+PONG\r\n");
  });
});

const providers: readonly (() => Promise<Service | Missing>)[] = [
  redisServer,
  postgresServer,
  temporalServer,
];
for (const provide of providers) {
  await serviceSuite(`when the process that began ${provide.name} is gone`, provide, (own) => {
    const helper = join(import.meta.dirname, "index.ts");
    const program = `
      const { ${provide.name} } = await import(${JSON.stringify(helper)});
      const service = await ${provide.name}();
      console.log(JSON.stringify({ pid: service.pid, dir: service.dir }));
      setInterval(() => {}, 1000);
    `;

    test.each(["SIGKILL", "SIGINT"] as const)("by %s, nothing of the service is left", async (signal) => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const { pid, dir } = JSON.parse(await new Promise((resolve) => child.stdout.once("data", resolve)));
      expect([isAlive(pid), existsSync(dir)]).toEqual([true, true]);
      child.kill(signal);
      const gone = () => expect([isAlive(pid), existsSync(dir)]).toEqual([false, false]);
      await vi.waitFor(gone, PATIENCE);
      expect(isAlive(own.pid)).toBe(true);
    });
  });
}

test("a thread that ends takes its services along", async () => {
  const helper = join(import.meta.dirname, "index.ts");
  const code = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(helper)})
      .then(({ redisServer }) => redisServer())
      .then((redis) => parentPort.postMessage({ port: redis.port, dir: redis.dir }));
  `;
  const thread = new Worker(code, { eval: true });
  const { port, dir } = await new Promise<{ port?: number; dir?: string }>((resolve) =>
    thread.once("message", resolve),
  );
  await thread.terminate();
  if (port === undefined || dir === undefined) return; // there is no Redis here
  await vi.waitFor(() => expect(existsSync(dir)).toBe(false), PATIENCE);
  await expect(ask(port, "PING\r\n")).rejects.toThrow("ECONNREFUSED");
});

test("a stopped service leaves no folder", async () => {
  const redis = await redisServer();
  if ("missing" in redis) return;
  expect(existsSync(redis.dir)).toBe(true);
  await redis.stop();
  await redis.stop();
  expect(existsSync(redis.dir)).toBe(false);
});

test("a missing service says why and what would help; in CI it is an error", () => {
  vi.stubEnv("CI", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(missing("Redis", "not found", "apt-get install redis-server")).toEqual({
    missing: "Redis: not found; to have it: apt-get install redis-server",
  });
  vi.stubEnv("CI", "true");
  expect(() => missing("Redis", "not found", "apt-get install redis-server")).toThrow(/not found.*CI=true/);
});

test("TRACKSIDE_SERVICES=found installs nothing", async () => {
  vi.stubEnv("TRACKSIDE_SERVICES", "found");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await aptInstall("no-such-package", () => false)).toContain("TRACKSIDE_SERVICES=found");
});

test("programs are found on the PATH first, then in the highest version", () => {
  const root = fixture({
    "9/bin/a": "",
    "9/bin/b": "",
    "15/bin/a": "",
    "15/bin/b": "",
    "16/bin/a": "",
    "path/a": "",
    "folders/a/b": "",
  });
  for (const file of globSync(join(root, "**/{a,b}"))) chmodSync(file, 0o755);
  const usual = [join(root, "*/bin")];
  expect(findPrograms(["a", "b"], usual)).toBe(join(root, "15/bin"));
  vi.stubEnv("PATH", `${join(root, "folders")}:${join(root, "path")}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findPrograms(["a"], usual)).toBe(join(root, "path"));
  expect(findPrograms(["a", "c"], usual)).toBeUndefined();
});

test("a lock that somebody took over is left to them, and one that does not come is no error", async () => {
  const name = `test-${process.pid}-${performance.now()}`;
  const path = join(tmpdir(), `trackside-${name}.lock`);
  onTestFinished(() => rmSync(path, { force: true }));
  const waiting = vi.fn();
  await withLock(name, async () => writeFileSync(path, `${process.pid} another`), { waitMs: 60_000 });
  expect(readFileSync(path, "utf8")).toContain("another");
  expect(await withLock(name, async () => "done", { waitMs: 0, onWait: waiting })).toBeUndefined();
  expect(waiting).toHaveBeenCalledOnce();
});

test("a lock lets one in at a time, and one left by a dead process is taken over", async () => {
  const name = `test-${process.pid}-${performance.now()}`;
  let inside = 0;
  const work = async () => {
    inside += 1;
    await sleep(5);
    expect(inside).toBe(1);
    inside -= 1;
    return "done";
  };
  const all = await Promise.all([1, 2, 3].map(() => withLock(name, work, { waitMs: 60_000 })));
  expect(all).toEqual(["done", "done", "done"]);

  const dead = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => dead.once("exit", resolve));
  const path = join(tmpdir(), `trackside-${name}.lock`);
  writeFileSync(path, String(dead.pid));
  expect(await withLock(name, work, { waitMs: 60_000 })).toBe("done");

  // A thread of ours may have died with it.
  writeFileSync(path, String(process.pid));
  utimesSync(path, new Date(0), new Date(0));
  expect(await withLock(name, work, { waitMs: 60_000 })).toBe("done");
  expect(existsSync(path)).toBe(false);
});

function psqlFolder(): string {
  return findPrograms(["psql"], ["/usr/lib/postgresql/*/bin"]) ?? dirname(process.execPath);
}

function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(command));
    socket.once("error", reject);
    socket.once("data", (chunk) => {
      socket.destroy();
      resolve(String(chunk));
    });
  });
}
