import type { RunChange, RunRecord } from "@trackside/host";
import type { InStore } from "../config/in-store.ts";
import { shortId } from "../short-id.ts";
import { cleanLine } from "./clean.ts";
import { counted, duration } from "./numbers.ts";
import { statusCell, why } from "./run-status.ts";
import type { Screen } from "./screen.ts";

const SAID: Readonly<Record<RunChange["change"], string>> = {
  started: "begins",
  taken_up: "goes on here",
  ended: "is over",
  parked: "is parked",
  left: "is left for another process",
};

/** What a worker says: a line when it is up, one for each run it takes up and each that ends, one when it stops. */
export class WorkerLines {
  readonly #opened: InStore;
  #telling = Promise.resolve();

  constructor(opened: InStore) {
    this.#opened = opened;
  }

  /** Resolves when everything told so far has been said. */
  get written(): Promise<void> {
    return this.#telling;
  }

  ready(about: string, facts: Readonly<Record<string, unknown>>): void {
    const { json, line, screen } = this.#opened;
    if (json) line({ at: Date.now(), change: "ready", ...facts });
    else screen.line(`${screen.paint("dim", clock(Date.now()))} working on ${cleanLine(about)}`);
  }

  tell({ runId, tenant, agent, change }: RunChange): void {
    const { trackside, json, line, screen } = this.#opened;
    const at = Date.now();
    // One after the other, in the order it happened.
    this.#telling = this.#telling.then(async () => {
      const run = await trackside.runs.get(runId, { tenant }).catch(() => undefined); // erased, or the store is away
      if (json) line({ at, change, run_id: runId, tenant, agent, status: run?.status ?? null });
      else screen.line(lineFor(screen, { at, runId, agent, change }, run));
    });
  }

  stopped(left: number): void {
    const { json, line, screen } = this.#opened;
    const what = left === 0 ? "no run was under way" : `${counted(left, "run")} left for the next worker`;
    if (json) line({ at: Date.now(), change: "stopped", left });
    else screen.line(`${screen.paint("dim", clock(Date.now()))} stopped · ${what}`);
  }
}

type Told = Pick<RunChange, "runId" | "agent" | "change"> & { readonly at: number };

function lineFor(screen: Screen, { at, runId, agent, change }: Told, run: RunRecord | undefined): string {
  const facts = [`${screen.paint("bold", shortId(runId))} ${cleanLine(agent)} ${SAID[change]}`];
  if (run !== undefined && (change === "ended" || change === "parked")) {
    const { text, style } = statusCell(run);
    facts.push(screen.paint(style, text), cleanLine(why(run)));
    if (run.ended_at !== null) facts.push(duration(run.ended_at - run.created_at));
  }
  return `${screen.paint("dim", clock(at))} ${facts.join(" · ")}`;
}

function clock(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}
