import { readArguments, readModel } from "../arguments.ts";
import { type Command, EXIT, EXIT_HELP } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { type Io, readAll } from "../io.ts";
import { loadAgent } from "../load-agent.ts";
import { onModel } from "../on-model.ts";
import { presenter } from "../present.ts";
import { cleanLine } from "../screen/clean.ts";

const help = `trackside run <agent> [input]    runs one turn and shows it

  <agent>   a .ts or .js file that exports an Agent (as default, or as \`agent\`), or a definition as .json
  [input]   the user's message; "-" or nothing reads it from stdin

Options
  --model provider:name   runs on this model instead of the agent's own and its fallbacks
  --tools file            with a .json definition: the file that exports the tools it names
  --json                  prints every event as one line of JSON on stdout, and nothing else there
  --help                  shows this

${EXIT_HELP}

Examples
  trackside run agent.ts "What changed since yesterday?"
  git log -5 | trackside run agent.ts -
  trackside run agent.json --tools tools.ts --model ollama:llama3.2 "Hello"
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(args, {
    model: { type: "string" },
    tools: { type: "string" },
    json: { type: "boolean" },
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
  const json = values.json === true;
  const present = presenter(io, { json });

  const agent = await loadAgent({ file, tools: values.tools, model }, io.cwd);
  const message = await readMessage(input, io);
  const { screen } = present;
  if (!json) {
    const { name } = agent.definition;
    screen.line(screen.paint("dim", cleanLine(`${name} on ${model ?? agent.definition.model}`)));
    screen.line();
  }
  const on = model === undefined ? undefined : { model, engine: onModel(agent, model) };
  return (await present.turn(agent, message, { on })).exitCode;
}

async function readMessage(given: string | undefined, io: Io): Promise<string> {
  const fromStdin = given === "-" || (given === undefined && !io.stdin.isTTY);
  if (given === undefined && !fromStdin)
    throw new Complaint('What should it do? Write: trackside run agent.ts "do this", or pipe the input in.');
  const message = (fromStdin ? await readAll(io.stdin) : (given ?? "")).trim();
  if (message === "")
    throw new Complaint('The input is empty. Write: trackside run agent.ts "do this", or pipe it in.');
  return message;
}

export const command: Command = { help, run };
