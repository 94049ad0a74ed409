import { type Clock, TracksideError } from "trackside";
import { systemClock, type Timer } from "trackside/engine";
import { appendAudit } from "../audit/append.ts";
import type { Cipher } from "../secrets/cipher.ts";
import { takeSecret } from "../secrets/secret-rows.ts";
import { changed, rows, type Store, type Work } from "../store/store.ts";
import type { WebhooksTable } from "../store/tables.ts";
import { backoff, retryAfterMs } from "./backoff.ts";
import { checkEndpoints, secretsOf, type WebhookEndpoint } from "./endpoint.ts";
import { type WebhookBody, webhookBody } from "./event.ts";
import { type PostResult, post } from "./post.ts";
import { signWebhook } from "./signature.ts";

export interface WebhookSenderOptions {
  readonly store: Store;
  readonly cipher: Cipher;
  readonly endpoints: readonly WebhookEndpoint[];
  readonly clock?: Clock;
  /** How many are under way at once; 8 unless given. No endpoint has more than half of them. */
  readonly concurrency?: number;
  /** 10,000 unless given. */
  readonly timeoutMs?: number;
  /** After this many attempts (16, about four days) it is given up. */
  readonly maxAttempts?: number;
  /** How often to look for what is due without being told; 2,000 unless given. */
  readonly pollMs?: number;
  /** Hears what went wrong with the store. Receivers' failures are in the rows and the audit, not here. */
  readonly onError?: (error: unknown) => void;
}

const LOOKED_AT = 200;
const GONE = 410;

/**
 * Sends what `enqueueWebhook` queued, at least once. Each row is claimed by moving its time ahead, by compare-and-set, so
 * that several processes do not send the same one at the same time; if the claimer dies, the row is due again by itself.
 */
