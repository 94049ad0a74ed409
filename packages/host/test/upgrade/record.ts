// Records an upgrade fixture with the code of this commit, into fixtures/<commit>. Run it once for a release, before the
// next one changes what is stored, and commit the folder:
//   node --conditions=@trackside/source packages/host/test/upgrade/record.ts
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { postgresServer } from "../../../../scripts/services/index.ts";
import { Answers } from "../../src/answers/index.ts";
import { postgres, type Store, sqlite, type Trackside } from "../../src/index.ts";
import { cipher } from "../../src/secrets/index.ts";
import { rows } from "../../src/store/index.ts";
import { hostOf, KEYS } from "./cast.ts";
import { factsOf } from "./facts.ts";
import { type ExpectedRun, FIXTURES, type Kind, type Manifest } from "./fixture.ts";
import type { Held, HolderInit } from "./holder.ts";
import { LOST, OPENED, OTHERS, type Outcome } from "./scenarios.ts";
import { script } from "./world.ts";

const HOLDER = fileURLToPath(new URL("./holder.ts", import.meta.url));
/** The clock of a recording is 400 days behind: every wait and deadline of the fixture is over when it is opened. */
const BEHIND = 400 * 86_400_000;
const ANN = { by: "ann" };
const OUTCOMES: readonly Outcome[] = [...LOST, ...OPENED, ...OTHERS];

const commit = execFileSync("git", ["rev-parse", "--short=7", "HEAD"]).toString().trim();
const server = await postgresServer();
if ("missing" in server) throw new Error(server.missing);
try {
  for (const kind of ["sqlite", "postgres"] as const) await record(kind);
} finally {
  await server.stop();
}

async function record(kind: Kind): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "trackside-upgrade-"));
  const target = kind === "sqlite" ? join(dir, "trackside.db") : await databaseUrl();
  const files = { effects: join(dir, "effects"), holds: join(dir, "holds") };
  const holder: Omit<HolderInit, "act"> = { kind, target, ...files, behind: BEHIND };
  const first = await heldBy({ ...holder, act: "lost" });
  const second = await heldBy({ ...holder, act: "opened" });
  const store = kind === "sqlite" ? sqlite(target) : postgres(target);
  const { trackside } = hostOf({ store, ...files, behind: BEHIND, claims: false });
  const ids = { ...first.runs, ...second.runs };
  await decide(trackside, ids);
  Object.assign(ids, await leaveMessages(trackside, ids));
  const webhook = await schedule(trackside);
  await keepAnswer(trackside);
  const { access, plans } = second;
  if (access === undefined || plans === undefined) throw new Error("the second process said nothing of them");
  const made = await manifest(trackside, ids, { access, plans, webhook });
  await forgetMachine(store);
  const facts = await factsOf(trackside);
  await trackside.close();
  write(kind, {
    database: kind === "sqlite" ? compact(target, dir) : dump(target),
    effects: readFileSync(files.effects),
    manifest: JSON.stringify(made),
    facts: JSON.stringify(facts),
  });
  rmSync(dir, { recursive: true, force: true });
}

async function databaseUrl(): Promise<string> {
  if (server === undefined || "missing" in server) throw new Error("PostgreSQL is not there");
  return server.createDatabase();
}

/** Runs a process until it says that everything is in its place, and kills it there. */
async function heldBy(init: HolderInit): Promise<Held> {
  const args = ["--conditions=@trackside/source", HOLDER, JSON.stringify(init)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    child.kill("SIGKILL");
    await gone;
    return JSON.parse(line);
  }
  throw new Error(`the process "${init.act}" ended by itself`);
}

/** Approvals decided while no worker is up. */
async function decide({ approvals }: Trackside, ids: Readonly<Record<string, string>>): Promise<void> {
  for (const { name, decided } of OUTCOMES) {
    if (decided === undefined) continue;
    const pending = await approvals.list({ rootRunId: ids[name] ?? "" });
    if (pending.length === 0) throw new Error(`${name}: no approval is pending`);
    for (const { id } of pending) await approvals.decide(id, decided);
  }
}

/** Messages and cancels that no worker has heard of, and runs that no worker has begun. */
async function leaveMessages(
  trackside: Trackside,
  ids: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const { runs, conversations } = trackside;
  await trackside.steer(ids["steered"] ?? "", "hurry", { wait: false, requestId: "hurry" });
  await trackside.steer(ids["steered"] ?? "", "please", { wait: false });
  await trackside.inject(ids["busy"] ?? "", "a note", { wait: false });
  const { conversation_id } = await runs.get(ids["busy"] ?? "");
  const line = { whenBusy: "queue", queue: true } as const;
  const behind = await conversations.send(
    conversation_id,
    script({ name: "behind", steps: ["after busy"] }),
    line,
  );
  const queued = await trackside.start("clerk", script({ name: "queued", steps: ["begun late"] }), {
    queue: true,
  });
  await runs.cancel(ids["unwanted"] ?? "", { reason: "not wanted any more" });
  return { behind: behind.runId, queued: queued.runId };
}

