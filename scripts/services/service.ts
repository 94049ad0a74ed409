/** A server that is running for the tests. */
export interface Service {
  readonly port: number;
  /** Holds its data and its log; removed when it is stopped. */
  readonly dir: string;
  /** Of the server itself; another one after each restart. */
  readonly pid: number;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
  /** Stops it cleanly, if it runs, and starts it again: same port, same data directory. */
  restart(): Promise<void>;
  /** SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** Why there is no such service here, and the command that would provide it. */
export interface Missing {
  readonly missing: string;
}

/** What is missing is reported, and in CI it is an error, so that no suite is skipped there unseen. */
export function missing(what: string, reason: string, command: string): Missing {
  const said = `${what}: ${reason}; to have it: ${command}`;
  if (process.env["CI"] === "true") throw new Error(`${said} (CI=true does not skip suites)`);
  return { missing: said };
}
