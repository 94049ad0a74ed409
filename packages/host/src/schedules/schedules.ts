import { createHash } from "node:crypto";
import { AgentConfigError, TracksideError } from "trackside";
import { newId } from "trackside/engine";
import { issueAt } from "../agents/issues.ts";
import { appendAudit } from "../audit/index.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, changed, type Operation, rows } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { SchedulesTable } from "../store/tables.ts";
import { verifyWebhook } from "../webhooks/index.ts";
import { cadence, nextTimes } from "./cadence.ts";
import { conflict, notSigned, noWebhook, switchedOff, taken, unknown, wordsOf } from "./errors.ts";
import { fireDue, insertFiring, openRun } from "./firing.ts";
import type { ScheduleMirror } from "./mirror.ts";
import {
  type Firing,
  type ScheduleFields,
  type ScheduleRecord,
  type ScheduleTarget,
  type ScheduleTrigger,
  scheduleIssues,
} from "./schedule.ts";
import {
  findById,
  findSchedule,
  firingCursor,
  firingOf,
  listFirings,
  recordOf,
  scheduleBody,
} from "./schedule-rows.ts";
import { newSecret, putTriggerSecret, removeTriggerSecret, triggerSecrets } from "./secret.ts";
import { Starter } from "./starter.ts";
import { type TargetHost, withBody } from "./targets.ts";
import { Ticker } from "./ticker.ts";
import { ScheduleWatch } from "./watch.ts";
import { patternWords } from "./words.ts";

export interface SchedulesInit {
  readonly engine: DurableEngine;
  readonly cipher: Cipher;
  readonly targets: TargetHost;
  /** Where another engine watches the clock. */
  readonly mirror: ScheduleMirror | undefined;
  readonly open: () => Promise<void>;
  readonly notice: (message: string) => void;
}

interface OfTenant {
  readonly tenant?: string;
}

interface By extends OfTenant {
  readonly by: string;
}

/** A schedule that was made or changed. The secret of a webhook is shown this once. */
export type SavedSchedule = ScheduleRecord & { readonly secret?: string };

export interface ListSchedules extends OfTenant {
  /** Part of a name, whatever its case. */
  readonly search?: string;
  readonly target?: ScheduleTarget;
  readonly limit?: number;
  /** Those after this name. */
  readonly after?: string;
}

/** A webhook as it came. */
export interface Delivery {
  readonly bytes: Uint8Array;
  readonly body: unknown;
  /** The header `trackside-signature`. */
  readonly signature: string | null;
  /** The header `trackside-event-id`: the same one again is the same delivery. */
  readonly id: string | null;
}

const MOST_LISTED = 1000;
/** How many times are shown, everywhere. */
const SHOWN_TIMES = 5;
const DELIVERY_ID = /^[\x21-\x7e]{1,200}$/;

/**
 * What starts agents, workflows and plans by themselves: by the clock, or when a signed webhook comes. Wherever one is named
 * its id will do, too.
 *
 * @example
 * const trigger = { kind: "cron", pattern: "0 7 * * 1-5", time_zone: "Europe/Berlin" };
 * const target = { kind: "agent", name: "clerk" };
 * await trackside.schedules.create({ name: "morning", target, trigger, input: "What is new?" }, { by: "ann" });
 */
export class Schedules {
  readonly #init: SchedulesInit;
  readonly #ticker: Ticker;
  readonly #starter: Starter;
  readonly #watch: ScheduleWatch;

