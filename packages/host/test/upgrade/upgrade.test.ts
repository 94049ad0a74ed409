import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { type Approval, TracksideError } from "trackside";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { Answers } from "../../src/answers/index.ts";
import {
  Access,
  type DecideInput,
  postgres,
  type Store,
  sqlite,
  type Trackside,
  verifyWebhook,
} from "../../src/index.ts";
import { thisProcess } from "../../src/journal/process-identity.ts";
import { cipher } from "../../src/secrets/index.ts";
import { rows } from "../../src/store/index.ts";
import { signWebhook } from "../../src/webhooks/signature.ts";
import { until } from "../engine/support/until.ts";
import { hostOf, KEYS, WEBHOOK_SECRET } from "./cast.ts";
import { allRuns, type Facts, factsOf, TENANTS } from "./facts.ts";
import { Fixture, recordedCommits } from "./fixture.ts";
import { call, script, type World } from "./world.ts";

// Databases that earlier releases left behind (record.ts): their processes were killed in the middle of everything. The code
// of today must read all of it and go on with all of it.

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 }); // only a run that never ends takes it

const OPEN = ["queued", "running", "waiting"];
const ENDS = ["completed", "error", "cancelled"];
/** No process has such a pid. */
const NO_PID = 2 ** 30;

/** A copy of a fixture's database that a test may change. */
interface Copy {
  readonly fixture: Fixture;
  readonly effects: string;
  store(): Store;
}

describe.each(recordedCommits())("the SQLite database of %s", (commit) => {
  suite(async () => {
    const fixture = new Fixture(commit, "sqlite");
    const dir = temporaryFolder("upgrade");
    const file = join(dir, "trackside.db");
    writeFileSync(file, fixture.database);
    return { ...withEffects(fixture, dir), store: () => sqlite(file, { sync: "normal" }) };
  });
});

await serviceSuite("PostgreSQL", sharedPostgres, (server) => {
  describe.each(recordedCommits())("the database of %s", (commit) => {
    suite(async () => {
      const fixture = new Fixture(commit, "postgres");
      const url = await server.createDatabase();
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(fixture.database.toString());
      await client.end();
      return { ...withEffects(fixture, temporaryFolder("upgrade")), store: () => postgres(url) };
    });
  });
});

function withEffects(fixture: Fixture, dir: string): Pick<Copy, "fixture" | "effects"> {
  const effects = join(dir, "effects");
  writeFileSync(effects, fixture.effects);
  return { fixture, effects };
}

function suite(copied: () => Promise<Copy>): void {
  test("is read as the release read it that wrote it", async () => {
    const copy = await copied();
    const { trackside } = open(copy, { claims: false });
    compare(await factsOf(trackside), copy.fixture.facts);
    for (const tenant of TENANTS)
      expect(await trackside.audit.verify({ tenant })).toMatchObject({ ok: true });
  });

  test("lets the same people and programs in, and opens the same secrets", async () => {
    const { fixture, store } = await copied();
    const { at, access: secrets } = fixture.manifest;
    const box = cipher(KEYS);
    const { trackside } = hostOf({ store: store(), effects: "", claims: false });
    onTestFinished(() => trackside.close());
    await trackside.open();
    const access = new Access({ store: trackside.engine.store, cipher: box, now: () => at });
    expect(await access.session(secrets.session)).toMatchObject({ user: { name: "bob" }, role: "operator" });
    expect(await access.token(secrets.token)).toMatchObject({ user: { name: "bob" }, role: "viewer" });
    const signedIn = await access.signIn({ name: "ann", password: secrets.password });
    expect(signedIn).toMatchObject({ session: { role: "admin" } });
    expect(await access.signIn({ name: "cara", password: secrets.password })).toHaveProperty("failed");
    expect(await trackside.secrets.use("acme", "crm")).toBe("a secret of acme");
    expect(await trackside.providers.get("openai")).toMatchObject({ key: "stored" });
    const answers = new Answers(trackside.engine.store, box, () => at);
    expect(await answers.ask({ tenant: "default", caller: "ann", key: "k1", digest: "d1" })).toEqual({
      state: "answered",
      answer: { status: 201, headers: { etag: "1" }, body: "made" },
    });
  });

  test("X2 L4 X3 every run of it goes on to its end, and nothing happens twice", async () => {
    const copy = await copied();
    const { manifest } = copy.fixture;
    const pager = await listening();
    await decideAll(copy, pager.url);

    const { trackside, world } = open(copy, { pager: pager.url });
    await trackside.open();
    await deliver(trackside, manifest.webhook);
    await finish(trackside, world);

    const ends: Record<string, unknown> = {};
    for (const [name, { id, tenant }] of Object.entries(manifest.runs))
      ends[name] = await endOf(trackside, id, tenant);
    expect(ends).toEqual(mapped(manifest.runs, ({ ends: expected }) => expected));
    const once = world.effects().filter(({ effect }) => effect === "once");
    expect(once.map(({ tool, name }) => `${tool} ${name}`).sort()).toEqual(manifest.once);
    const tasks = world.effects().filter(({ effect }) => effect === "task");
    expect(tasks.map(({ name }) => name).sort()).toEqual(["half-hooked", "hooked"]);

    await goOnReading(trackside, copy.fixture.facts);
    const late = await trackside.approvals.list({
      runId: manifest.runs["asks-late"]?.id ?? "",
      state: "all",
    });
    expect(late).toMatchObject([{ state: "timed_out" }]);
    await plansAreDone(trackside, manifest.plans);
    await schedulesFired(trackside);
    expect(pager.received().length).toBeGreaterThan(0);
    expect(pager.received().every(({ signed }) => signed)).toBe(true);
    await takesNewWork(trackside, world);
  });
}

