import { type ApproveWord, type Policy, policyFor, readApprove } from "../approvals/policy.ts";
import { readArguments, readModel } from "../arguments.ts";
import { chatPrompt } from "../chat-loop.ts";
import { type Command, EXIT, EXIT_HELP } from "../command.ts";
import { Complaint } from "../complaint.ts";
import {
  configuredAgent,
  DURABLE_OPTIONS,
  type DurableValues,
  isConfigured,
  onlyConfigured,
  turnInStore,
} from "../config/configured-agent.ts";
import { type InStore, inStore } from "../config/in-store.ts";
import { type Io, isInteractive, readAll } from "../io.ts";
import { loadAgent } from "../load-agent.ts";
import { onModel } from "../on-model.ts";
import { type Presenter, presenter, presenterOn } from "../present.ts";
import type { Prompt } from "../prompt.ts";
import { cleanLine } from "../screen/clean.ts";
import { NO_MODEL, onTemporal } from "../temporal/on-temporal.ts";
import { onlyFiles } from "../temporal/only-files.ts";
import { readTarget, TEMPORAL_OPTIONS, TEMPORAL_OPTIONS_HELP } from "../temporal/options.ts";
import { whoAmI } from "../who.ts";

const help = `trackside run <agent> [input]    runs one turn and shows it

  <agent>   a .ts or .js file that exports an Agent (as default, or as \`agent\`), or a definition as .json;
            or the name of an agent in trackside.config.ts: then the run is kept in its store, and outlives the process
  [input]   the user's message; "-" or nothing reads it from stdin

Options
  --model provider:name   runs on this model instead of the agent's own and its fallbacks
  --tools file            with a .json definition: the file that exports the tools it names
  --json                  prints every event as one line of JSON on stdout, and nothing else there
  --approve ask           asks you about each call that needs an approval; on a terminal this is the default
  --approve none          rejects each such call; without a terminal this is the default
  --approve all           approves every one of them, unseen: whatever the agent asks for is done
  --help                  shows this

With an agent of trackside.config.ts also
  --queue                 leaves the run to a worker, and prints its id
  --conversation id       goes on with this conversation
  --approve wait          leaves each such call to "trackside approvals"; without a terminal this is the default
  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --tenant name           whose it is; "default" unless given

With a file and Temporal: the run is kept in a store, and workers do what it asks for (trackside worker --help)
  --engine temporal       has Temporal drive the run; --temporal implies it. "local", this process, is the default
${TEMPORAL_OPTIONS_HELP}
  --queue, --conversation, --approve wait and --tenant as above

With --json --approve ask and no terminal, decisions are lines of JSON on stdin:
  {"approval_id": "…", "choice": "approve"}       also with "edited_arguments": {…}
  {"approval_id": "…", "choice": "reject", "reason": "…"}
  {"approval_id": "…", "choice": "submit", "response": …}       the result of a client tool
What waits (with its whole arguments) and what came of each line is told on stderr, in JSON.

${EXIT_HELP}

Examples
  trackside run agent.ts "What changed since yesterday?"
  git log -5 | trackside run agent.ts -
  trackside run agent.json --tools tools.ts --model ollama:llama3.2 "Hello"
  trackside run clerk "Refund order 17" --queue
  trackside run agent.ts "Refund order 17" --engine temporal --temporal 127.0.0.1:7233
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(args, {
    model: { type: "string" },
    tools: { type: "string" },
    json: { type: "boolean" },
    approve: { type: "string" },
    ...DURABLE_OPTIONS,
    ...TEMPORAL_OPTIONS,
    queue: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  if (values.help) {
    io.stdout.write(help);
    return EXIT.completed;
  }
  const [file, input, extra] = positionals;
  if (file === undefined) throw new Complaint('Which agent? Write: trackside run agent.ts "do this"');
  if (extra !== undefined)
    throw new Complaint(`Put the input in quotes: ${JSON.stringify(positionals.slice(1).join(" "))}`);
  const model = readModel(values.model);
  const word = readApprove(values.approve);
  const json = values.json === true;
  const target = readTarget(values, io.env, ["local", "temporal"]);
  if (isConfigured(file, values, io.cwd, target === undefined ? undefined : ["config"])) {
    onlyFiles(file, values);
    const open: Open = (work) => inStore(io, values, (opened) => work(opened, file));
    return runInStore(open, input, values, io);
  }
  if (target !== undefined) {
    if (model !== undefined) throw new Complaint(NO_MODEL);
    const { tools, ...rest } = values;
    const source = { file, tools };
    const open: Open = (work) => onTemporal(io, values, { source, target }, work);
    return runInStore(open, input, rest, io);
  }
  if (values.queue) throw new Complaint(onlyConfigured("--queue", file));
  const present = presenter(io, { json });

  const agent = await loadAgent({ file, tools: values.tools, model }, io);
  const approve = choosePolicy(word, { io, present, json, takesStdin: fromStdin(input, io) });
  const message = await readMessage(input, io);
  const { screen } = present;
  if (!json) {
    const { name } = agent.definition;
    screen.line(screen.paint("dim", cleanLine(`${name} on ${model ?? agent.definition.model}`)));
    screen.line();
  }
  const on = model === undefined ? undefined : { model, engine: onModel(agent, model) };
  return (await present.turn(agent, message, { on, approve })).exitCode;
}

interface DurableRun extends DurableValues {
  readonly approve?: string | undefined;
  readonly queue?: boolean | undefined;
}

/** Opens a store for a command on one of its agents. */
type Open = (work: (opened: InStore, name: string) => Promise<number>) => Promise<number>;

/** One turn of an agent, kept in a store. */
async function runInStore(
  open: Open,
  input: string | undefined,
  values: DurableRun,
  io: Io,
): Promise<number> {
  const word = readApprove(values.approve);
  if (values.queue && word !== undefined)
    throw new Complaint(
      "--queue leaves the run to a worker, so nobody here approves anything: leave --approve out.",
    );
  const message = await readMessage(input, io);
  const takesStdin = fromStdin(input, io);
  return open(async (opened, name) => {
    const { screen, line, json, fromFile = false } = opened;
    const agent = await configuredAgent(opened, name, values, (runId) => {
      if (json) return;
      screen.line(screen.paint("dim", runId));
      screen.line();
    });
    if (values.queue) {
      const { runId, conversationId } = await agent.queue(message);
      if (json) line({ run_id: runId, conversation_id: conversationId });
      else opened.write(`${runId}\n`);
      return EXIT.completed;
    }
    const present = presenterOn(io, opened);
    const approve = choosePolicy(word, {
      io,
      present,
      json,
      takesStdin,
      by: whoAmI(io.env),
      waits: !fromFile,
    });
    if (!json)
      screen.line(screen.paint("dim", cleanLine(`${name} on ${agent.definition.model}, in ${agent.store}`)));
    return (await turnInStore(opened, agent, () => present.turn(agent, message, { approve }))).exitCode;
  });
}

interface Surroundings {
  readonly io: Io;
  readonly present: Presenter;
  readonly json: boolean;
  /** Whether stdin is the input. */
  readonly takesStdin: boolean;
  /** Of a run in a store: who sits here. What waits there can also be decided elsewhere. */
  readonly by?: string;
  /** Whether it waits for them by default, where nobody sits here: `trackside approvals` needs a config. */
  readonly waits?: boolean;
}

export function choosePolicy(
  given: ApproveWord | undefined,
  { io, present: { output, screen }, json, takesStdin, by, waits = true }: Surroundings,
): Policy {
  const person = !takesStdin && isInteractive({ ...io, stdout: output });
  const word = given ?? (person || waits ? undefined : "none");
  let made: Prompt | undefined;
  const prompt = () => (made ??= chatPrompt(io, output, screen));
  const lines: Policy | undefined = json && !takesStdin ? { kind: "lines" } : undefined;
  return policyFor(word, {
    policy: person ? { kind: "person", prompt, ...(by === undefined ? {} : { by }) } : lines,
    byDefault: person,
    durable: by !== undefined,
    otherwise: takesStdin
      ? "--approve ask: stdin is the input, so nobody can be asked there. Give the input as an argument."
      : "--approve ask: there is no terminal to ask on. With --json, decisions can be lines of JSON on stdin.",
  });
}

function fromStdin(given: string | undefined, io: Io): boolean {
  return given === "-" || (given === undefined && !io.stdin.isTTY);
}

async function readMessage(given: string | undefined, io: Io): Promise<string> {
  const piped = fromStdin(given, io);
  if (given === undefined && !piped)
    throw new Complaint('What should it do? Write: trackside run agent.ts "do this", or pipe the input in.');
  const message = (piped ? await readAll(io.stdin) : (given ?? "")).trim();
  if (message === "")
    throw new Complaint('The input is empty. Write: trackside run agent.ts "do this", or pipe it in.');
  return message;
}

export const command: Command = { help, run };