  constructor(init: SchedulesInit) {
    this.#init = init;
    this.#starter = new Starter(init.engine.store, init.targets);
    const { engine, mirror } = init;
    this.#watch = new ScheduleWatch({ engine, mirror, starter: this.#starter });
    this.#ticker = new Ticker({
      clock: init.engine.clock,
      look: (wentBack) => this.#watch.look(wentBack),
      onError: (error) => init.notice(`schedules are looked at again, since that failed: ${wordsOf(error)}`),
    });
  }

  /** From now on this process does what is due. Another engine may watch the clock: then it is told what there is. */
  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  /** By name. */
  async list(filter: ListSchedules = {}): Promise<readonly ScheduleRecord[]> {
    const { tenant = DEFAULT_TENANT, search = "", target, after, limit = 100 } = filter;
    const wanted = search.toLowerCase();
    const most = Math.max(0, Math.min(limit, MOST_LISTED));
    return this.#read(function* (db) {
      let query = db.selectFrom("schedules").selectAll().where("tenant", "=", tenant).orderBy("name");
      if (after !== undefined) query = query.where("name", ">", after);
      const isWanted = (row: SchedulesTable) => {
        if (!row.name.toLowerCase().includes(wanted)) return false;
        const { target: its } = scheduleBody.read(row.body, row.id);
        return target === undefined || (its.kind === target.kind && its.name === target.name);
      };
      if (wanted === "" && target === undefined) query = query.limit(most);
      const found = (yield* rows(query)).filter(isWanted).slice(0, most);
      const records: ScheduleRecord[] = [];
      for (const row of found) records.push(yield* withLast(db, row));
      return records;
    });
  }

  async get(name: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<ScheduleRecord> {
    return this.#read(function* (db) {
      const row = yield* findSchedule(db, tenant, name);
      if (row === undefined) throw unknown(name);
      return yield* withLast(db, row);
    });
  }

  async create(fields: ScheduleFields, { tenant = DEFAULT_TENANT, by }: By): Promise<SavedSchedule> {
    await this.#check(fields, tenant);
    const {
      name,
      target,
      trigger,
      input = null,
      missed = "once",
      overlap = "allow",
      enabled = true,
    } = fields;
    const secret = trigger.kind === "webhook" ? newSecret() : undefined;
    const id = newId("schedule");
    const row = await this.#write(tenant, name, function* (this: Schedules, db, at) {
      if ((yield* findSchedule(db, tenant, name))?.name === name) throw taken(name);
      const body = { target, input, trigger, missed, overlap, created_by: by, updated_by: by };
      const made: SchedulesTable = {
        id,
        tenant,
        name,
        version: 1,
        enabled: enabled ? 1 : 0,
        next_at: nextAt(trigger, enabled, at),
        created_at: at,
        updated_at: at,
        body: scheduleBody.write({ v: 1, ...body }),
      };
      yield* rows(db.insertInto("schedules").values(made));
      if (secret !== undefined)
        yield* putTriggerSecret(this.#init.cipher, { tenant, scheduleId: id, now: at }, secret)(db);
      yield* this.#tell(db, made, { action: "schedule.created", by, at });
      return made;
    });
    await this.#changed(row);
    return { ...recordOf(row, null), ...(secret === undefined ? {} : { secret }) };
  }

  /** Saves over the version it was read at: another one since then is a conflict. */
  async save(
    name: string,
    fields: ScheduleFields,
    { tenant = DEFAULT_TENANT, by, version }: By & { readonly version: number },
  ): Promise<SavedSchedule> {
    await this.#check(fields, tenant);
    return this.#update(name, { tenant, by, version }, () => fields);
  }

  async enable(name: string, options: By & { readonly version?: number }): Promise<ScheduleRecord> {
    return this.#update(name, options, (now) => ({ ...now, enabled: true }));
  }

  async disable(name: string, options: By & { readonly version?: number }): Promise<ScheduleRecord> {
    return this.#update(name, options, (now) => ({ ...now, enabled: false }));
  }

  /** Deletes it and what it remembers. Runs that it started stay. */
  async delete(
    name: string,
    { tenant = DEFAULT_TENANT, by, version }: By & { readonly version?: number },
  ): Promise<void> {
    const row = await this.#write(tenant, name, function* (this: Schedules, db, at) {
      const found = yield* findSchedule(db, tenant, name);
      if (found === undefined) throw unknown(name);
      if (version !== undefined && version !== found.version) throw conflict(found, version);
      yield* rows(db.deleteFrom("schedules").where("id", "=", found.id));
      yield* rows(db.deleteFrom("schedule_firings").where("schedule_id", "=", found.id));
      yield* removeTriggerSecret(tenant, found.id)(db);
      yield* this.#tell(db, found, { action: "schedule.deleted", by, at });
      return found;
    });
    await this.#mirrored(() => this.#init.mirror?.remove(row.id));
    this.#ticker.wake();
  }

  /** A new secret, shown this once. `keepMs`: for how long the one before still counts; it ends at once unless given. */
  async rotateSecret(
    name: string,
    { tenant = DEFAULT_TENANT, by, keepMs = 0 }: By & { readonly keepMs?: number },
  ): Promise<SavedSchedule> {
    const secret = newSecret();
    const row = await this.#write(tenant, name, function* (this: Schedules, db, at) {
      const found = yield* findSchedule(db, tenant, name);
      if (found === undefined) throw unknown(name);
      if (scheduleBody.read(found.body, found.id).trigger.kind !== "webhook") throw noWebhook(found.name);
      const where = { tenant, scheduleId: found.id, now: at, keepMs };
      yield* putTriggerSecret(this.#init.cipher, where, secret)(db);
      yield* this.#tell(db, found, { action: "schedule.secret_rotated", by, at });
      return found;
    });
    return { ...(await this.get(row.id, { tenant })), secret };
  }

  /** Fires it now, whether it is on or off. The same request again is the same run. */
  async fire(
    name: string,
    { tenant = DEFAULT_TENANT, by, requestId = newId("request") }: By & { readonly requestId?: string },
  ): Promise<Firing> {
    const key = `person:${requestId}`;
    const { id } = await this.#write(tenant, name, function* (this: Schedules, db, at) {
      const row = yield* findSchedule(db, tenant, name);
      if (row === undefined) throw unknown(name);
      const { target, input, trigger } = scheduleBody.read(row.body, row.id);
      const said = trigger.kind === "webhook" ? withBody(target, input, null) : input;
      const body = { cause: "person" as const, by, start: { target, input: said }, reason: null };
      const isNew = yield* insertFiring(db, row, { key, scheduledFor: at, at, body });
      if (isNew) yield* this.#tell(db, row, { action: "schedule.fired", by, at });
      return row;
    });
    await this.#starter.startAll(id);
    return this.#firing(id, key);
  }

  /** What became of it, newest first. */
  async history(
    name: string,
    {
      tenant = DEFAULT_TENANT,
      limit = 50,
      after,
    }: OfTenant & { readonly limit?: number; readonly after?: string } = {},
  ): Promise<{ readonly firings: readonly Firing[]; readonly next: string | null }> {
    const most = Math.max(1, Math.min(limit, MOST_LISTED));
    const firings = await this.#read(function* (db) {
      const row = yield* findSchedule(db, tenant, name);
      if (row === undefined) throw unknown(name);
      return yield* listFirings(db, row.id, { limit: most, before: after });
    });
    const last = firings.at(-1);
    return { firings, next: firings.length < most || last === undefined ? null : firingCursor(last) };
  }

  /** The next times of a trigger, whether there is a schedule of it or not, and what it says in words. */
  preview(
    trigger: ScheduleTrigger,
    count: number = SHOWN_TIMES,
  ): { readonly times: readonly number[]; readonly words: string | null } {
    if (trigger.kind === "webhook") return { times: [], words: null };
    const times = nextTimes(trigger, this.#init.engine.clock.now(), count);
    return { times, words: patternWords(trigger.pattern) ?? null };
  }

  /**
   * A webhook for a schedule has come. Who did not sign it with the schedule's secret is told nothing else; the same
   * delivery again answers the same firing.
   */
  async deliver(id: string, { bytes, body, signature, id: deliveryId }: Delivery): Promise<Firing> {
    const { engine, cipher } = this.#init;
    const now = engine.clock.now();
    const row = await this.#read((db) => findById(db, id));
    const secrets = row === undefined ? [] : await this.#read(triggerSecrets(cipher, row.tenant, id, now));
    const isSigned = (secret: string) => verifyWebhook(bytes, signature, secret, { now: () => now });
    // Of something unknown a signature is checked as well, so that its absence does not show in the time it takes.
    if (
      !(secrets.length === 0 ? ["none"] : secrets).some(isSigned) ||
      row === undefined ||
      secrets.length === 0
    )
      throw notSigned();
    if (deliveryId !== null && !DELIVERY_ID.test(deliveryId))
      throw new TracksideError(
        "delivery_invalid",
        "trackside-event-id: 1 to 200 visible ASCII characters expected",
      );
    const proof = proofOf(bytes, signature);
    const key = deliveryId === null ? `signed:${proof}` : `webhook:${deliveryId}`;
    const known = await this.#write(row.tenant, id, function* (db, at) {
      const current = yield* findById(db, id);
      if (current === undefined) throw notSigned();
      const seen = yield* seenFiring(db, id, key, proof);
      if (seen !== undefined) return seen;
      const { target, input, overlap, trigger } = scheduleBody.read(current.body, id);
      if (trigger.kind !== "webhook") throw notSigned();
      if (current.enabled !== 1) throw switchedOff(current.name);
      const by = `webhook:${current.name}`;
      const open = overlap === "skip" ? yield* openRun(db, id) : undefined;
      const start = { target, input: withBody(target, input, body) };
      const reason = open === undefined ? null : `${open} was still open`;
      yield* insertFiring(db, current, {
        key,
        scheduledFor: at,
        at,
        proof,
        body: { cause: "webhook", by, start, reason },
        ...(open === undefined ? {} : { state: "skipped" }),
      });
      return (yield* seenFiring(db, id, key, proof)) ?? key;
    });
    await this.#starter.startAll(id);
    return this.#firing(id, known);
  }

  /** Does what is due of one schedule, for an engine that watches the clock. `left`: it is to be tried again. */
  async fireDue(id: string): Promise<"done" | "left" | "gone"> {
    await this.#init.open();
    const { store, clock } = this.#init.engine;
    const isThere = await store.write(function* (db) {
      yield* fireDue(db, id, clock.now());
      return (yield* findById(db, id)) !== undefined;
    });
    if (!isThere) return "gone";
    return (await this.#starter.startAll(id)) ? "left" : "done";
  }

  /** Does what is due of all of them, and takes up what was left. For tests, and for workers of another engine. */
  async fireAllDue(): Promise<void> {
    await this.#init.open();
    await this.#watch.fireAll();
  }

  async #firing(id: string, key: string): Promise<Firing> {
    return this.#read(function* (db) {
      const [row] = yield* rows(
        db
          .selectFrom("schedule_firings")
          .leftJoin("runs", "runs.id", "schedule_firings.run_id")
          .selectAll("schedule_firings")
          .select("runs.status as run_status")
          .where("schedule_id", "=", id)
          .where("key", "=", key),
      );
      if (row === undefined) throw unknown(id);
      const { run_status, ...firing } = row;
      return firingOf(firing, run_status);
    });
  }

  async #update(
    name: string,
    { tenant = DEFAULT_TENANT, by, version }: By & { readonly version?: number },
    change: (now: ScheduleFields) => ScheduleFields,
  ): Promise<SavedSchedule> {
    let secret: string | undefined;
    const row = await this.#write(tenant, name, function* (this: Schedules, db, at) {
      const found = yield* findSchedule(db, tenant, name);
      if (found === undefined) throw unknown(name);
      if (version !== undefined && version !== found.version) throw conflict(found, version);
      const { v: _, created_by, updated_by: __, ...was } = scheduleBody.read(found.body, found.id);
      const now = { ...was, name: found.name, enabled: found.enabled === 1 };
      const { name: called, enabled = true, ...rest } = change(now);
      const { target, trigger, input = null, missed = "once", overlap = "allow" } = rest;
      const other = called === found.name ? undefined : yield* findSchedule(db, tenant, called);
      if (other?.name === called) throw taken(called);
      const isKept = now.enabled === enabled && JSON.stringify(was.trigger) === JSON.stringify(trigger);
      const next: SchedulesTable = {
        ...found,
        name: called,
        version: found.version + 1,
        enabled: enabled ? 1 : 0,
        // A time that is due stays due, whatever else is changed.
        next_at: isKept ? found.next_at : nextAt(trigger, enabled, at),
        updated_at: at,
        body: scheduleBody.write({
          v: 1,
          target,
          input,
          trigger,
          missed,
          overlap,
          created_by,
          updated_by: by,
        }),
      };
      const { id, ...set } = next;
      const mine = yield* changed(
        db.updateTable("schedules").set(set).where("id", "=", id).where("version", "=", found.version),
      );
      if (mine === 0) {
        const there = yield* findById(db, id);
        throw there === undefined ? unknown(name) : conflict(there, version ?? found.version);
      }
      secret = undefined;
      if (trigger.kind === "webhook" && was.trigger.kind !== "webhook") {
        secret = newSecret();
        yield* putTriggerSecret(this.#init.cipher, { tenant, scheduleId: id, now: at }, secret)(db);
      }
      if (trigger.kind !== "webhook") yield* removeTriggerSecret(tenant, id)(db);
      yield* this.#tell(db, next, { action: "schedule.saved", by, at });
      return next;
    });
    await this.#changed(row);
    const record = await this.get(row.id, { tenant });
    return { ...record, ...(secret === undefined ? {} : { secret }) };
  }

  async #check(fields: ScheduleFields, tenant: string): Promise<void> {
    const issues = [...scheduleIssues(fields)];
    const { target } = fields;
    if (!issues.some(({ path }) => path.startsWith("target"))) {
      const known = await this.#init.targets.unknown(target, tenant);
      if (known !== undefined) {
        const names = known.map((one) => `"${one}"`).join(", ") || "there is none";
        const what = target.kind === "workflow" ? "a workflow" : "an agent";
        issues.push(issueAt("target.name", target.name, `${what} (${names})`));
      }
    }
    if (issues.length > 0) throw new AgentConfigError("The schedule", issues);
  }

  async #changed(row: SchedulesTable): Promise<void> {
    await this.#mirrored(() => this.#watch.mirror(row));
    this.#ticker.wake();
  }

  /** The row is what counts: where the other engine is away, it is told at the next look. */
  async #mirrored(work: () => Promise<void> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#init.notice(`a schedule was saved, and the engine is told of it later: ${wordsOf(error)}`);
    }
  }

  *#tell(
    db: Builder,
    { id, tenant, name, version }: SchedulesTable,
    { action, by, at }: { readonly action: string; readonly by: string; readonly at: number },
  ): Operation<void> {
    const about = { schedule: id, name, version };
    yield* appendAudit(this.#init.cipher, { tenant, at, action, by, about })(db);
  }

  /** Another process may take the name, or save, at the same moment: looked at again, its write is there. */
  async #write<T>(
    tenant: string,
    name: string,
    work: (this: Schedules, db: Builder, at: number) => Operation<T>,
  ): Promise<T> {
    await this.#init.open();
    const { store, clock } = this.#init.engine;
    const at = clock.now();
    try {
      return await store.write((db) => work.call(this, db, at));
    } catch (error) {
      if (!(error instanceof StoreError) || error.fault !== "conflict") throw error;
      const there = await store.read((db) => findSchedule(db, tenant, name));
      if (there === undefined) throw error;
      return store.write((db) => work.call(this, db, at));
    }
  }

  async #read<T>(work: (db: Builder) => Operation<T>): Promise<T> {
    await this.#init.open();
    return this.#init.engine.store.read(work);
  }
}

function* withLast(db: Builder, row: SchedulesTable): Operation<ScheduleRecord> {
  const [last = null] = yield* listFirings(db, row.id, { limit: 1 });
  return recordOf(row, last);
}

/** A delivery that came before, by its id or by what was signed. */
function* seenFiring(db: Builder, id: string, key: string, proof: string): Operation<string | undefined> {
  const found = yield* rows(
    db
      .selectFrom("schedule_firings")
      .select("key")
      .where("schedule_id", "=", id)
      .where((where) => where.or([where("key", "=", key), where("proof", "=", proof)])),
  );
  return found.find((one) => one.key === key)?.key ?? found[0]?.key;
}

/** What was signed: the time and the words. An id stands beside that, so that anybody could give a copy another one. */
function proofOf(bytes: Uint8Array, signature: string | null): string {
  const [, time = ""] = /(?:^|,)\s*t=(\d+)/.exec(signature ?? "") ?? [];
  return createHash("sha256").update(`${time}.`).update(bytes).digest("hex");
}

function nextAt(trigger: ScheduleTrigger, enabled: boolean, now: number): number | null {
  if (!enabled || trigger.kind === "webhook") return null;
  return cadence(trigger).next(now) ?? null;
}
