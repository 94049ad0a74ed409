import { noMore, readArguments, readModel } from "../arguments.ts";
import { type Command, showHelp } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { configFile, findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { demoRoom } from "../demo/demo-room.ts";
import { type Io, isInteractive } from "../io.ts";
import type { Screen } from "../screen/screen.ts";
import { SERVING_OPTIONS, SERVING_OPTIONS_HELP, whereOf } from "../serve/options.ts";
import { openingLink, type Serving, serve } from "../serve/serve.ts";

const help = `trackside start    serves the control room: agents, runs, approvals, and the HTTP API

With a trackside.config.ts here or in a folder above it serves that. Without one it serves a demo on a store of its own
in .trackside/, with two agents on a scripted model, which is no AI; with OPENAI_API_KEY or ANTHROPIC_API_KEY set, or with
--model, the same agents run on a real one. It prints a link that opens signed in. trackside chat is the demo in a terminal.

Options
${SERVING_OPTIONS_HELP}
  --model provider:name   the model of the demo's agents
  --help                  shows this

Ctrl-C or SIGTERM leaves runs where they are, for the next start, and exits with 0; a second one exits at once.

Exit codes
  0    it was told to stop
  1    it could not be started, or was stopped the hard way
  2    wrong usage or configuration

Examples
  trackside start
  trackside start --port 8080
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(args, SERVING_OPTIONS);
  if (values.help) return showHelp(io, help);
  const given = readModel(values.model ?? swallowedByNpm(io.env, positionals));
  if (positionals[0] !== undefined && /\.[cm]?[tj]s$/.test(positionals[0]))
    throw new Complaint(
      `start takes no ${JSON.stringify(positionals[0])}. To run an agent of yours: trackside run ${positionals[0]}`,
    );
  noMore(positionals, 0, "trackside start");
  const where = whereOf(values);
  if (values.config === undefined && findConfig(io.cwd) === undefined) {
    const { trackside, server, about } = await demoRoom(io, given, where);
    return serve({
      io,
      trackside,
      server,
      introduce: (screen) => introduceDemo(io, screen, { trackside, server }, about),
    });
  }
  if (given !== undefined)
    throw new Complaint("--model is for the demo: what an agent of the config runs on is said there.");
  const { trackside, server: make } = await loadConfig(configFile(values.config, io.cwd), io);
  const server = await make(where);
  return serve({
    io,
    trackside,
    server,
    introduce: (screen, url) => introduce(screen, { trackside, server }, url),
  });
}

type Served = Pick<Serving, "trackside" | "server">;

async function introduce(screen: Screen, { trackside, server }: Served, url: string): Promise<void> {
  const { store, registry } = trackside.engine;
  screen.line(`${screen.paint("bold", "Trackside")} · ${store.name}`);
  screen.line();
  screen.line(`  ${screen.paint("cyan", url)}`);
  const setup = await server.setupLink();
  if (setup !== undefined) {
    screen.line();
    screen.paragraph(
      "Nobody can sign in yet. This link makes the first admin; it works once, within an hour:",
      2,
    );
    screen.line();
    screen.line(`  ${screen.paint("cyan", setup)}`);
  }
  screen.line();
  const names = registry.names.join(", ");
  screen.paragraph(
    names === "" ? "No agents in the config: make one there." : `Agents of the config: ${names}.`,
    2,
  );
  screen.paragraph("Ctrl-C stops. Runs under way go on at the next start.", 2, "dim");
}

async function introduceDemo(io: Io, screen: Screen, served: Served, about: string): Promise<void> {
  const { trackside, server } = served;
  screen.line(
    `${screen.paint("bold", "Trackside demo")} · a small made-up shop, in ${trackside.engine.store.name}`,
  );
  screen.line();
  screen.paragraph(about, 2);
  screen.line();
  await showLink(screen, served);
  screen.paragraph(
    "The link signs you in, once. trackside chat is the demo in a terminal. Ctrl-C stops.",
    2,
    "dim",
  );
  if (!isInteractive(io)) return;
  screen.paragraph("Enter prints another link.", 2, "dim");
  io.stdin.on("data", () => void showLink(screen, { trackside, server }).catch(() => {})); // it is closing
}

async function showLink(screen: Screen, { trackside, server }: Served): Promise<void> {
  const link = await openingLink(trackside, server);
  screen.line(`  Open  ${screen.paint("cyan", link)}`);
  screen.line();
}

/** `npm start --model x`, without the `--` between: npm takes the option for its own and leaves us the pieces. */
function swallowedByNpm(env: Io["env"], positionals: string[]): string | undefined {
  const option = env.npm_lifecycle_event === "start" ? env.npm_config_model : undefined;
  return option === "true" ? positionals.shift() : option;
}

export const command: Command = { help, run };
