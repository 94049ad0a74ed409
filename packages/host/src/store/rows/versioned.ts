import type * as z from "zod";
import { StoreError } from "../store-error.ts";

/** The shape of a row in one version: an object with that version in `v`. */
type Shape = z.ZodType<{ readonly v: number }>;

/** What `versioned` is told of a kind of row. */
export interface VersionedRow<
  Versions extends Record<number, Shape>,
  Current extends keyof Versions & number,
> {
  /** For messages: the table, or the table and what of it. */
  readonly name: string;
  /** The version that is written now. */
  readonly current: Current;
  /** The shape of every version there ever was. They never change; a new shape is a new version. */
  readonly versions: Versions;
  /** How a row of a version becomes one of the next: one for every version but the current one. */
  readonly upgrade: { readonly [Version in Exclude<keyof Versions & number, Current>]: Upgrade };
}

/** Gets a row as it was stored and answers it in the shape of the next version. */
type Upgrade = (old: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** Writes rows in the newest version and reads them in any. */
export interface RowCodec<T> {
  readonly name: string;
  readonly current: number;
  /** Trusts the row's shape, because rows are read all the time; whoever wrote it had the types checked. */
  read(text: string, id?: string): T;
  write(value: T): string;
  /** Reads a row of which nothing is known, such as an imported one: its shape is checked, as stored and as upgraded. */
  check(text: string, id?: string): T;
}

/**
 * JSON with its schema version in `v`, so that old rows always load.
 *
 * @example
 * const shape = z.object({ v: z.literal(1), input: z.string() });
 * const runRow = versioned({ name: "runs", current: 1, versions: { 1: shape }, upgrade: {} });
 * runRow.read(runRow.write({ v: 1, input: "hi" }), "run_1");
 */
export function versioned<
  const Versions extends Record<number, Shape>,
  const Current extends keyof Versions & number,
>(row: VersionedRow<Versions, Current>): RowCodec<z.output<Versions[Current]>> {
  type T = z.output<Versions[Current]>;
  const { name, current } = row;
  const shapes: Readonly<Record<number, Shape>> = row.versions;
  const upgrades: Readonly<Record<number, Upgrade>> = row.upgrade;
  for (let version = 1; version <= current; version += 1) {
    if (shapes[version] === undefined) throw missing(name, `the shape of version ${version}`);
    if (version < current && upgrades[version] === undefined)
      throw missing(name, `the upgrade from version ${version}`);
  }

  const where = (id: string | undefined) =>
    `The row${id === undefined ? "" : ` ${JSON.stringify(id)}`} of ${name}`;

  function parse(text: string, id: string | undefined): Stored {
    let stored: unknown;
    try {
      stored = JSON.parse(text);
    } catch (cause) {
      throw new StoreError("unusable", `${where(id)} is no JSON: ${FOREIGN}`, { cause });
    }
    if (!isStored(stored)) throw new StoreError("unusable", `${where(id)} has no version "v": ${FOREIGN}`);
    if (stored.v > current) {
      const what = `${where(id)} has version ${stored.v}, this one knows ${current} and older`;
      throw new StoreError("unusable", `${what}. Upgrade @trackside/host.`);
    }
    return stored;
  }

  function upgraded(stored: Stored): unknown {
    let value: Record<string, unknown> = stored;
    for (let version = stored.v; version < current; version += 1) value = upgrades[version]?.(value) ?? value;
    return value;
  }

  function conforming(value: unknown, version: number, id: string | undefined): Stored {
    const parsed = shapes[version]?.safeParse(value);
    if (parsed?.success) return parsed.data as Stored; // every shape has its version
    const issues = parsed?.error.issues
      .slice(0, 5)
      .map(({ path, message }) => `${path.join(".")}: ${message}`);
    const what = `${where(id)} is not what version ${version} looks like (${issues?.join("; ")})`;
    throw new StoreError("unusable", `${what}: ${FOREIGN}`);
  }

  return {
    name,
    current,
    read(text, id) {
      const stored = parse(text, id);
      return (stored.v === current ? stored : upgraded(stored)) as T; // what was written with this type
    },
    write(value) {
      if (value.v === current) return JSON.stringify(value);
      const what = `A row of ${name} was to be written in version ${value.v}`;
      throw new StoreError("misuse", `${what}. Only version ${current} is written.`);
    },
    check(text, id) {
      const stored = parse(text, id);
      if (stored.v === current) return conforming(stored, current, id) as T; // by its own shape
      return conforming(upgraded(conforming(stored, stored.v, id)), current, id) as T; // likewise
    },
  };
}

const FOREIGN = "it was not written by Trackside, or it is damaged. Restore it from a backup.";

type Stored = Record<string, unknown> & { readonly v: number };

function isStored(value: unknown): value is Stored {
  return (
    typeof value === "object" &&
    value !== null &&
    "v" in value &&
    Number.isSafeInteger(value.v) &&
    Number(value.v) > 0
  );
}

function missing(name: string, what: string): StoreError {
  return new StoreError("misuse", `The rows of ${name} lack ${what}. Old rows must always load: add it.`);
}
