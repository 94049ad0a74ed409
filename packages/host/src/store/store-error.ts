import { TracksideError } from "trackside";

/**
 * What went wrong, for code that goes on differently:
 * - `conflict`: a row with that key is there already
 * - `full`, `io`: the disk; what was to be written is not there
 * - `unavailable`: the database cannot be opened or reached
 * - `unusable`: it is no database of ours, or a newer version's
 * - `misuse`: a query that cannot work, such as a write given to `read()`
 * - `closed`: the store is closed, or was never opened
 */
export type StoreFault = "conflict" | "full" | "io" | "unavailable" | "unusable" | "misuse" | "closed";

export interface StoreErrorOptions extends ErrorOptions {
  /** Nobody can say whether the write landed: the disk or the connection failed, and again when it was asked. It is never there in part. */
  readonly unknown?: boolean;
}

/** The database did not do what was asked. The message says what, where and what to do; `cause` is the driver's error. */
export class StoreError extends TracksideError {
  override readonly name: string = "StoreError";
  readonly fault: StoreFault;
  readonly unknown: boolean;

  constructor(fault: StoreFault, message: string, options: StoreErrorOptions = {}) {
    super("store_failed", message, options);
    this.fault = fault;
    this.unknown = options.unknown ?? false;
  }
}
