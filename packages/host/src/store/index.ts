export { holdsFence } from "./fence.ts";
export { type PostgresOptions, postgres } from "./postgres.ts";
export { type RowCodec, type VersionedRow, versioned } from "./rows/versioned.ts";
export type { StoreSeams } from "./seams.ts";
export { type SqliteOptions, sqlite } from "./sqlite.ts";
export {
  type Builder,
  type CommitEntry,
  changed,
  type Operation,
  type QueryRows,
  rows,
  type Store,
  type Work,
} from "./store.ts";
export { StoreError, type StoreFault } from "./store-error.ts";
export type * from "./tables.ts";
