import { type ApproveWord, policyFor, readApprove } from "../approvals/policy.ts";
import { readArguments, readModel } from "../arguments.ts";
import { chatLoop, chatPrompt } from "../chat-loop.ts";
import { type Command, EXIT, EXIT_HELP } from "../command.ts";
import { Complaint } from "../complaint.ts";
import {
  configuredAgent,
  DURABLE_OPTIONS,
  type DurableValues,
  isConfigured,
  turnInStore,
} from "../config/configured-agent.ts";
import { findConfig } from "../config/find-config.ts";
import { type InStore, inStore } from "../config/in-store.ts";
import { demoChat } from "../demo/demo-chat.ts";
import { type Io, isInteractive } from "../io.ts";
import { loadAgent } from "../load-agent.ts";
import { onModel } from "../on-model.ts";
import { type Presenter, presenter, presenterOn, type Runnable, type TurnOptions } from "../present.ts";
import { cleanLine } from "../screen/clean.ts";
import { NO_MODEL, onTemporal } from "../temporal/on-temporal.ts";
import { onlyFiles } from "../temporal/only-files.ts";
import { readTarget, TEMPORAL_OPTIONS, TEMPORAL_OPTIONS_HELP } from "../temporal/options.ts";
import { whoAmI } from "../who.ts";

const help = `trackside chat <agent>    talks to an agent, turn by turn
trackside chat            talks to a demo agent, an on-call assistant for a made-up shop; needs no key

  <agent>   a .ts or .js file that exports an Agent (as default, or as \`agent\`), or a definition as .json;
            or the name of an agent in trackside.config.ts: then the conversation is kept in its store

Options
  --model provider:name   runs on this model instead of the agent's own and its fallbacks
  --tools file            with a .json definition: the file that exports the tools it names
  --json                  prints every event as one line of JSON on stdout; the prompt goes to stderr
  --approve ask           asks you about each call that needs an approval; on a terminal this is the default
  --approve none          rejects each such call; without a terminal this is the default
  --approve all           approves every one of them, unseen: whatever the agent asks for is done
  --help                  shows this

With an agent of trackside.config.ts also
  --conversation id       goes on with this conversation
  --approve wait          leaves each such call to "trackside approvals"; without a terminal this is the default
  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --tenant name           whose it is; "default" unless given

With a file and Temporal: the conversation is kept in a store, and workers do what it asks for (trackside worker --help)
  --engine temporal       has Temporal drive the turns; --temporal implies it. "local", this process, is the default
${TEMPORAL_OPTIONS_HELP}
  --conversation, --approve wait and --tenant as above

In the chat
  /help, /new, /quit      commands
  Ctrl-C                  stops the turn that is running; at the prompt, twice leaves
  Ctrl-D                  leaves
  a, r, e, ?              when a call needs an approval: approve, reject, edit its arguments, help

Without a terminal each line of stdin is a message, and the exit code says how the turns went.

${EXIT_HELP}
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(args, {
    model: { type: "string" },
    tools: { type: "string" },
    json: { type: "boolean" },
    approve: { type: "string" },
    ...DURABLE_OPTIONS,
    ...TEMPORAL_OPTIONS,
    help: { type: "boolean", short: "h" },
  });
  if (values.help) {
    io.stdout.write(help);
    return EXIT.completed;
  }
  const [file, extra] = positionals;
  if (file === undefined) {
    if (findConfig(io.cwd) !== undefined) throw new Complaint("Which agent? Write: trackside chat <name>");
    return demoChat(io, readModel(values.model));
  }
  if (extra !== undefined)
    throw new Complaint(
      `One file expected, then ${JSON.stringify(extra)} came. For a single turn: trackside run.`,
    );
  const model = readModel(values.model);
  const word = readApprove(values.approve);
  const target = readTarget(values, io.env, ["local", "temporal"]);
  if (isConfigured(file, values, io.cwd, target === undefined ? undefined : ["config"])) {
    onlyFiles(file, values);
    return inStore(io, values, (opened) => chatInStore(io, opened, file, values));
  }
  if (target !== undefined) {
    if (model !== undefined) throw new Complaint(NO_MODEL);
    const { tools, ...rest } = values;
    return onTemporal(io, values, { source: { file, tools }, target }, (opened, name) =>
      chatInStore(io, opened, name, rest),
    );
  }
  const present = presenter(io, { json: values.json === true });
  const agent = await loadAgent({ file, tools: values.tools, model }, io);
  const on = model === undefined ? undefined : { model, engine: onModel(agent, model) };
  const { name } = agent.definition;
  return chat(io, present, word, { name, agent, on, about: model ?? agent.definition.model });
}

async function chatInStore(
  io: Io,
  opened: InStore,
  name: string,
  values: DurableValues & { readonly approve?: string | undefined },
): Promise<number> {
  const agent = await configuredAgent(opened, name, values);
  const about = `${agent.definition.model}, in ${agent.store}`;
  const present = presenterOn(io, opened);
  const turn: Presenter["turn"] = (...args) => turnInStore(opened, agent, () => present.turn(...args));
  const partner = { name, agent, about, by: whoAmI(io.env), waits: opened.fromFile !== true };
  return chat(io, { ...present, turn }, readApprove(values.approve), partner);
}

interface Partner {
  readonly name: string;
  readonly agent: Runnable;
  readonly about: string;
  readonly on?: TurnOptions["on"];
  /** Of a conversation in a store: who sits here. */
  readonly by?: string;
  /** Whether calls wait by default, where nobody sits here: `trackside approvals` needs a config. */
  readonly waits?: boolean;
}

function chat(
  io: Io,
  { output, screen, turn }: Presenter,
  given: ApproveWord | undefined,
  { name, agent, about, on, by, waits = true }: Partner,
): Promise<number> {
  const interactive = isInteractive({ ...io, stdout: output });
  const word = given ?? (interactive || waits ? undefined : "none");
  const approve = policyFor(word, {
    policy: interactive
      ? { kind: "person", prompt: () => prompt, ...(by === undefined ? {} : { by }) }
      : undefined,
    byDefault: interactive,
    durable: by !== undefined,
    otherwise: "--approve ask: there is no terminal to ask on, and the lines of stdin are messages.",
  });
  screen.line(`${screen.paint("bold", cleanLine(name))} on ${cleanLine(about)}`);
  screen.line(screen.paint("dim", "/help lists commands, Ctrl-D leaves."));
  screen.line();
  const prompt = chatPrompt(io, output, screen);
  return chatLoop({
    prompt,
    screen,
    turn: (message, conversation) => turn(agent, message, { conversation, on, approve }),
  });
}

export const command: Command = { help, run };
