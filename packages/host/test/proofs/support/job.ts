import type { Report } from "./report.ts";
import type { Broken } from "./stage.ts";

/** One scenario on one database, for as many processes as it takes. */
export interface Job {
  /** A file, or the URL of a database. */
  readonly place: string;
  readonly ledger: string;
  readonly scenario: string;
  /** Where the process is to kill itself. */
  readonly crashAt?: string | undefined;
  readonly broken?: Broken | undefined;
}

/** What a process says that lived to see the end. */
export interface Done {
  readonly writes: number;
  /** What the caller got, of a run that an earlier process may have started. */
  readonly output: string;
  readonly report: Report;
  readonly notices: readonly string[];
}
