import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, changed, type Operation, rows, type Store } from "../store/index.ts";
import { versioned } from "../store/rows/versioned.ts";
import type { AnswersTable } from "../store/tables.ts";

/** A request that may come more than once: who asks, under which key, and what for. */
export interface Asking {
  readonly tenant: string;
  /** Keys of one caller say nothing about those of another. */
  readonly caller: string;
  readonly key: string;
  /** Of everything that makes it this request. */
  readonly digest: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came of asking. */
export type Asked =
  /** Nobody has: do it, then `keep` the answer or `release` the claim. */
  | { readonly state: "new"; readonly claim: string }
  /** Somebody is at it; ask again. */
  | { readonly state: "running" }
  | { readonly state: "answered"; readonly answer: Answer }
  /** It was done, and its answer was erased since. */
  | { readonly state: "erased"; readonly status: number }
  /** The key was used for something else. */
  | { readonly state: "other" };

const version1 = z.object({
  v: z.literal(1),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
const answerBody = versioned({ name: "answers", current: 1, versions: { 1: version1 }, upgrade: {} });

/** Whoever has claimed a request says so again within this time, or is taken to be gone. */
export const CLAIM_MS = 60_000;
const KEPT_MS = 24 * 3_600_000;
const SWEEP_EVERY_MS = 60_000;

/**
 * First answers of requests with a key, for whoever sends the same once more (X10). Encrypted: an answer may show a secret
 * that is shown once. A request is claimed before it is done, so that of several at once one is.
 */
export class Answers {
  readonly #store: Store;
  readonly #cipher: Cipher;
  readonly #now: () => number;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, cipher: Cipher, now: () => number = Date.now) {
    this.#store = store;
    this.#cipher = cipher;
    this.#now = now;
  }

  async ask(asking: Asking): Promise<Asked> {
    await this.#store.open();
    const id = idOf(asking);
    const { tenant, digest } = asking;
    const now = this.#now();
    const claim = randomUUID();
    const sweeps = now - this.#sweptAt >= SWEEP_EVERY_MS;
    if (sweeps) this.#sweptAt = now;
    const fresh: AnswersTable = {
      id,
      tenant,
      digest,
      claim,
      claimed_until: now + CLAIM_MS,
      status: null,
      created_at: now,
      expires_at: now + KEPT_MS,
      body: null,
    };
    const row = await this.#store.write(function* (db): Operation<AnswersTable> {
      if (sweeps) yield* changed(db.deleteFrom("answers").where("expires_at", "<=", now));
      const insert = db.insertInto("answers").values(fresh);
      if ((yield* changed(insert.onConflict((on) => on.column("id").doNothing()))) > 0) return fresh;
      const [found] = yield* rows(db.selectFrom("answers").selectAll().where("id", "=", id));
      if (found === undefined) return { ...fresh, claim: "" }; // swept by another just now: it is asked once more
      const over = found.expires_at <= now;
      const left = found.status === null && found.claimed_until <= now && found.digest === digest;
      if (!over && !left) return found;
      const { id: _, ...values } = fresh;
      const taking = db.updateTable("answers").set(values).where("id", "=", id);
      return (yield* changed(taking.where("claim", "=", found.claim))) > 0
        ? fresh
        : { ...found, status: null };
    });
    if (row.claim === claim) return { state: "new", claim };
    if (row.digest !== digest) return { state: "other" };
    if (row.status === null) return { state: "running" };
    if (row.body === null) return { state: "erased", status: row.status };
    const { headers, body } = answerBody.read(this.#cipher.openText(row.body, contextOf(id, tenant)), id);
    return { state: "answered", answer: { status: row.status, headers, body } };
  }

  /** Says that a claim is still being worked on. */
  async renew(asking: Asking, claim: string): Promise<void> {
    const claimed_until = this.#now() + CLAIM_MS;
    await this.#store.write((db) => changed(mine(db, asking, claim).set({ claimed_until })));
  }

  async keep(asking: Asking, claim: string, { status, headers, body }: Answer): Promise<void> {
    const text = answerBody.write({ v: 1, headers: { ...headers }, body });
    const sealed = this.#cipher.sealText(text, contextOf(idOf(asking), asking.tenant));
    await this.#store.write((db) => changed(mine(db, asking, claim).set({ status, body: sealed })));
  }

  /** Nothing came of it that should be said again: the next one with this key is the first. */
  async release(asking: Asking, claim: string): Promise<void> {
    const id = idOf(asking);
    await this.#store.write((db) =>
      changed(db.deleteFrom("answers").where("id", "=", id).where("claim", "=", claim)),
    );
  }
}

/** Forgets what was said in a tenant, not that it was: content that is to be gone may be in any answer (X12). */
export function eraseAnswers(db: Builder, tenant: string): Operation<number> {
  const said = db.updateTable("answers").set({ body: null }).where("tenant", "=", tenant);
  return changed(said.where("body", "is not", null));
}

function mine(db: Builder, asking: Asking, claim: string) {
  return db.updateTable("answers").where("id", "=", idOf(asking)).where("claim", "=", claim);
}

/** A digest: a key is whatever somebody wrote. */
function idOf({ tenant, caller, key }: Asking): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant, caller, key]))
    .digest("hex");
}

function contextOf(id: string, tenant: string): [string, string, string] {
  return ["answer", tenant, id];
}
