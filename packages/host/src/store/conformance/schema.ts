import assert from "node:assert/strict";
import { CompiledQuery, type Insertable } from "kysely";
import { MIGRATIONS } from "../migrations/migrate.ts";
import { rows } from "../store.ts";
import type { Tables } from "../tables.ts";
import { aRun, behaviour, insertRuns, opened, refused, wake, wakes } from "./behaviour.ts";

const time = 1_800_000_000_123;
const body = '{"v":1}';

/** A row of every table with every column. */
const samples: { readonly [T in keyof Tables]: Insertable<Tables[T]> } = {
  processes: {
    id: "p",
    host: "h",
    machine: "m",
    pid: 4711,
    started: "99",
    expires_at: time,
    created_at: time,
  },
  resources: { tree: "r", key: "k", call: "c", expires_at: time },
  engine_workers: { engine: "e", id: "w", expires_at: time, body },
  runs: aRun("r", {
    created_at: time,
    updated_at: Number.MAX_SAFE_INTEGER,
    ended_at: time,
    cancel_reason: "why",
  }),
  definitions: { digest: "d", body },
  commits: { run_id: "r", ord: 1, seq: 2 ** 40, body },
  outcomes: { run_id: "r", key: "1/2/3", body },
  approvals: {
    id: "a",
    tenant: "t",
    run_id: "r",
    kind: "tool_call",
    state: "pending",
    tool: "pay",
    requested_at: time,
    deadline: time,
    decided_at: null,
    body,
  },
  approval_rules: {
    id: "a",
    tenant: "t",
    tool: "pay",
    created_at: time,
    until: null,
    revoked_at: time,
    body,
  },
  conversations: { id: "c", tenant: "t", agent: null, created_at: time, updated_at: time, body },
  branches: {
    id: "b",
    conversation_id: "c",
    tenant: "t",
    parent_id: null,
    shared: 0,
    length: 3,
    active_run_id: "r",
    created_at: time,
    body,
  },
  inbox: { id: "i", tenant: "t", branch_id: "b", run_id: "r", state: "queued", created_at: time, body },
  requests: {
    tenant: "t",
    request_id: "q",
    operation: "start",
    record_id: "r",
    digest: "d",
    created_at: time,
  },
  reservations: { root_run_id: "r", key: "k", counter: "tokens", n: 1, granted: 1, used: 0, max: -1 },
  deferred: {
    id: "d",
    tenant: "t",
    run_id: "r",
    state: "waiting",
    owner: null,
    attempts: 0,
    created_at: time,
    body,
  },
  artifacts: {
    id: "a",
    tenant: "t",
    conversation_id: "c",
    run_id: null,
    media_type: "image/png",
    bytes: 256,
    digest: "d",
    created_at: time,
    content: Uint8Array.from({ length: 256 }, (_, i) => i),
    sources: '["fetch"]',
  },
  artifact_pieces: { artifact_id: "a", n: 0, content: Uint8Array.of(0, 255) },
  audit: { tenant: "t", n: 1, at: time, action: "approval.decided", body, previous: "", hash: "h" },
  secrets: {
    tenant: "t",
    name: "n",
    key_id: "k",
    nonce: Uint8Array.of(0, 255),
    content: new Uint8Array(),
    updated_at: time,
  },
  webhooks: { id: "w", tenant: "t", state: "waiting", attempts: 0, next_at: time, created_at: time, body },
  tool_definitions: { key: '["t","s","x"]', digest: "d", updated_at: time },
  agents: {
    id: "a",
    tenant: "t",
    name: "clerk",
    version: 3,
    digest: "d",
    created_at: time,
    updated_at: time,
    body,
  },
  agent_versions: { agent_id: "a", n: 3, tenant: "t", digest: "d", created_at: time, body },
  workflows: {
    id: "w",
    tenant: "t",
    name: "deploy",
    version: 3,
    digest: "d",
    created_at: time,
    updated_at: time,
    body,
  },
  workflow_versions: { workflow_id: "w", n: 3, tenant: "t", digest: "d", created_at: time, body },
  users: {
    id: "u",
    tenant: "t",
    name_key: "ann",
    role: "admin",
    created_at: time,
    updated_at: time,
    disabled_at: null,
    last_seen_at: time,
    body,
  },
  sessions: {
    digest: "d",
    id: "s",
    tenant: "t",
    user_id: "u",
    created_at: time,
    seen_at: time,
    ends_at: time,
    expires_at: time,
  },
  api_tokens: {
    digest: "d",
    id: "k",
    tenant: "t",
    user_id: "u",
    role: "viewer",
    created_at: time,
    expires_at: null,
    last_used_at: time,
    revoked_at: null,
    body,
  },
  access_links: {
    digest: "d",
    id: "l",
    tenant: "t",
    purpose: "open",
    user_id: "u",
    created_at: time,
    expires_at: time,
  },
  sign_in_attempts: { key: "k", failures: 3, locked_until: time, expires_at: time },
  access_locks: { key: "k", at: time },
  answers: {
    id: "a",
    tenant: "t",
    digest: "d",
    claim: "c",
    claimed_until: time,
    status: 201,
    created_at: time,
    expires_at: time,
    body,
  },
  provider_addresses: { provider: "p", base_url: "u", updated_at: time },
  schedules: {
    id: "s",
    tenant: "t",
    name: "nightly",
    version: 3,
    enabled: 1,
    next_at: null,
    created_at: time,
    updated_at: time,
    body,
  },
  schedule_firings: {
    schedule_id: "s",
    key: "k",
    tenant: "t",
    scheduled_for: time,
    state: "starting",
    run_id: null,
    proof: "p",
    created_at: time,
    body,
  },
  wakes: { n: 1, run_id: "r", what: "decided", at: time },
  plans: {
    id: "p",
    tenant: "t",
    agent_id: "a",
    version: 3,
    state: "active",
    created_at: time,
    updated_at: time,
    body,
  },
  plan_versions: { tenant: "t", agent_id: "a", n: 3, plan_id: "p", created_at: time, body },
  plan_steps: {
    plan_id: "p",
    step_id: "s",
    state: "running",
    attempt: 1,
    run_id: null,
    conversation_id: null,
    updated_at: time,
    body,
  },
  plan_work: { tenant: "t", agent_id: "a", is_open: 1, updated_at: time, body },
  run_stats: {
    run_id: "run_1",
    tenant: "default",
    agent: "clerk",
    status: "completed",
    is_root: 1,
    created_at: 1,
    ended_at: 2,
    input_tokens: 3,
    output_tokens: 4,
    body: "{}",
  },
};

