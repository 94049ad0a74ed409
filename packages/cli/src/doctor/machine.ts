import { accessSync, constants, statfsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { messageOf } from "../approvals/approver.ts";
import type { Io } from "../io.ts";
import type { Finding } from "./finding.ts";

const GB = 1024 ** 3;
const LITTLE_DISK = GB;
const LITTLE_MEMORY = GB / 2;
/** Nothing of ours was written before this. */
const EARLIEST = Date.UTC(2026, 0, 1);

export async function* checkMachine({ cwd }: Io): AsyncGenerator<Finding> {
  yield {
    what: "Node",
    state: "ok",
    detail: `${process.versions.node} on ${process.platform} ${process.arch}`,
  };
  const memory = totalmem();
  yield {
    what: "Machine",
    state: memory < LITTLE_MEMORY ? "note" : "ok",
    detail: `${availableParallelism()} cores, ${(memory / GB).toFixed(1)} GB of memory`,
    ...(memory < LITTLE_MEMORY ? { next: "Long conversations and many runs at once may need more." } : {}),
  };
  yield folder(cwd);
  yield disk(cwd);
  yield Date.now() < EARLIEST
    ? {
        what: "Clock",
        state: "wrong",
        detail: `it says ${new Date().toISOString()}`,
        next: "Set it: deadlines of approvals and sessions go by it.",
      }
    : { what: "Clock", state: "ok", detail: new Date().toISOString() };
}

function folder(cwd: string): Finding {
  try {
    accessSync(cwd, constants.W_OK);
    return { what: "Folder", state: "ok", detail: `${cwd} can be written to` };
  } catch (error) {
    return {
      what: "Folder",
      state: "wrong",
      detail: messageOf(error),
      next: "A SQLite store is a file beside the config: work in a folder that can be written to, or use PostgreSQL.",
    };
  }
}

function disk(cwd: string): Finding {
  const { bavail, bsize } = statfsSync(cwd);
  const free = bavail * bsize;
  const detail = `${(free / GB).toFixed(1)} GB free`;
  if (free >= LITTLE_DISK) return { what: "Disk", state: "ok", detail };
  return {
    what: "Disk",
    state: "wrong",
    detail,
    next: "A store that cannot write stops every run. Make room.",
  };
}
