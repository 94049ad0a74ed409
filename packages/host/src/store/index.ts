export { type PostgresOptions, postgres } from "./postgres.ts";
export type { StoreSeams } from "./seams.ts";
export { type SqliteOptions, sqlite } from "./sqlite.ts";
export {
  type Builder,
  type CommitEntry,
  changed,
  type Operation,
  rows,
  type Store,
  type Work,
} from "./store.ts";
export { StoreError, type StoreFault } from "./store-error.ts";
export type * from "./tables.ts";
