import type { LogEntry } from "@temporalio/worker";
import { messageOf } from "../approvals/approver.ts";
import { cleanLine } from "../screen/clean.ts";

const AGAIN_MS = 60_000;
const LONGEST = 300;

/** Nothing to tell: a worker's second queue is for effects alone, and what is given up here is performed elsewhere. */
const EXPECTED = /^No workflows registered|was given up here: whoever is next performs it/;
/** Temporal tells of every call it tries again, on a hundred lines a minute. */
const AWAY = /^gRPC call \w+ retried|^Error when recording heartbeat/;

/** What Temporal logs, as notices for whoever runs a worker: each at most once a minute, however often it happens. */
export class Notices {
  readonly #address: string;
  readonly #tell: (message: string) => void;
  readonly #told = new Map<string, number>();

  constructor(address: string, tell: (message: string) => void) {
    this.#address = address;
    this.#tell = tell;
  }

  readonly log = ({ message, meta }: Pick<LogEntry, "message" | "meta">, now = Date.now()): void => {
    const error = meta?.["error"];
    const about = cleanLine(error === undefined ? message : `${message}: ${messageOf(error)}`);
    if (EXPECTED.test(message) || EXPECTED.test(about)) return;
    const notice = AWAY.test(message)
      ? `the Temporal server at ${this.#address} is away; this worker goes on when it is back`
      : `Temporal: ${about.length > LONGEST ? `${about.slice(0, LONGEST)}…` : about}`;
    const kind = notice.replaceAll(/\d+/g, "0"); // the same again, of another run or at another time
    const last = this.#told.get(kind);
    if (last !== undefined && now - last < AGAIN_MS) return;
    for (const [one, at] of this.#told) if (now - at >= AGAIN_MS) this.#told.delete(one);
    this.#told.set(kind, now);
    this.#tell(notice);
  };
}
