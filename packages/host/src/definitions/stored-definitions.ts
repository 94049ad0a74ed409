import { type JsonObject, TracksideError } from "trackside";
import { newId } from "trackside/engine";
import { appendAudit } from "../audit/index.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import type { Builder, Operation, Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { nameTaken, unknownDefinition, VersionConflictError } from "./errors.ts";
import type { DefinitionKind } from "./kind.ts";
import {
  type DefinitionRow,
  deleteDefinition,
  eraseVersions,
  findByName,
  findDefinition,
  findVersion,
  insertDefinition,
  insertVersion,
  listDefinitions,
  listVersions,
  namesOf,
  updateDefinition,
  type VersionRow,
} from "./rows.ts";

/** A definition as it is now. */
export interface StoredDefinition<B> {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Goes up with every save. */
  readonly version: number;
  /** Of the definition. */
  readonly digest: string;
  readonly definition: JsonObject;
  /** What stands beside it, not in it. */
  readonly beside: B;
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

export interface DefinitionVersion<B> {
  readonly owner_id: string;
  readonly n: number;
  readonly name: string;
  readonly digest: string;
  readonly created_at: number;
  readonly by: string;
  readonly note: string | null;
  /** The version it brought back. */
  readonly restored_from: number | null;
  readonly definition: JsonObject;
  readonly beside: B;
}

export interface OfTenant {
  readonly tenant?: string;
}

/** Who does it, and why. */
export interface Author extends OfTenant {
  readonly by: string;
  readonly note?: string;
}

/** A page of a list, by name. */
export interface ListDefinitions extends OfTenant {
  /** Part of a name, whatever its case. */
  readonly search?: string;
  readonly limit?: number;
  /** Those after this name, as the last of a page. */
  readonly after?: string;
}

/** A definition that was checked, and how it will be written. */
export interface CheckedDefinition {
  readonly name: string;
  readonly definition: JsonObject;
  readonly digest: string;
}

export interface StoredDefinitionsInit<B extends object> {
  readonly kind: DefinitionKind<B>;
  /** Erases what belongs to one of them and is kept elsewhere. */
  readonly erasing?: (db: Builder, tenant: string, id: string) => Operation<void>;
  readonly store: Store;
  readonly now: () => number;
  readonly cipher: Cipher;
  readonly open: () => Promise<void>;
}

export const MOST_LISTED = 1000;

/**
 * Definitions made at run time, each of one tenant and with every version it had: what agents and workflows have in
 * common. They come here checked. Wherever one is named its id will do, too.
 */
export class StoredDefinitions<B extends object> {
  readonly #init: StoredDefinitionsInit<B>;
  readonly #noun: "agent" | "workflow";

  constructor(init: StoredDefinitionsInit<B>) {
    this.#init = init;
    this.#noun = init.kind.noun;
  }

  /** In no order. */
  async list(filter: ListDefinitions): Promise<readonly StoredDefinition<B>[]> {
    const { tenant = DEFAULT_TENANT, search = "", after, limit = 100 } = filter;
    const isWanted = search === "" ? undefined : (name: string) => isNamed(name, search);
    const page = { after, isWanted, most: Math.max(0, Math.min(limit, MOST_LISTED)) };
    const found = await this.#read((db) => listDefinitions(db, this.#noun, tenant, page));
    return found.map((row) => this.#record(row));
  }

  async find(tenant: string, key: string): Promise<StoredDefinition<B> | undefined> {
    const row = await this.#read((db) => findDefinition(db, this.#noun, tenant, key));
    return row && this.#record(row);
  }

  async names(tenant: string): Promise<readonly string[]> {
    return this.#read((db) => namesOf(db, this.#noun, tenant));
  }

  async create(made: CheckedDefinition, beside: B, author: Author): Promise<StoredDefinition<B>> {
    const { tenant = DEFAULT_TENANT } = author;
    return this.#write(tenant, made.name, (db, at) => this.#insert(db, made, beside, author, at));
  }

  /** Saves over the version it was read at. Of two who save the same one the first wins; the other is told who that was. */
  async save(
    key: string,
    made: CheckedDefinition,
    options: Author & {
      readonly version: number;
      /** Left out: as it was. */
      readonly beside?: Partial<B>;
      readonly restoredFrom?: number;
    },
  ): Promise<StoredDefinition<B>> {
    const { tenant = DEFAULT_TENANT } = options;
    return this.#write(tenant, made.name, (db, at) => this.#update(db, key, made, options, at));
  }

  async delete(
    key: string,
    options: Omit<Author, "note"> & { readonly version?: number; readonly erase?: boolean },
  ): Promise<void> {
    const { tenant = DEFAULT_TENANT } = options;
    await this.#write(tenant, key, (db, at) => this.#remove(db, key, options, at));
  }

  /** The newest first; undefined when there is none of that name, nor any version by that id. */
  async versions(
    key: string,
    page: OfTenant & { readonly before?: number; readonly limit?: number },
  ): Promise<readonly DefinitionVersion<B>[] | undefined> {
    const { tenant = DEFAULT_TENANT, before, limit = 100 } = page;
    const noun = this.#noun;
    const found = await this.#read(function* (db) {
      const id = (yield* findDefinition(db, noun, tenant, key))?.id; // one that is deleted is found by its id
      const most = Math.max(0, Math.min(limit, MOST_LISTED));
      const listed = yield* listVersions(db, noun, tenant, id ?? key, { before, most });
      return { known: id !== undefined || before !== undefined, listed };
    });
    if (found.listed.length === 0 && !found.known) return undefined;
    return found.listed.map((row) => this.#version(row));
  }