/** A host of today on the copy; closed after the test. */
function open({ effects, store }: Copy, more: { readonly claims?: boolean; readonly pager?: string } = {}) {
  const host = hostOf({ store: store(), effects, ...more });
  onTestFinished(() => host.trackside.close());
  return host;
}

/** Compares piece by piece, so that a failure names the piece. What the code of today reads besides is not compared. */
function compare(read: Facts, recorded: Facts): void {
  for (const [tenant, parts] of Object.entries(recorded))
    for (const [part, facts] of Object.entries(Object(parts)))
      for (const [key, value] of Object.entries(Object(facts))) {
        const now = Object(Object(Object(read)[tenant])[part])[key];
        expect({ [`${tenant} ${part} ${key}`]: now }).toMatchObject({ [`${tenant} ${part} ${key}`]: value });
      }
}

/** A process that has only the store decides all that is pending, while no worker is up. */
async function decideAll(copy: Copy, pager: string): Promise<void> {
  const { manifest } = copy.fixture;
  const { trackside } = hostOf({ store: copy.store(), effects: copy.effects, claims: false, pager });
  await trackside.open();
  // As on the machine it was recorded on: the owners of the runs are processes of this machine, and dead.
  const dead = { machine: thisProcess().machine, pid: NO_PID };
  await trackside.engine.store.write((db) =>
    rows(db.updateTable("processes").set(dead).where("machine", "=", "recorder")),
  );
  for (const [id, { tenant, decision }] of Object.entries(manifest.decisions))
    await trackside.approvals.decide(id, decision, { tenant });
  await trackside.workflows.waits.submit(manifest.wait.id, manifest.wait.token, { n: 2 });
  await trackside.runs.resume(manifest.runs["parked"]?.id ?? "");
  // X10: the same requests again are the same runs.
  for (const name of ["answered", "in-none", "asks-tool"]) {
    const { id = "" } = manifest.runs[name] ?? {};
    const { message } = await trackside.runs.opening(id);
    const [part] = message.parts;
    const { agent } = await trackside.runs.get(id);
    const text = part?.type === "text" ? part.text : "";
    expect((await trackside.start(agent, text, { requestId: name })).runId).toBe(id);
  }
  await trackside.close();
}

/** Decides what is asked on the way, until nothing is open any more. */
async function finish(trackside: Trackside, world: World): Promise<void> {
  await until(async () => {
    for (const tenant of TENANTS)
      for (const approval of await trackside.approvals.list({ tenant })) {
        if (approval.deadline !== null) continue; // it is over: the worker closes it
        await trackside.approvals.decide(approval.id, decisionOn(approval, world), { tenant });
      }
    const parked = await trackside.runs.list({ status: "parked" });
    expect(parked.map(({ id, parked: why }) => `${id}: ${why}`)).toEqual([]);
    return (await isDone(trackside)) ? true : undefined;
  });
}

/** A person looks at the world to find out what happened. A tool that runs again asks its question again. */
function decisionOn({ kind, tool, arguments: args }: Approval, world: World): DecideInput {
  if (kind === "elicitation") return { choice: "accept", response: { city: "Oslo" }, by: "ann" };
  expect(kind).toBe("unknown_outcome");
  const name = String(args?.["name"]);
  const ran = world.effects().some((effect) => effect.tool === tool && effect.name === name);
  return ran ? { choice: "ran", response: `${tool} ${name}`, by: "ann" } : { choice: "run", by: "ann" };
}

