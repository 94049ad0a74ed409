import { hot } from "../hot.ts";
import { type Builder, changed, type Operation, rows } from "../store/store.ts";
import type { AgentsTable, AgentVersionsTable } from "../store/tables.ts";

/** A definition as it is now; the tables of all kinds have the same columns. */
export type DefinitionRow = AgentsTable;
/** One of its versions. */
export type VersionRow = Omit<AgentVersionsTable, "agent_id"> & { readonly owner_id: string };

type Noun = "agent" | "workflow";

// The queries are the same for all kinds. Kysely is told of one of them, since it cannot tell that of unions.
const current = (noun: Noun) => `${noun}s` as "agents";
const versions = (noun: Noun) => `${noun}_versions` as "agent_versions";
const owner = (noun: Noun) => `${noun}_id` as "agent_id";

const byName = {
  agent: namedIn("agent"),
  workflow: namedIn("workflow"),
};

function namedIn(noun: Noun) {
  return hot<{ tenant: string; name: string }, DefinitionRow>((db, value) =>
    db
      .selectFrom(current(noun))
      .selectAll()
      .where("tenant", "=", value("tenant"))
      .where("name", "=", value("name")),
  );
}

/** One by its name in a tenant. */
export function* findByName(
  db: Builder,
  noun: Noun,
  tenant: string,
  name: string,
): Operation<DefinitionRow | undefined> {
  return (yield* byName[noun](db, { tenant, name })).rows[0];
}

/** One by its name in a tenant, or by its id there. */
export function* findDefinition(
  db: Builder,
  noun: Noun,
  tenant: string,
  key: string,
): Operation<DefinitionRow | undefined> {
  const named = yield* findByName(db, noun, tenant, key);
  if (named !== undefined) return named;
  const [row] = yield* rows(
    db.selectFrom(current(noun)).selectAll().where("id", "=", key).where("tenant", "=", tenant),
  );
  return row;
}

/** Those of these names that are there. */
export function* findAllNamed(
  db: Builder,
  noun: Noun,
  tenant: string,
  names: readonly string[],
): Operation<readonly DefinitionRow[]> {
  const found: DefinitionRow[] = [];
  for (let i = 0; i < names.length; i += MOST_AT_ONCE)
    found.push(
      ...(yield* rows(
        db
          .selectFrom(current(noun))
          .selectAll()
          .where("tenant", "=", tenant)
          .where("name", "in", names.slice(i, i + MOST_AT_ONCE)),
      )),
    );
  return found;
}

/** Databases take so many values in one query, or a few more. */
const MOST_AT_ONCE = 500;

/** A page of them by name, of those that are wanted. */
export function* listDefinitions(
  db: Builder,
  noun: Noun,
  tenant: string,
  page: {
    readonly after: string | undefined;
    readonly most: number;
    /** Undefined for all: a database folds the case of some letters only, so the others are asked for by this. */
    readonly isWanted: ((name: string) => boolean) | undefined;
  },
): Operation<readonly DefinitionRow[]> {
  const { after, most, isWanted } = page;
  let names = db
    .selectFrom(current(noun))
    .select(["id", "name"])
    .where("tenant", "=", tenant)
    .orderBy("name");
  if (after !== undefined) names = names.where("name", ">", after);
  if (isWanted === undefined) names = names.limit(most);
  const found = (yield* rows(names)).filter(({ name }) => isWanted?.(name) ?? true).slice(0, most);
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return [];
  return yield* rows(
    db.selectFrom(current(noun)).selectAll().where("tenant", "=", tenant).where("id", "in", ids),
  );
}

export function* insertDefinition(db: Builder, noun: Noun, row: DefinitionRow): Operation<void> {
  yield* rows(db.insertInto(current(noun)).values(row));
}

/** False when it is no longer at that version: then nothing was written. */
export function* updateDefinition(
  db: Builder,
  noun: Noun,
  { id, name, version, digest, updated_at, body }: DefinitionRow,
  from: number,
): Operation<boolean> {
  const mine = yield* changed(
    db
      .updateTable(current(noun))
      .set({ name, version, digest, updated_at, body })
      .where("id", "=", id)
      .where("version", "=", from),
  );
  return mine > 0;
}

/** The same for a deletion. */
export function* deleteDefinition(
  db: Builder,
  noun: Noun,
  { id, version }: DefinitionRow,
): Operation<boolean> {
  const query = db.deleteFrom(current(noun)).where("id", "=", id).where("version", "=", version);
  return (yield* changed(query)) > 0;
}

export function* insertVersion(db: Builder, noun: Noun, { owner_id, ...row }: VersionRow): Operation<void> {
  const kept = { ...row, [owner(noun)]: owner_id } as AgentVersionsTable;
  yield* rows(db.insertInto(versions(noun)).values(kept));
}

/** One version. */
export function* findVersion(
  db: Builder,
  noun: Noun,
  tenant: string,
  ownerId: string,
  n: number,
): Operation<VersionRow | undefined> {
  const [row] = yield* rows(
    db
      .selectFrom(versions(noun))
      .select(["n", "tenant", "digest", "created_at", "body"])
      .where("tenant", "=", tenant)
      .where(owner(noun), "=", ownerId)
      .where("n", "=", n),
  );
  return row && { ...row, owner_id: ownerId };
}

/** The newest first. */
export function* listVersions(
  db: Builder,
  noun: Noun,
  tenant: string,
  ownerId: string,
  { before, most }: { readonly before: number | undefined; readonly most: number },
): Operation<readonly VersionRow[]> {
  let query = db
    .selectFrom(versions(noun))
    .select(["n", "tenant", "digest", "created_at", "body"])
    .where("tenant", "=", tenant)
    .where(owner(noun), "=", ownerId)
    .orderBy("n", "desc")
    .limit(most);
  if (before !== undefined) query = query.where("n", "<", before);
  return (yield* rows(query)).map((row) => ({ ...row, owner_id: ownerId }));
}

export function* eraseVersions(db: Builder, noun: Noun, ownerId: string): Operation<void> {
  yield* rows(db.deleteFrom(versions(noun)).where(owner(noun), "=", ownerId));
}

/** The names of all of a tenant's, sorted. */
export function* namesOf(db: Builder, noun: Noun, tenant: string): Operation<readonly string[]> {
  const found = yield* rows(
    db.selectFrom(current(noun)).select("name").where("tenant", "=", tenant).orderBy("name"),
  );
  return found.map(({ name }) => name);
}