  async version(
    key: string,
    n: number,
    { tenant = DEFAULT_TENANT }: OfTenant,
  ): Promise<DefinitionVersion<B>> {
    const noun = this.#noun;
    const row = await this.#read(function* (db) {
      if (!Number.isSafeInteger(n)) return undefined;
      const id = (yield* findDefinition(db, noun, tenant, key))?.id ?? key;
      return yield* findVersion(db, noun, tenant, id, n);
    });
    if (row !== undefined) return this.#version(row);
    const article = noun === "agent" ? "an" : "a";
    throw new TracksideError("not_found", `There is no version ${n} of ${article} ${noun} "${key}".`);
  }

  *#insert(
    db: Builder,
    { name, definition, digest }: CheckedDefinition,
    beside: B,
    { tenant = DEFAULT_TENANT, by, note }: Author,
    at: number,
  ): Operation<StoredDefinition<B>> {
    const noun = this.#noun;
    if ((yield* findByName(db, noun, tenant, name)) !== undefined) throw nameTaken(noun, name);
    const row: DefinitionRow = {
      id: newId(noun),
      tenant,
      name,
      version: 1,
      digest,
      created_at: at,
      updated_at: at,
      body: this.#init.kind.body.write({ v: 1, definition, by, ...beside }),
    };
    yield* insertDefinition(db, noun, row);
    yield* this.#keep(db, row, { ...noted(note) });
    const about = { [noun]: row.id, name, version: 1, digest };
    yield* this.#tell(db, { tenant, at, action: `${noun}.created`, by, about, after: definition });
    return this.#record(row);
  }

  *#update(
    db: Builder,
    key: string,
    { name, definition, digest }: CheckedDefinition,
    options: Parameters<StoredDefinitions<B>["save"]>[2],
    at: number,
  ): Operation<StoredDefinition<B>> {
    const { tenant = DEFAULT_TENANT, by, note, version: given, restoredFrom } = options;
    const { kind } = this.#init;
    const noun = this.#noun;
    const row = yield* findDefinition(db, noun, tenant, key);
    if (row === undefined) throw unknownDefinition(noun, key);
    const before = kind.body.read(row.body, row.id);
    if (row.version !== given) throw this.#conflict(row, given);
    const was = kind.beside(before);
    const beside = { ...was, ...options.beside };
    const isSame = digest === row.digest && JSON.stringify(beside) === JSON.stringify(was);
    if (isSame) return this.#record(row); // nothing to remember
    if (name !== row.name && (yield* findByName(db, noun, tenant, name)) !== undefined)
      throw nameTaken(noun, name);
    const version = row.version + 1;
    const body = kind.body.write({ v: 1, definition, by, ...beside });
    const next = { ...row, name, version, digest, updated_at: at, body };
    if (!(yield* updateDefinition(db, noun, next, given))) throw yield* this.#overtaken(db, row, given);
    const restored = restoredFrom === undefined ? {} : { restored_from: restoredFrom };
    yield* this.#keep(db, next, { ...noted(note), ...restored });
    const renamedFrom = name === row.name ? {} : { renamed_from: row.name };
    const about = { [noun]: row.id, name, version, digest, ...beside, ...renamedFrom, ...restored };
    const action = `${noun}.${restoredFrom === undefined ? "saved" : "restored"}`;
    yield* this.#tell(db, { tenant, at, action, by, about, before: before.definition, after: definition });
    return this.#record(next);
  }

  *#remove(
    db: Builder,
    key: string,
    options: Parameters<StoredDefinitions<B>["delete"]>[1],
    at: number,
  ): Operation<void> {
    const { tenant = DEFAULT_TENANT, by, version: given, erase = false } = options;
    const noun = this.#noun;
    const row = yield* findDefinition(db, noun, tenant, key);
    if (row === undefined) throw unknownDefinition(noun, key);
    if (given !== undefined && row.version !== given) throw this.#conflict(row, given);
    const { id, name, version, digest } = row;
    if (!(yield* deleteDefinition(db, noun, row))) throw yield* this.#overtaken(db, row, version);
    if (erase) {
      yield* eraseVersions(db, noun, id);
      if (this.#init.erasing) yield* this.#init.erasing(db, tenant, id);
    }
    const { definition } = this.#init.kind.body.read(row.body, id);
    const about = { [noun]: id, name, version, digest, erased: erase };
    yield* this.#tell(db, { tenant, at, action: `${noun}.deleted`, by, about, before: definition });
  }

  /** Why a row that was there is no longer as it was. */
  *#overtaken(db: Builder, { tenant, id }: DefinitionRow, given: number): Operation<TracksideError> {
    const now = yield* findDefinition(db, this.#noun, tenant, id);
    return now === undefined ? unknownDefinition(this.#noun, id) : this.#conflict(now, given);
  }

  /** Keeps it as a version. */
  *#keep(
    db: Builder,
    { id, version, tenant, digest, updated_at, body: text }: DefinitionRow,
    why: { readonly note?: string; readonly restored_from?: number },
  ): Operation<void> {
    const { kind } = this.#init;
    const body = kind.version.write({ ...kind.body.read(text, id), ...why });
    yield* insertVersion(db, this.#noun, {
      owner_id: id,
      n: version,
      tenant,
      digest,
      created_at: updated_at,
      body,
    });
  }

  /** In the transaction of what it tells. */
  *#tell(db: Builder, event: Parameters<typeof appendAudit>[1]): Operation<void> {
    yield* appendAudit(this.#init.cipher, event)(db);
  }

  /** Another process may take the name, or save, at the same moment: looked at again, its write is there. */
  async #write<T>(tenant: string, name: string, work: (db: Builder, at: number) => Operation<T>): Promise<T> {
    await this.#init.open();
    const { store } = this.#init;
    const at = this.#init.now();
    try {
      return await store.write((db) => work(db, at));
    } catch (error) {
      if (!(error instanceof StoreError) || error.fault !== "conflict") throw error;
      const there = await store.read((db) => findDefinition(db, this.#noun, tenant, name));
      if (there === undefined) throw error;
      return store.write((db) => work(db, at));
    }
  }

  async #read<T>(work: (db: Builder) => Operation<T>): Promise<T> {
    await this.#init.open();
    return this.#init.store.read(work);
  }

  #conflict(row: DefinitionRow, given: number): VersionConflictError {
    const { by } = this.#init.kind.body.read(row.body, row.id);
    const current = { version: row.version, by, at: row.updated_at };
    return new VersionConflictError(`${this.#noun} "${row.name}"`, given, current);
  }

  #record(row: DefinitionRow): StoredDefinition<B> {
    const { id, name, tenant, version, digest, created_at, updated_at } = row;
    const body = this.#init.kind.body.read(row.body, id);
    const { definition, by } = body;
    const beside = this.#init.kind.beside(body);
    return {
      id,
      name,
      tenant,
      version,
      digest,
      definition,
      beside,
      created_at,
      updated_at,
      updated_by: by,
    };
  }

  #version({ owner_id, n, digest, created_at, body: text }: VersionRow): DefinitionVersion<B> {
    const body = this.#init.kind.version.read(text, `${owner_id} ${n}`);
    const { definition, by, note = null, restored_from = null } = body;
    const name = String(definition["name"]);
    const beside = this.#init.kind.beside(body);
    return { owner_id, n, name, digest, created_at, by, note, restored_from, definition, beside };
  }
}

/** Part of a name, whatever its case. */
export function isNamed(name: string, search: string): boolean {
  return name.toLowerCase().includes(search.toLowerCase());
}

function noted(note: string | undefined): { note?: string } {
  return note === undefined || note === "" ? {} : { note };
}
