import type { Dialect } from "../builder.ts";
import type { Table } from "./table.ts";

/** One step of the schema. Once released it never changes: later ones add to it. */
export interface Migration {
  readonly version: number;
  readonly tables?: Readonly<Record<string, Table>>;
  /** Statements that only one of the databases needs, after the tables. */
  readonly statements?: Partial<Readonly<Record<Dialect, readonly string[]>>>;
}