async function schedule({ schedules }: Trackside): Promise<Manifest["webhook"]> {
  const target = { kind: "agent", name: "clerk" } as const;
  const cron = (pattern: string) => ({ kind: "cron", pattern, time_zone: "UTC" }) as const;
  const input = script({ name: "scheduled", steps: ["by the clock"] });
  await schedules.create({ name: "yearly", target, input, trigger: cron("0 0 1 1 *") }, ANN);
  await schedules.create(
    { name: "skipping", target, input, trigger: cron("0 0 1 1 *"), missed: "skip" },
    ANN,
  );
  await schedules.create({ name: "paused", target, input, trigger: cron("0 0 1 1 *"), enabled: false }, ANN);
  const made = await schedules.create({ name: "hook", target, input, trigger: { kind: "webhook" } }, ANN);
  return { id: made.id, secret: made.secret ?? "" };
}

async function keepAnswer({ engine }: Trackside): Promise<void> {
  const answers = new Answers(engine.store, cipher(KEYS), () => engine.clock.now());
  const asking = { tenant: "default", caller: "ann", key: "k1", digest: "d1" };
  const asked = await answers.ask(asking);
  if (asked.state !== "new") throw new Error("the key is new");
  await answers.keep(asking, asked.claim, { status: 201, headers: { etag: "1" }, body: "made" });
}

async function manifest(
  trackside: Trackside,
  ids: Readonly<Record<string, string>>,
  more: Pick<Manifest, "access" | "plans" | "webhook">,
): Promise<Manifest> {
  const { runs, approvals, workflows } = trackside;
  const expected: Record<string, ExpectedRun> = {};
  const decisions: Record<string, Manifest["decisions"][string]> = {};
  for (const outcome of OUTCOMES) {
    const { name, tenant = "default", decides: decision } = outcome;
    const id = ids[name] ?? "";
    const { status } = await runs.get(id, { tenant });
    expected[name] = { id, tenant, recorded: status, ends: endOf(outcome) };
    for (const approval of await approvals.list({ tenant, rootRunId: id }))
      if (decision !== undefined && workflows.waits.tokenOf(approval) === undefined)
        decisions[approval.id] = { tenant, decision };
  }
  const wait = (await approvals.list({ runId: ids["flow"] ?? "" })).find((one) =>
    workflows.waits.tokenOf(one),
  );
  if (wait === undefined) throw new Error("no workflow waits");
  return {
    at: trackside.engine.clock.now(),
    behind: BEHIND,
    runs: expected,
    decisions,
    wait: { id: wait.id, token: workflows.waits.tokenOf(wait) ?? "" },
    once: OUTCOMES.flatMap(({ once = [] }) => once).sort(),
    ...more,
  };
}

function endOf({ ends = { status: "completed" }, steps = [] }: Outcome): ExpectedRun["ends"] {
  if (ends.status !== "completed" || "output" in ends) return ends;
  const last = steps.at(-1);
  return { ...ends, output: typeof last === "string" ? last : last?.text };
}

/** Nothing of the fixture names the machine that recorded it. */
async function forgetMachine(store: Store): Promise<void> {
  await store.write((db) => rows(db.updateTable("processes").set({ host: "recorder", machine: "recorder" })));
}

function compact(file: string, dir: string): Buffer {
  const made = join(dir, "compact.db");
  const db = new Database(file);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.prepare("VACUUM INTO ?").run(made);
  db.close();
  return readFileSync(made);
}

/** As SQL that any client can run: without the lines that only psql understands. */
function dump(url: string): string {
  const args = ["--inserts", "--no-owner", "--no-privileges", url];
  const text = execFileSync("pg_dump", args, { maxBuffer: 1 << 28 }).toString();
  const lines = text.split("\n").filter((line) => !line.startsWith("\\") && !line.startsWith("--"));
  return lines
    .filter((line) => !line.startsWith("SET ") && !line.startsWith("SELECT pg_catalog.set_config"))
    .join("\n");
}

function write(kind: Kind, parts: Readonly<Record<string, string | Buffer>>): void {
  const dir = new URL(`${commit}/${kind}/`, FIXTURES);
  mkdirSync(dir, { recursive: true });
  for (const [name, content] of Object.entries(parts)) {
    const packed = gzipSync(content, { level: 9 });
    writeFileSync(new URL(`${name}.gz`, dir), packed);
    process.stdout.write(`${kind}/${name}: ${Buffer.byteLength(content)} bytes, ${packed.length} packed\n`);
  }
}
