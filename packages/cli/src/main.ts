import manifest from "../package.json" with { type: "json" };
import { type Command, EXIT, EXIT_HELP } from "./command.ts";
import { Complaint } from "./complaint.ts";
import { drained, type Io } from "./io.ts";
import { nearest } from "./nearest.ts";
import { clean } from "./screen/clean.ts";

const COMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<{ command: Command }> }>> = {
  start: { summary: "serves the control room and the HTTP API", load: () => import("./commands/start.ts") },
  dev: { summary: "the same, and starts again when a file changes", load: () => import("./commands/dev.ts") },
  run: { summary: "runs one turn of an agent and shows it", load: () => import("./commands/run.ts") },
  chat: { summary: "talks to an agent, turn by turn", load: () => import("./commands/chat.ts") },
  worker: { summary: "works on the runs of a store", load: () => import("./commands/worker.ts") },
  runs: {
    summary: "lists, shows, follows, cancels, resumes and retries runs",
    load: () => import("./commands/runs.ts"),
  },
  approvals: {
    summary: "decides what waits for a decision",
    load: () => import("./commands/approvals.ts"),
  },
  conversations: {
    summary: "lists, shows, copies and deletes conversations",
    load: () => import("./commands/conversations.ts"),
  },
  agents: {
    summary: "lists, shows, checks, copies in and out the agents of a store",
    load: () => import("./commands/agents.ts"),
  },
  schedules: {
    summary: "lists, fires and switches what starts by the clock or by a webhook",
    load: () => import("./commands/schedules.ts"),
  },
  workflows: {
    summary: "lists, shows, checks, copies in and out and runs workflows",
    load: () => import("./commands/workflows.ts"),
  },
  audit: { summary: "shows and verifies who decided what", load: () => import("./commands/audit.ts") },
  doctor: {
    summary: "looks at the machine and the config, and says what to do",
    load: () => import("./commands/doctor.ts"),
  },
};

const help = `trackside ${manifest.version}, a runtime for AI agents

  trackside start                     ${COMMANDS.start?.summary}; a demo where there is no config
  trackside chat                      talks to a demo agent in the terminal; needs no key
  trackside run agent.ts "do this"    ${COMMANDS.run?.summary}
  trackside chat agent.ts             ${COMMANDS.chat?.summary}

With a trackside.config.ts, whose agents work on a store and whose runs outlive the process:

  trackside dev                       ${COMMANDS.dev?.summary}
  trackside run clerk "do this"       one turn, durable; clerk is an agent of the config
  trackside worker                    ${COMMANDS.worker?.summary}
  trackside runs                      ${COMMANDS.runs?.summary}
  trackside approvals                 ${COMMANDS.approvals?.summary}
  trackside conversations             ${COMMANDS.conversations?.summary}
  trackside agents                    ${COMMANDS.agents?.summary}
  trackside schedules                 ${COMMANDS.schedules?.summary}
  trackside workflows                 ${COMMANDS.workflows?.summary}
  trackside audit                     ${COMMANDS.audit?.summary}
  trackside doctor                    ${COMMANDS.doctor?.summary}

With --temporal and the address of a server, run, chat and worker have Temporal drive the runs, on many machines:

  trackside worker agent.ts --temporal 127.0.0.1:7233

  trackside <command> --help shows the options of a command.
  trackside --version shows the version.

${EXIT_HELP}
`;

/** Runs the command that the arguments name. Resolves to the exit code, once everything has been written. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const exitCode = await dispatch(args, io).catch((error: unknown) => {
    if (!(error instanceof Complaint)) throw error;
    io.stderr.write(`${clean(error.message)}\n`);
    return EXIT.usage;
  });
  await drained(io);
  return io.gone.aborted ? EXIT.gone : exitCode;
}

async function dispatch([name, ...args]: readonly string[], io: Io): Promise<number> {
  if (name === undefined) {
    io.stderr.write(help);
    return EXIT.usage;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    io.stdout.write(help);
    return EXIT.completed;
  }
  if (name === "--version" || name === "-v") {
    io.stdout.write(`${manifest.version}\n`);
    return EXIT.completed;
  }
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found) return (await found.load()).command.run(args, io);
  const known = Object.keys(COMMANDS);
  const near = nearest(name, known);
  throw new Complaint(
    `There is no command ${JSON.stringify(name)}. ${near ? `Did you mean ${near}?` : `Known: ${known.join(", ")}.`} See trackside --help.`,
  );
}
