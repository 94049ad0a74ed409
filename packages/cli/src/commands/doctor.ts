import { noMore, readArguments } from "../arguments.ts";
import { type Command, EXIT, showHelp } from "../command.ts";
import { configFile, findConfig } from "../config/find-config.ts";
import { checkConfig } from "../doctor/config.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkMachine } from "../doctor/machine.ts";
import { checkModels } from "../doctor/models.ts";
import { claimStdout, type Io } from "../io.ts";
import { jsonLine } from "../screen/clean.ts";
import { Screen } from "../screen/screen.ts";

const help = `trackside doctor    looks at the machine and the config, and says what to do

Node, the folder, disk, clock, keys of model providers, model servers on this machine; with a config: whether it loads,
its agents, its store, its audit, whether somebody can sign in, whether its port is free. It changes nothing, but for
making or upgrading the tables of a store that is opened for the first time.

Options
  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --json                  prints each finding as one line of JSON: {"what", "state", "detail", "next"}
  --help                  shows this

Exit codes
  0    nothing is wrong
  1    something is, and it says what to do
  2    wrong usage

Examples
  trackside doctor
  trackside doctor --json
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(args, {
    config: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  if (values.help) return showHelp(io, help);
  noMore(positionals, 0, "trackside doctor");
  const config = values.config === undefined ? findConfig(io.cwd) : configFile(values.config, io.cwd);
  const isJson = values.json === true;
  const write = isJson ? claimStdout(io) : undefined; // whatever the config prints
  const screen = new Screen(isJson ? io.stderr : io.stdout, io.env);
  let wrong = 0;
  const tell = (finding: Finding) => {
    if (finding.state === "wrong") wrong += 1;
    if (write) write(`${jsonLine(finding)}\n`);
    else show(screen, finding);
  };
  for await (const finding of checkMachine(io)) tell(finding);
  for await (const finding of checkModels(io)) tell(finding);
  if (config === undefined)
    tell({
      what: "Config",
      state: "note",
      detail: "there is no trackside.config.ts here or above",
      next: "Nothing to do for the demo: trackside start. For agents of your own, see docs/guides/quickstart.md.",
    });
  else for await (const finding of checkConfig(io, config)) tell(finding);
  if (!isJson) {
    screen.line();
    screen.line(
      wrong === 0 ? "Nothing is wrong." : `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong.`,
    );
  }
  return wrong === 0 ? EXIT.completed : EXIT.failed;
}

const MARKS = { ok: ["green", "✓"], note: ["dim", "·"], wrong: ["red", "✗"] } as const;

function show(screen: Screen, { what, state, detail, next }: Finding): void {
  const [style, mark] = MARKS[state];
  screen.line(`${screen.paint(style, mark)} ${screen.paint("bold", what)}  ${detail}`);
  if (next !== undefined) screen.paragraph(next, 4, state === "wrong" ? undefined : "dim");
}

export const command: Command = { help, run };