function isDone({ engine: { store } }: Trackside): Promise<boolean> {
  return store.read(function* (db) {
    const runs = yield* rows(db.selectFrom("runs").select("id").where("status", "not in", ENDS));
    const tasks = yield* rows(
      db.selectFrom("deferred").select("id").where("state", "not in", ["done", "failed"]),
    );
    const webhooks = yield* rows(db.selectFrom("webhooks").select("id").where("state", "=", "waiting"));
    const work = yield* rows(db.selectFrom("plan_work").select("agent_id").where("is_open", "=", 1));
    const firings = yield* rows(
      db.selectFrom("schedule_firings").select("key").where("state", "=", "starting"),
    );
    const due = yield* rows(db.selectFrom("schedules").select("id").where("next_at", "<", Date.now()));
    return [runs, tasks, webhooks, work, firings, due].every(({ length }) => length === 0);
  });
}

async function endOf({ runs }: Trackside, id: string, tenant: string): Promise<unknown> {
  const { status } = await runs.get(id, { tenant });
  if (status !== "completed") return { status };
  return { status, output: (await runs.result(id, { tenant })).output };
}

/** What was recorded is the beginning of what there is now, and every run has come to one end. */
async function goOnReading(trackside: Trackside, recorded: Facts): Promise<void> {
  for (const tenant of TENANTS) {
    const before = Object(Object(recorded[tenant])["runs"]);
    for (const { id, status } of await allRuns(trackside, tenant)) {
      const events = await trackside.runs.events(id, { tenant });
      const known: readonly unknown[] = before[id]?.events ?? [];
      expect(events.slice(0, known.length)).toMatchObject(known);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
      expect(ENDS).toContain(status);
      expect(events.at(-1)).toMatchObject({ type: "status", status });
      expect(await trackside.runs.requests(id, { tenant })).toEqual(expect.any(Array));
    }
    expect(await trackside.runs.list({ tenant, status: [...OPEN, "parked"] as never })).toEqual([]); // every open status
    expect(await trackside.approvals.list({ tenant })).toEqual([]);
    expect(await trackside.audit.verify({ tenant })).toMatchObject({ ok: true });
  }
}

async function plansAreDone({ plans }: Trackside, ids: Fixture["manifest"]["plans"]): Promise<void> {
  const half = await plans.get(ids.half);
  expect(half).toMatchObject({ state: "completed" });
  expect(half.steps.map(({ output }) => output)).toEqual(["did First", "did Hold the second", "did Third"]);
  expect(await plans.get(ids.draft)).toMatchObject({ state: "active", steps: [{ state: "pending" }, {}] });
  const worked = await plans.run(ids.draft, { by: "ann" });
  expect(worked.state).toBe("active");
  await until(async () => ((await plans.get(ids.draft)).state === "completed" ? true : undefined));
}

async function schedulesFired({ schedules, runs }: Trackside): Promise<void> {
  for (const [name, count] of [
    ["yearly", 1],
    ["hook", 1],
    ["skipping", 0],
    ["paused", 0],
  ] as const) {
    const { firings } = await schedules.history(name);
    const started = firings.filter(({ state }) => state === "started");
    expect({ [name]: started.length }).toEqual({ [name]: count });
    for (const { run_id } of started)
      expect((await runs.result(run_id ?? "")).output).toMatch(/^(by the clock|heard: .*)$/);
  }
}

async function deliver(
  { schedules }: Trackside,
  { id, secret }: { id: string; secret: string },
): Promise<void> {
  const body = { n: 1 };
  const text = JSON.stringify(body);
  const signature = signWebhook(text, [secret], Math.floor(Date.now() / 1000));
  await schedules.deliver(id, { bytes: Buffer.from(text), body, signature, id: "d1" });
}

/** A remembered decision still decides, and an old conversation goes on. */
async function takesNewWork(trackside: Trackside, world: World): Promise<void> {
  const charge = script({ name: "new", steps: [call("charge", "remembered"), "charged"] });
  expect((await trackside.run("gated", charge)).output).toBe("charged");
  expect(world.effects().filter(({ name }) => name === "remembered")).toHaveLength(3);
  const [talk] = (await trackside.conversations.list({ limit: 1_000 })).filter(
    ({ agent }) => agent === "archivist",
  );
  const turn = await trackside.conversations.send(
    talk?.id ?? "",
    script({ name: "more", steps: ["still here"] }),
  );
  expect((await turn.result()).output).toBe("still here");
  await expect(trackside.runs.get("run_none")).rejects.toThrow(TracksideError);
}

/** Receives webhooks. */
async function listening() {
  const received: { readonly signed: boolean }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const signature = String(request.headers["trackside-signature"]);
      received.push({ signed: verifyWebhook(Buffer.concat(parts), signature, WEBHOOK_SECRET) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // of a server that listens on a port
  return { url: `http://127.0.0.1:${port}/`, received: () => received };
}

function mapped<T, U>(all: Readonly<Record<string, T>>, change: (one: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(all).map(([key, one]) => [key, change(one)]));
}
