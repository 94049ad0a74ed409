import { TracksideError } from "trackside";
import { changed, rows, type Store } from "../store/store.ts";
import type { Cipher } from "./cipher.ts";
import { type Redactor, redactor } from "./redactor.ts";
import { checkName, OWN_PREFIX, putSecret, rotateSome, takeSecret } from "./secret-rows.ts";

/** What anyone may see of a secret. */
export interface SecretFacts {
  readonly name: string;
  readonly key_id: string;
  readonly updated_at: number;
}

const MAX_BYTES = 64 * 1024;

/**
 * Provider keys and the like, encrypted in the store. They go in and are used; no list, export or log gives a value back.
 */
export class Secrets {
  readonly #store: Store;
  readonly #cipher: Cipher;
  readonly #now: () => number;
  readonly #used = new Set<string>();
  #redactor: Redactor | undefined;

  constructor(store: Store, cipher: Cipher, now: () => number = Date.now) {
    this.#store = store;
    this.#cipher = cipher;
    this.#now = now;
  }

  /** Sets a secret, or replaces it. */
  async set(tenant: string, name: string, value: string): Promise<void> {
    checkName(name);
    const bytes = Buffer.byteLength(value, "utf8");
    if (bytes === 0 || bytes > MAX_BYTES) {
      throw new TracksideError(
        "secret_invalid",
        `The secret "${name}" has ${bytes} bytes; 1 to ${MAX_BYTES} are allowed`,
      );
    }
    await this.#store.write(putSecret(this.#cipher, { tenant, name, now: this.#now() }, value));
  }

  /** Names, never values. */
  list(tenant: string): Promise<readonly SecretFacts[]> {
    return this.#store.read(function* (db) {
      const found = yield* rows(
        db
          .selectFrom("secrets")
          .select(["name", "key_id", "updated_at"])
          .where("tenant", "=", tenant)
          .orderBy("name"),
      );
      return found.filter(({ name }) => !name.startsWith(OWN_PREFIX));
    });
  }

  /** Whether there was one. */
  async remove(tenant: string, name: string): Promise<boolean> {
    checkName(name);
    const removed = await this.#store.write(function* (db) {
      return yield* changed(db.deleteFrom("secrets").where("tenant", "=", tenant).where("name", "=", name));
    });
    return removed > 0;
  }

  /** The value, for the engine alone. From then on the redactor knows it. */
  async use(tenant: string, name: string): Promise<string> {
    checkName(name);
    const bytes = await this.#store.read(takeSecret(this.#cipher, tenant, name));
    if (bytes !== undefined) {
      const value = Buffer.from(bytes).toString("utf8");
      if (!this.#used.has(value)) {
        this.#used.add(value);
        this.#redactor = undefined;
      }
      return value;
    }
    throw new TracksideError(
      "secret_unknown",
      `There is no secret "${name}" in the tenant "${tenant}"; set it, or correct the name`,
    );
  }

  /** Takes every value that was used in this process out of texts and JSON, for logs, events and exports. */
  get redactor(): Redactor {
    this.#redactor ??= redactor(this.#used);
    return this.#redactor;
  }

  /**
   * Re-encrypts everything under the current key, a few at a time; after a crash, calling it again goes on. Answers how many
   * it changed. Once it is through, the older keys are needed for nothing in this table any more.
   */
  async rotate(): Promise<number> {
    let total = 0;
    for (;;) {
      const { rotated, more } = await this.#store.write(rotateSome(this.#cipher));
      total += rotated;
      if (!more) return total;
    }
  }

  /**
   * Forgets what was encrypted under keys that are lost, so that it can be set again. The host's own entries go too: an
   * audit that loses its head says so in its next row.
   */
  async discard(keyId: string): Promise<readonly { tenant: string; name: string }[]> {
    if (this.#cipher.keyring.find(keyId) !== undefined) {
      throw new TracksideError(
        "secret_key_present",
        `The key "${keyId}" is there, so nothing under it is lost; remove single secrets by name`,
      );
    }
    return this.#store.write(function* (db) {
      const lost = yield* rows(
        db.selectFrom("secrets").select(["tenant", "name"]).where("key_id", "=", keyId),
      );
      yield* changed(db.deleteFrom("secrets").where("key_id", "=", keyId));
      return lost;
    });
  }
}
