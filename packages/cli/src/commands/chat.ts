import { policyFor, readApprove } from "../approvals/policy.ts";
import { readArguments, readModel } from "../arguments.ts";
import { chatLoop, chatPrompt } from "../chat-loop.ts";
import { type Command, EXIT, EXIT_HELP } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { type Io, isInteractive } from "../io.ts";
import { loadAgent } from "../load-agent.ts";
import { onModel } from "../on-model.ts";
import { presenter } from "../present.ts";
import { cleanLine } from "../screen/clean.ts";

const help = `trackside chat <agent>    talks to an agent, turn by turn

  <agent>   a .ts or .js file that exports an Agent (as default, or as \`agent\`), or a definition as .json

Options
  --model provider:name   runs on this model instead of the agent's own and its fallbacks
  --tools file            with a .json definition: the file that exports the tools it names
  --json                  prints every event as one line of JSON on stdout; the prompt goes to stderr
  --approve ask           asks you about each call that needs an approval; on a terminal this is the default
  --approve none          rejects each such call; without a terminal this is the default
  --approve all           approves every one of them, unseen: whatever the agent asks for is done
  --help                  shows this

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
    help: { type: "boolean", short: "h" },
  });
  if (values.help) {
    io.stdout.write(help);
    return EXIT.completed;
  }
  const [file, extra] = positionals;
  if (file === undefined) throw new Complaint("Which agent? Write: trackside chat agent.ts");
  if (extra !== undefined)
    throw new Complaint(
      `One file expected, then ${JSON.stringify(extra)} came. For a single turn: trackside run.`,
    );
  const model = readModel(values.model);
  const word = readApprove(values.approve);
  const { output, screen, turn } = presenter(io, { json: values.json === true });
  const interactive = isInteractive({ ...io, stdout: output });
  const approve = policyFor(word, {
    policy: interactive ? { kind: "person", prompt: () => prompt } : undefined,
    byDefault: interactive,
    otherwise: "--approve ask: there is no terminal to ask on, and the lines of stdin are messages.",
  });

  const agent = await loadAgent({ file, tools: values.tools, model }, io.cwd);
  const on = model === undefined ? undefined : { model, engine: onModel(agent, model) };
  const { name } = agent.definition;
  screen.line(`${screen.paint("bold", cleanLine(name))} on ${cleanLine(model ?? agent.definition.model)}`);
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
