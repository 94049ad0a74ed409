import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Complaint } from "../complaint.ts";

const TEMPORAL = "@trackside/temporal";
const HOST = "@trackside/host";

/**
 * What runs on Temporal need, loaded when it is needed: the copies that lie beside the user's file, else ours. All of them
 * belong to one `@trackside/temporal`, since they know each other's objects by their classes.
 */
export class Toolkit {
  readonly #require: NodeJS.Require;

  constructor(file: string) {
    const home = resolved(file, TEMPORAL) ?? resolved(import.meta.url, TEMPORAL);
    if (home === undefined)
      throw new Complaint(
        `Temporal needs ${TEMPORAL}, and it is not installed.\nRun: npm install ${TEMPORAL}, in the folder of ${file}`,
      );
    this.#require = createRequire(home);
    const theirs = resolved(file, HOST);
    const its = resolved(home, HOST);
    if (theirs !== undefined && its !== undefined && theirs !== its)
      throw new Complaint(
        `${TEMPORAL} has another copy of ${HOST} than ${file}: ${its}, not ${theirs}.\nRun: npm install ${TEMPORAL} ${HOST}, in the folder of ${file}`,
      );
  }

  // Each is what its name says: the path is found by it.
  host = () => this.#load(HOST) as Promise<typeof import("@trackside/host")>;
  ours = () => this.#load(TEMPORAL) as Promise<typeof import("@trackside/temporal")>;
  oursToWork = () => this.#load(`${TEMPORAL}/worker`) as Promise<typeof import("@trackside/temporal/worker")>;
  theirs = () => this.#load("@temporalio/client") as Promise<typeof import("@temporalio/client")>;
  theirsToWork = () => this.#load("@temporalio/worker") as Promise<typeof import("@temporalio/worker")>;

  #load(name: string): Promise<unknown> {
    return import(pathToFileURL(this.#require.resolve(name)).href);
  }
}

/** Where a file would find a package. */
function resolved(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}