export class WebhookSender {
  readonly #options: Required<WebhookSenderOptions>;
  readonly #endpoints: ReadonlyMap<string, WebhookEndpoint>;
  readonly #underWay = new Map<string, { readonly endpoint: string; readonly done: Promise<void> }>();
  readonly #abort = new AbortController();
  #timer: Timer | undefined;
  #unwatch: (() => void) | undefined;
  #state: "idle" | "running" | "stopped" = "idle";
  /** One look at a time; asked for during one, another follows. */
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = {
      clock: systemClock,
      concurrency: 8,
      timeoutMs: 10_000,
      maxAttempts: 16,
      pollMs: 2_000,
      onError: () => {},
      ...options,
    };
    this.#endpoints = new Map(checkEndpoints(options.endpoints).map((endpoint) => [endpoint.name, endpoint]));
  }

  /** Starts looking for what is due. Does nothing where no endpoint is configured. */
  start(): void {
    if (this.#state !== "idle" || this.#endpoints.size === 0) return;
    this.#state = "running";
    this.#unwatch = this.#options.store.onChange(() => this.wake());
    this.wake();
  }

  /** Something was queued: look now rather than at the next poll. Never waits and never throws. */
  wake(): void {
    if (this.#state !== "running") return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#timer?.stop();
    this.#looking = this.#look()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => this.#looked());
  }

  /** Sends everything that is due now and waits for it; for tests and for `trackside` commands that end. */
  async sendDue(): Promise<void> {
    for (;;) {
      await this.#look();
      if (this.#underWay.size === 0) return;
      await Promise.all([...this.#underWay.values()].map(({ done }) => done));
    }
  }

  /** Claims nothing more, and waits for what is under way: at most `graceMs`, then it is broken off and due again later. */
  async stop({ graceMs = 2_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#state = "stopped";
    this.#timer?.stop();
    this.#unwatch?.();
    await this.#looking;
    const cut = this.#options.clock.after(graceMs, () => this.#abort.abort());
    await Promise.all([...this.#underWay.values()].map(({ done }) => done));
    cut.stop();
  }

  #looked(): void {
    this.#looking = undefined;
    if (this.#state !== "running") return;
    if (this.#lookAgain) {
      this.#lookAgain = false;
      this.wake();
      return;
    }
    this.#timer = this.#options.clock.after(this.#options.pollMs, () => this.wake());
    this.#timer.hold?.(false);
  }

  async #look(): Promise<void> {
    const { store, clock, concurrency } = this.#options;
    if (this.#state === "stopped" || this.#underWay.size >= concurrency) return;
    const due = await store.read(dueAt(clock.now()));
    const chosen = this.#choose(due);
    if (chosen.length === 0) return;
    const claimed = await store.write(claim(chosen, clock.now() + this.#leaseMs()));
    for (const row of claimed) this.#begin(row);
  }

  /** Oldest first, with room left for other endpoints when one of them hangs. */
  #choose(due: readonly WebhooksTable[]): readonly WebhooksTable[] {
    const { concurrency } = this.#options;
    const share = Math.max(1, Math.floor(concurrency / 2));
    const taken = new Map<string, number>();
    for (const { endpoint } of this.#underWay.values()) taken.set(endpoint, (taken.get(endpoint) ?? 0) + 1);
    const chosen: WebhooksTable[] = [];
    for (const row of due) {
      if (this.#underWay.size + chosen.length >= concurrency) break;
      const { endpoint } = webhookBody.read(row.body, row.id);
      const count = taken.get(endpoint) ?? 0;
      if (count >= share || this.#underWay.has(row.id)) continue;
      taken.set(endpoint, count + 1);
      chosen.push(row);
    }
    return chosen;
  }

  #begin(row: WebhooksTable): void {
    const { endpoint } = webhookBody.read(row.body, row.id);
    const done = this.#deliver(row)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#underWay.delete(row.id);
        this.wake();
      });
    this.#underWay.set(row.id, { endpoint, done });
  }

  async #deliver(row: WebhooksTable): Promise<void> {
    const body = webhookBody.read(row.body, row.id);
    const result = await this.#send(row, body);
    const now = this.#options.clock.now();
    await this.#options.store.write(this.#settle(row, body, result, now));
  }

  async #send(row: WebhooksTable, { endpoint: name, event }: WebhookBody): Promise<PostResult> {
    const endpoint = this.#endpoints.get(name);
    if (endpoint === undefined) return { problem: `no endpoint is called "${name}" in this configuration` };
    const { clock, timeoutMs } = this.#options;
    const body = JSON.stringify(event);
    let signature: string;
    try {
      signature = signWebhook(
        body,
        await this.#secrets(row.tenant, endpoint),
        Math.floor(clock.now() / 1000),
      );
    } catch (error) {
      return { problem: error instanceof TracksideError ? error.message : "its secret cannot be read" };
    }
    const headers = {
      "trackside-signature": signature,
      "trackside-event-id": event.id,
      "trackside-attempt": String(row.attempts),
      "user-agent": "trackside-webhooks/1",
    };
    return post(endpoint.url, body, headers, { timeoutMs, signal: this.#abort.signal });
  }

  async #secrets(tenant: string, endpoint: WebhookEndpoint): Promise<readonly string[]> {
    const { store, cipher } = this.#options;
    const found: string[] = [];
    for (const one of secretsOf(endpoint.secret)) {
      if (typeof one === "string") {
        found.push(one);
        continue;
      }
      const bytes = await store.read(takeSecret(cipher, tenant, one.secret));
      if (bytes === undefined)
        throw new TracksideError(
          "secret_unknown",
          `the webhook "${endpoint.name}" signs with the secret "${one.secret}", which the tenant "${tenant}" does not have`,
        );
      found.push(Buffer.from(bytes).toString("utf8"));
    }
    return found;
  }

  /** Writes what came of it, unless the claim has lapsed meanwhile and somebody else's attempt is under way. */
  #settle(row: WebhooksTable, body: WebhookBody, result: PostResult, now: number): Work<void> {
    const { cipher, clock, maxAttempts } = this.#options;
    const { id, tenant, attempts } = row;
    const delivered = "status" in result && result.status >= 200 && result.status < 300;
    const last = "status" in result ? told(result.status) : result.problem;
    const gone = "status" in result && result.status === GONE;
    const failed = !delivered && (gone || attempts >= maxAttempts);
    const asked = "status" in result ? retryAfterMs(result.retryAfter, now) : 0;
    const next = {
      state: delivered ? "delivered" : failed ? "failed" : "waiting",
      next_at: delivered || failed ? now : now + backoff(attempts, () => clock.random(), asked),
      body: webhookBody.write({ ...body, last }),
    };
    return function* (db) {
      const mine = yield* changed(
        db
          .updateTable("webhooks")
          .set(next)
          .where("id", "=", id)
          .where("state", "=", "waiting")
          .where("attempts", "=", attempts),
      );
      if (mine === 0 || !failed) return;
      const about = { webhook: id, endpoint: body.endpoint, event: body.event.id, attempts, last };
      yield* appendAudit(cipher, { tenant, at: now, action: "webhook.failed", by: "host", about })(db);
    };
  }

  /** Longer than an attempt can take, with room for a slow store. */
  #leaseMs(): number {
    return this.#options.timeoutMs * 3 + 10_000;
  }
}

function told(status: number): string {
  return status >= 300 && status < 400 ? `status ${status}; redirects are not followed` : `status ${status}`;
}

function dueAt(now: number): Work<readonly WebhooksTable[]> {
  return function* (db) {
    return yield* rows(
      db
        .selectFrom("webhooks")
        .selectAll()
        .where("state", "=", "waiting")
        .where("next_at", "<=", now)
        .orderBy("next_at")
        .orderBy("id") // claimed in this order by everybody, so that no two wait for each other
        .limit(LOOKED_AT),
    );
  };
}

/** Those of the rows that nobody else has claimed since they were read. */
function claim(due: readonly WebhooksTable[], until: number): Work<readonly WebhooksTable[]> {
  return function* (db) {
    const mine: WebhooksTable[] = [];
    for (const row of due) {
      const attempts = row.attempts + 1;
      const won = yield* changed(
        db
          .updateTable("webhooks")
          .set({ attempts, next_at: until })
          .where("id", "=", row.id)
          .where("state", "=", "waiting")
          .where("attempts", "=", row.attempts)
          .where("next_at", "=", row.next_at),
      );
      if (won > 0) mine.push({ ...row, attempts, next_at: until });
    }
    return mine;
  };
}
