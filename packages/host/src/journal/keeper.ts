import type { Tool } from "trackside";
import { artifactId, type Found, type KeptOutcome, type ToolKeeper } from "trackside/engine";
import type { HeldContent, StoredArtifacts } from "../artifacts/desk.ts";
import { holdsFence } from "../store/fence.ts";
import { changed, rows, type Store } from "../store/store.ts";
import { Fenced } from "./fenced.ts";
import { holdOutcome, releaseOutcome } from "./held-outcome.ts";
import type { OutcomeBody } from "./rows.ts";

export interface KeeperInit {
  readonly store: Store;
  readonly runId: string;
  readonly fence: number;
  /** Whether this process may still act (X4). It asks the store when that is not certain. */
  readonly mayAct: () => boolean | Promise<boolean>;
  /** Calls that were under way when an earlier process died. */
  readonly lost: ReadonlySet<string>;
  /** What those had written down. */
  readonly outcomes: ReadonlyMap<string, OutcomeBody>;
  /** Rails run before a tool starts: whether it was begun does not yet say that it started. */
  readonly guarded: boolean;
  /** Rails look at its outcome before it is delivered; without them the delivery itself is what is kept. */
  readonly reviewed: boolean;
  /** Which try of the effect this is, where several may be under way at once: only the last one may act. */
  readonly attempt?: number;
  readonly now: () => number;
  /** Where outcomes go that are too large for a row. */
  readonly artifacts: StoredArtifacts;
}

/** Sees to it that a tool with an effect that must not happen twice does not (X3, X4). */
export class StoredKeeper implements ToolKeeper {
  readonly #init: KeeperInit;

  constructor(init: KeeperInit) {
    this.#init = init;
  }

  found(key: string, tool: Tool): Found | Promise<Found> {
    const { lost, outcomes, guarded } = this.#init;
    if (tool.effect !== "once" || !lost.has(key)) return { kind: "nothing" };
    const written = outcomes.get(key);
    if (written?.state === "ran") return this.#release(written.kept);
    if (written === undefined && guarded) return { kind: "nothing" };
    return {
      kind: "unknown",
      why: `${tool.name} was running when its process died, and it must not run twice`,
    };
  }

  async #release(stored: unknown): Promise<Found> {
    const kept = await releaseOutcome(stored, (ids) => this.#init.artifacts.held(ids));
    return { kind: "ran", kept };
  }

  mayHaveRun(key: string, tool: Tool): boolean {
    const { lost, outcomes, guarded } = this.#init;
    if (!lost.has(key)) return false;
    return tool.effect !== "once" || !guarded || outcomes.has(key);
  }

  starting(key: string, tool: Tool): void | Promise<void> {
    // Without rails the row that began it says that it started.
    if (tool.effect !== "once" || !this.#init.guarded) return this.#checkLease();
    return this.#start(key);
  }

  async #start(key: string): Promise<void> {
    await this.#checkLease(); // nothing is written down that then does not happen
    const { attempt, now } = this.#init;
    if (attempt === undefined) await this.#write(key, { v: 1, state: "started", at: now() });
    else await this.#claim(key, { v: 1, state: "started", at: now(), attempt });
    await this.#checkLease();
  }

  /** The first try that says so runs the tool; one that was slower, and one that comes after it, does not. */
  async #claim(key: string, body: OutcomeBody & { attempt: number }): Promise<void> {
    const { store, runId, fence } = this.#init;
    const isMine = await store.write(function* (db) {
      if (!(yield* holdsFence(db, runId, fence))) return false;
      const row = { run_id: runId, key, body: JSON.stringify(body) };
      const written = yield* changed(
        db
          .insertInto("outcomes")
          .values(row)
          .onConflict((conflict) => conflict.columns(["run_id", "key"]).doNothing()),
      );
      if (written > 0) return true;
      const [known] = yield* rows(
        db.selectFrom("outcomes").select("body").where("run_id", "=", runId).where("key", "=", key),
      );
      return known?.body === row.body; // written by this very call, whose answer was lost
    });
    if (!isMine) throw new Fenced(runId);
  }

  #checkLease(): void | Promise<void> {
    const may = this.#init.mayAct();
    if (may === true) return;
    return Promise.resolve(may).then((yes) => {
      if (!yes) throw new Fenced(this.#init.runId);
    });
  }

  ran(key: string, tool: Tool, kept: KeptOutcome): void | Promise<void> {
    if (tool.effect !== "once" || !this.#init.reviewed) return;
    const held = holdOutcome(kept, artifactId(this.#init.runId, key.replaceAll("/", ".")));
    return this.#write(key, { v: 1, state: "ran", kept: held.kept }, held.beside);
  }

  async #write(key: string, body: OutcomeBody, beside: readonly HeldContent[] = []): Promise<void> {
    const { store, runId, fence, artifacts } = this.#init;
    const landed = await store.write(function* (db) {
      if (!(yield* holdsFence(db, runId, fence))) return false;
      for (const content of beside) yield* artifacts.hold(db, content);
      const row = { run_id: runId, key, body: JSON.stringify(body) };
      yield* rows(
        db
          .insertInto("outcomes")
          .values(row)
          .onConflict((conflict) => conflict.columns(["run_id", "key"]).doUpdateSet({ body: row.body })),
      );
      return true;
    });
    if (!landed) throw new Fenced(runId);
  }
}
