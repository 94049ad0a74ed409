import type { StreamedEvent } from "@trackside/host";
import type { AgentEvent, Approval } from "trackside";
import { codeOf, messageOf } from "../../approvals/approver.ts";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { type InStore, inStore, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Io } from "../../io.ts";
import { cleanLine } from "../../screen/clean.ts";
import { RunView } from "../../screen/run-view.ts";
import { findId, shortId } from "../../short-id.ts";

const help = `trackside runs tail <id>    follows a run to its end

  <id>      the id of a run, or an end of it that no other has

What happened so far comes first. Ctrl-C leaves; the run goes on.

Options
  --after cursor          only what came after it: a number of an event, or a cursor from --json
  --json                  prints each event with its cursor as one line of JSON: {"cursor", "event"}
${STORE_OPTIONS_HELP}

Exit codes
  0    the run completed
  1    it failed, was cancelled or is parked
  2    wrong usage or configuration
  130  left by Ctrl-C (143 by SIGTERM); the run goes on

Examples
  trackside runs tail k3x9q2ab
  trackside runs tail k3x9q2ab --after 12 --json
`;

const AWAY_MS = 1000;

export const tail: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...STORE_OPTIONS, after: { type: "string" } });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside runs tail <id>");
    const after = values.after ?? "0";
    if (!/^\d+([:;]\S+)?$/.test(after))
      throw new Complaint(
        `--after: the number of an event or a cursor expected, ${JSON.stringify(after)} given.`,
      );
    return inStore(io, values, async (opened) => {
      const id = await findId(opened.trackside, "runs", positionals[0], opened.scope.tenant);
      return follow(opened, io, id, after);
    });
  },
};

async function follow(opened: InStore, io: Io, id: string, after: string): Promise<number> {
  const { trackside, scope, json, screen, line } = opened;
  const { agent, status } = await trackside.runs.get(id, scope);
  const model = trackside.engine.registry.get(agent)?.definition.model ?? "the model";
  const records = new Map<string, Approval>();
  const view = new RunView(screen, model, { record: (approval) => records.get(approval) });
  if (!json) {
    screen.line(screen.paint("dim", `following ${id}; Ctrl-C leaves, the run goes on`));
    if (status === "queued") screen.line("It waits in line for a worker: trackside worker");
    screen.line();
  }
  const leaving = new Leaving(io);
  let cursor = after;
  let exitCode: number | undefined;
  try {
    for await (const streamed of untilOver(opened, id, after, leaving.signal)) {
      cursor = streamed.cursor;
      const event = streamed.event as AgentEvent; // the same events, whose tools nobody knows here
      if (json) line(streamed);
      else {
        if (event.type === "approval") {
          const record = await trackside.approvals.get(event.approval_id, scope);
          records.set(record.id, record);
        }
        view.show(event);
        if (event.type === "approval" && records.get(event.approval_id)?.state === "pending")
          screen.line(
            screen.paint("dim", `    decide: trackside approvals show ${shortId(event.approval_id)}`),
          );
      }
      if (event.type !== "status" || event.run_id !== id) continue; // a sub-agent's end is not the run's
      if (event.status === "completed") exitCode = EXIT.completed;
      if (event.status === "error" || event.status === "cancelled") exitCode = EXIT.failed;
      if (event.status === "parked" && (await trackside.runs.get(id, scope)).status === "parked") {
        if (!json)
          screen.line(`It stays so until somebody acts: trackside runs resume ${shortId(id)}, or cancel.`);
        return EXIT.failed;
      }
    }
  } finally {
    screen.settled();
    leaving.stop();
  }
  if (leaving.exitCode === undefined) return exitCode ?? EXIT.completed;
  if (!json) {
    screen.line();
    const place = cursor.includes(";") ? `'${cursor}'` : cursor; // with sub-agents under way it is more than a word
    screen.line(`Left. The run goes on. Back to it: trackside runs tail ${shortId(id)} --after ${place}`);
  }
  return leaving.exitCode;
}

/** The run's events. While the store is away it waits, and goes on from the last one. */
async function* untilOver(
  { trackside, scope, screen }: InStore,
  id: string,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  let cursor = after;
  for (;;) {
    try {
      for await (const streamed of trackside.runs.follow(id, { ...scope, after: cursor, signal })) {
        cursor = streamed.cursor;
        yield streamed;
      }
      return;
    } catch (error) {
      if (codeOf(error) !== "store_failed" || signal.aborted) throw error;
      screen.line(screen.paint("yellow", `! trying again: ${cleanLine(messageOf(error))}`));
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    }
  }
}

/** Ctrl-C, SIGTERM, or nobody reads any more: whoever follows a run leaves, and the run stays. */
class Leaving {
  readonly #controller = new AbortController();
  readonly #io: Io;
  exitCode: number | undefined;
  readonly #interrupt = () => this.#leave(EXIT.cancelled);
  readonly #terminate = () => this.#leave(EXIT.terminated);
  readonly #hangUp = () => this.#leave(EXIT.gone);

  constructor(io: Io) {
    this.#io = io;
    io.signals.on("SIGINT", this.#interrupt);
    io.signals.on("SIGTERM", this.#terminate);
    io.gone.addEventListener("abort", this.#hangUp, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    this.#io.signals.off("SIGINT", this.#interrupt);
    this.#io.signals.off("SIGTERM", this.#terminate);
    this.#io.gone.removeEventListener("abort", this.#hangUp);
  }

  #leave(exitCode: number): void {
    if (this.exitCode !== undefined) this.#io.exit(exitCode);
    this.exitCode = exitCode;
    this.#controller.abort();
  }
}