const TABLES = Object.keys(samples) as (keyof Tables)[]; // the keys of that very object

/** Tables: made once, by whoever comes first, and every column as it was put. */
export const schema = [
  behaviour("every column of every table comes back as it was put", async (place) => {
    const store = await opened(place);
    for (const table of TABLES) {
      const { n: _, ...counted } = samples.wakes;
      const sample = table === "wakes" ? counted : samples[table];
      await store.write((db) => rows(db.insertInto(table).values(sample)));
      const [back] = await store.read((db) => rows(db.selectFrom(table).selectAll()));
      assert.deepEqual(plain(back), plain(samples[table]), table);
    }
  }),

  behaviour("a megabyte of bytes comes back as it was put", async (place) => {
    const store = await opened(place);
    const content = Uint8Array.from({ length: 1_000_000 }, (_, i) => (i * 7919) % 256);
    await store.write((db) => rows(db.insertInto("artifacts").values({ ...samples.artifacts, content })));
    const [back] = await store.read((db) => rows(db.selectFrom("artifacts").select("content")));
    assert.ok(back !== undefined && Buffer.compare(back.content, content) === 0);
  }),

  behaviour("ids sort by their bytes", async (place) => {
    const store = await opened(place);
    const ids = ["B", "Z", "_", "a", "aa", "b", "z", "é"];
    await store.write(insertRuns(...[...ids].reverse()));
    const sorted = await store.read((db) => rows(db.selectFrom("runs").select("id").orderBy("id")));
    assert.deepEqual(
      sorted.map(({ id }) => id),
      ids,
    );
  }),

  behaviour(
    "text that a column cannot hold is refused, and so is a number with a fraction",
    async (place) => {
      const store = await opened(place);
      await refused(store.write(insertRuns("a\0b")), "misuse", /"a\\u0000b".*NUL/);
      await refused(store.write(insertRuns("\ud800")), "misuse", /surrogate/);
      const half = aRun("r", { created_at: 1.5 });
      await assert.rejects(store.write((db) => rows(db.insertInto("runs").values(half))));
      assert.equal((await store.read((db) => rows(db.selectFrom("runs").select("id")))).length, 0);
    },
  ),

  behaviour("several processes that open an empty database at once make its tables once", async (place) => {
    const stores = Array.from({ length: 6 }, () => place.store());
    await Promise.all(stores.flatMap((store) => [store.open(), store.open()]));
    await Promise.all(stores.map((store, i) => store.write(wake(`${i}`))));
    for (const store of stores) assert.deepEqual((await wakes(store)).sort(), ["0", "1", "2", "3", "4", "5"]);
    const versions = await stores[0]?.read(function* () {
      return (yield CompiledQuery.raw("SELECT version FROM trackside_schema")).rows.length;
    });
    assert.equal(versions, MIGRATIONS.length);
  }),

  behaviour("what was written is there when the database is opened again", async (place) => {
    const first = await opened(place);
    await first.write(wake("kept"));
    await first.close();
    assert.deepEqual(await wakes(await opened(place)), ["kept"]);
  }),

  behaviour("a database of a newer version is refused", async (place) => {
    const store = await opened(place);
    await store.write(function* () {
      yield CompiledQuery.raw("INSERT INTO trackside_schema (version, applied_at) VALUES (99, 0)");
    });
    const error = await refused(place.store().open(), "unusable", /version 99.*Upgrade/);
    assert.ok(error.message.includes(store.name), "it names the database");
  }),
];

/** Bytes as lists of numbers: the drivers answer Buffers. */
function plain(row: object | undefined): unknown {
  const entries = Object.entries(row ?? {});
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value instanceof Uint8Array ? [...value] : value]),
  );
}
