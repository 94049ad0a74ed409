import { spawn } from "node:child_process";
import { readArguments } from "../arguments.ts";
import { type Command, EXIT, showHelp } from "../command.ts";
import { configFile } from "../config/find-config.ts";
import type { Io } from "../io.ts";
import { SERVING_OPTIONS, SERVING_OPTIONS_HELP } from "../serve/options.ts";

const help = `trackside dev    serves the config and starts again whenever one of its files changes

It is \`trackside start\` under a watcher: the config and everything it imports. Runs under way go on in the next
process, as after any restart.

Options
${SERVING_OPTIONS_HELP}
  --help                  shows this

Exit codes
  0    it was told to stop
  1    it could not be started
  2    wrong usage or configuration

Examples
  trackside dev
  trackside dev --port 8080
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArguments(args, SERVING_OPTIONS);
  if (values.help) return showHelp(io, help);
  const config = configFile(values.config, io.cwd);
  const { signal, done } = await watched(io, ["start", ...args, "--config", config]);
  return signal === null ? done : EXIT.completed;
}

/** Node itself knows which files a process has loaded, and starts it again when one of them changes. */
async function watched(
  { signals }: Io,
  args: readonly string[],
): Promise<{ done: number; signal: NodeJS.Signals | null }> {
  const program = process.argv[1] ?? "";
  const child = spawn(
    process.execPath,
    ["--watch", "--watch-preserve-output", ...process.execArgv, program, ...args],
    { stdio: "inherit" },
  );
  for (const signal of SIGNALS) signals.on(signal, () => void child.kill(signal));
  const ended = Promise.withResolvers<{ done: number; signal: NodeJS.Signals | null }>();
  child.once("error", ended.reject);
  child.once("exit", (code, signal) => ended.resolve({ done: code ?? 0, signal }));
  return ended.promise;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export const command: Command = { help, run };
