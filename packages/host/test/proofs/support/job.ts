import type { Report } from "./report.ts";
import type { Broken } from "./stage.ts";

/** One scenario on one database, for as many lives as it takes. */
export interface Job {
  /** A file, or the URL of a database. */
  readonly place: string;
  readonly ledger: string;
  readonly scenario: string;
  /** Where this life ends: `12:before`, `12:after` or `12:late`. */
  readonly crashAt?: string | undefined;
  readonly broken?: Broken | undefined;
}

/** What a life says that saw the end. */
export interface Done {
  readonly writes: number;
  readonly calls: number;
  /** What the caller got, of a run that an earlier process may have started. */
  readonly output: string;
  readonly report: Report;
  readonly notices: readonly string[];
}
