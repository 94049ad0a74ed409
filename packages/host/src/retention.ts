import { eraseConversation } from "./conversations/erase.ts";
import type { DurableEngine } from "./journal/durable-engine.ts";
import { rows } from "./store/store.ts";
import { pruneWebhooks } from "./webhooks/index.ts";

export type RetentionRules = Readonly<Record<string, { readonly days: number }>>;

const DAY_MS = 86_400_000;
const SWEEP_MS = 3_600_000;
/** Hints and receipts: nobody asks for them after this. */
const PASSING_MS = 7 * DAY_MS;

/** Erases what has been kept for long enough: conversations by their tenant's rule (X12), and what is only passing. */
export class Retention {
  readonly #engine: DurableEngine;
  readonly #rules: RetentionRules;
  #timer: NodeJS.Timeout | undefined;

  constructor(engine: DurableEngine, rules: RetentionRules) {
    this.#engine = engine;
    this.#rules = rules;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep().catch(() => {}), SWEEP_MS); // the next one tries again
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Answers how many conversations were erased. */
  async sweep(): Promise<number> {
    const { store, clock } = this.#engine;
    const now = clock.now();
    await store.write(function* (db) {
      yield* rows(db.deleteFrom("wakes").where("at", "<", now - PASSING_MS));
      yield* pruneWebhooks(now - PASSING_MS)(db);
    });
    const old = await store.read((db) =>
      rows(
        db
          .selectFrom("conversations")
          .select(["id", "tenant", "updated_at"])
          .where("updated_at", "<", now - this.#shortest() * DAY_MS)
          .where("id", "not in", (open) =>
            open.selectFrom("runs").select("conversation_id").where("ended_at", "is", null),
          )
          .limit(1000),
      ),
    );
    let erased = 0;
    for (const { id, tenant, updated_at } of old) {
      const days = this.#daysOf(tenant);
      if (days === undefined || updated_at >= now - days * DAY_MS) continue;
      await eraseConversation(this.#engine, tenant, id);
      erased += 1;
    }
    return erased;
  }

  #daysOf(tenant: string): number | undefined {
    const rule = Object.hasOwn(this.#rules, tenant) ? this.#rules[tenant] : this.#rules["*"];
    return rule?.days;
  }

  #shortest(): number {
    return Math.min(...Object.values(this.#rules).map(({ days }) => days), Number.MAX_SAFE_INTEGER / DAY_MS);
  }
}
