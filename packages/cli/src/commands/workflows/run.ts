import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../approvals/approver.ts";
import { readApprove } from "../../approvals/policy.ts";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, EXIT_HELP, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { turnInStore, watchedRuns } from "../../config/configured-agent.ts";
import { inStore, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { type Io, readAll } from "../../io.ts";
import { presenterOn, type Runnable } from "../../present.ts";
import { cleanLine } from "../../screen/clean.ts";
import { whoAmI } from "../../who.ts";
import { choosePolicy } from "../run.ts";

const help = `trackside workflows run <name>    runs a workflow and shows its nodes as they come and go

  <name>    a workflow of trackside.config.ts, or one of its store. The run is kept there, and outlives the process.

Options
  --input json            what it is started with: an object, as the workflow's own schema says; {} unless given
  --input @file           the same from a file; "@-" reads stdin
  --queue                 leaves the run to a worker, and prints its id
  --json                  prints every event as one line of JSON on stdout, and nothing else there
  --approve ask           asks you about everything that needs a decision; on a terminal this is the default
  --approve wait          leaves each of them to "trackside approvals"; without a terminal this is the default
  --approve none          rejects each of them
  --approve all           approves every one of them, unseen
${STORE_OPTIONS_HELP}

Ctrl-C stops the run, once what is under way has answered; a second one leaves at once.

${EXIT_HELP}

Examples
  trackside workflows run deploy --input '{"service": "checkout", "version": "2.14"}'
  trackside workflows run triage --input @ticket.json --json
  trackside workflows run nightly --queue
`;

export const run: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      input: { type: "string" },
      approve: { type: "string" },
      queue: { type: "boolean" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside workflows run <name> --input '{…}'");
    const [name] = positionals;
    if (name === undefined)
      throw new Complaint("Which workflow? Write: trackside workflows run <name> --input '{…}'");
    const word = readApprove(values.approve);
    if (values.queue && word !== undefined)
      throw new Complaint(
        "--queue leaves the run to a worker, so nobody here approves anything: leave --approve out.",
      );
    const takesStdin = values.input === "@-";
    const input = await readInput(values.input, io);

    return inStore(io, values, async (opened) => {
      const { trackside, scope, json, screen, line, write } = opened;
      if (values.queue) {
        const { runId } = await trackside.workflows.start(name, input, { scope, queue: true });
        if (json) line({ run_id: runId });
        else write(`${runId}\n`);
        return EXIT.completed;
      }
      const workflow = await trackside.workflows.ready(name, input, scope);
      const present = presenterOn(io, opened);
      const by = whoAmI(io.env);
      const approve = choosePolicy(word, { io, present, json, takesStdin, by });
      const { began, ...watched } = watchedRuns(opened);
      const runnable: Runnable = {
        ...watched,
        definition: { model: "its model" },
        stream: (_input, { signal }) => {
          const started = workflow.stream(signal === undefined ? {} : { signal });
          began(started.runId);
          if (!json) screen.line(screen.paint("dim", started.runId));
          if (!json) screen.line();
          return started as ReturnType<Runnable["stream"]>; // what it comes to is not looked at here
        },
      };
      if (!json)
        screen.line(screen.paint("dim", cleanLine(`${workflow.definition.name}, in ${watched.store}`)));
      return (await turnInStore(opened, watched, () => present.turn(runnable, "", { approve }))).exitCode;
    });
  },
};

/** What a run is started with: written on the command line, or in a file. */
async function readInput(given: string | undefined, io: Io): Promise<unknown> {
  if (given === undefined) return {};
  const file = given.startsWith("@") ? given.slice(1) : undefined;
  const where = file === undefined ? "--input" : file === "-" ? "stdin" : file;
  try {
    const text = file === undefined ? given : await readFrom(file, io);
    return JSON.parse(text);
  } catch (error) {
    const problem = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw new Complaint(`${where} ${problem}: ${cleanLine(messageOf(error))}`);
  }
}

async function readFrom(file: string, io: Io): Promise<string> {
  return file === "-" ? readAll(io.stdin) : readFileSync(resolve(io.cwd, file), "utf8");
}
