import type { Dialect } from "../builder.ts";

/** A column: what it holds, and a question mark where it may be null. `counter` is a key that the database counts up itself. */
export type Column = "text" | "text?" | "integer" | "integer?" | "bytes" | "counter";

export interface Table {
  readonly columns: Readonly<Record<string, Column>>;
  readonly key: readonly string[];
  /** SQLite keeps the rows in the order of the key, without a second tree. For small rows that come in that order, or seldom. */
  readonly clustered?: true;
  readonly indexes?: readonly (readonly string[])[];
}

const TYPES: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  sqlite: {
    text: "TEXT",
    integer: "INTEGER",
    bytes: "BLOB",
    counter: "INTEGER PRIMARY KEY AUTOINCREMENT",
  },
  postgres: {
    // Byte order, as in SQLite: ids sort the same everywhere, whatever the language of the server.
    text: 'TEXT COLLATE "C"',
    integer: "BIGINT",
    bytes: "BYTEA",
    counter: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  },
};

/** The statements that make a table and its indexes. */
export function createTable(name: string, table: Table, dialect: Dialect): readonly string[] {
  const lines = Object.entries(table.columns).map(([column, kind]) => {
    const nullable = kind.endsWith("?");
    const type = TYPES[dialect][nullable ? kind.slice(0, -1) : kind];
    return `${quote(column)} ${type}${nullable ? "" : " NOT NULL"}`;
  });
  const counted = table.key.some((column) => table.columns[column] === "counter");
  if (!counted) lines.push(`PRIMARY KEY (${table.key.map(quote).join(", ")})`);
  const strict = dialect === "sqlite" ? ` STRICT${table.clustered ? ", WITHOUT ROWID" : ""}` : "";
  const indexes = (table.indexes ?? []).map((columns) => {
    const index = quote(`${name}_${columns.join("_")}`);
    return `CREATE INDEX ${index} ON ${quote(name)} (${columns.map(quote).join(", ")})`;
  });
  return [`CREATE TABLE ${quote(name)} (\n  ${lines.join(",\n  ")}\n)${strict}`, ...indexes];
}

function quote(name: string): string {
  return `"${name}"`;
}
