import type { Policy } from "../approvals/policy.ts";
import { readArguments, readModel } from "../arguments.ts";
import { chatLoop, chatPrompt } from "../chat-loop.ts";
import { type Command, EXIT, EXIT_HELP } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { chooseModel } from "../demo/choose-model.ts";
import { NO_PACE, READING_PACE } from "../demo/demo-model.ts";
import { onCallAgent } from "../demo/on-call-agent.ts";
import { SUGGESTIONS } from "../demo/rules.ts";
import { type Io, isInteractive } from "../io.ts";
import { presenter } from "../present.ts";
import type { Prompt } from "../prompt.ts";
import type { Screen } from "../screen/screen.ts";
import type { Ending } from "../watch.ts";

const help = `trackside start    opens a chat with a demo agent, an on-call assistant for a made-up shop

Without anything set up the agent runs on a scripted demo model, which is no AI. With OPENAI_API_KEY or
ANTHROPIC_API_KEY set, or with --model, the same agent runs on a real one. A model server on this machine
(Ollama, LM Studio) is offered. Opening an incident needs your approval. Without a terminal it shows two
turns, rejects what needs an approval, and ends.

Options
  --model provider:name   the model to run on
  --help                  shows this

${EXIT_HELP}
`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(args, {
    model: { type: "string" },
    help: { type: "boolean", short: "h" },
  });
  if (values.help) {
    io.stdout.write(help);
    return EXIT.completed;
  }
  const given = readModel(values.model ?? swallowedByNpm(io.env, positionals));
  if (positionals[0] !== undefined) {
    const hint = "To run an agent of yours: trackside run agent.ts";
    throw new Complaint(`start takes no ${JSON.stringify(positionals[0])}. ${hint}`);
  }
  const { output, screen, turn } = presenter(io, { wrapFiles: true });
  if (!isInteractive(io)) {
    const { model, about } = await chooseModel({ io, given, pace: NO_PACE });
    const agent = onCallAgent(model);
    introduce(screen, about);
    let last: Ending = { exitCode: EXIT.completed, conversation: undefined };
    for (const question of [SUGGESTIONS[0], SUGGESTIONS[2]]) {
      screen.line(`› ${question}`);
      screen.line();
      last = await turn(agent, question, { approve: NOBODY_HERE, conversation: last.conversation });
      screen.line();
      if (last.exitCode !== EXIT.completed) return last.exitCode;
    }
    screen.paragraph(
      "The demo rejected the incident by itself, because nobody is at a terminal. There you are asked.",
    );
    return last.exitCode;
  }

  const prompt = chatPrompt(io, output, screen);
  const approve: Policy = { kind: "person", prompt: () => prompt };
  const pick = (models: readonly string[]) => pickModel(models, prompt, screen);
  const chosen = await chooseModel({ io, given, pace: READING_PACE, pick });
  const agent = onCallAgent(chosen.model);
  introduce(screen, chosen.about);
  screen.line("  Try:");
  for (const one of SUGGESTIONS) screen.line(`    ${screen.paint("cyan", one)}`);
  screen.line();
  screen.paragraph("/help lists commands, Ctrl-C stops a turn, Ctrl-D leaves.", 2, "dim");
  screen.line();
  return chatLoop({
    prompt,
    screen,
    suggestions: SUGGESTIONS,
    turn: (message, conversation) => turn(agent, message, { approve, conversation }),
  });
}

const NOBODY_HERE: Policy = {
  kind: "none",
  by: "the demo",
  reason: "nobody is at a terminal to approve it",
};

const GUARDED =
  "Two things guard it: opening an incident needs a human's approval, and a rail takes e-mail addresses out of what the tools return.";

function introduce(screen: Screen, about: string): void {
  screen.line(`${screen.paint("bold", "Trackside demo")} · on call for a small made-up shop`);
  screen.line();
  screen.paragraph(about, 2);
  screen.line();
  screen.paragraph(GUARDED, 2);
  screen.line();
}

/** `npm start --model x`, without the `--` between: npm takes the option for its own and leaves us the pieces. */
function swallowedByNpm(env: Io["env"], positionals: string[]): string | undefined {
  const option = env.npm_lifecycle_event === "start" ? env.npm_config_model : undefined;
  return option === "true" ? positionals.shift() : option;
}

/** Undefined when the scripted demo is wanted, which is what Enter means. */
async function pickModel(
  models: readonly string[],
  prompt: Prompt,
  screen: Screen,
): Promise<string | undefined> {
  screen.line("A model server runs on this machine. Which model should answer?");
  screen.line();
  for (const [i, model] of models.entries())
    screen.line(`  ${screen.paint("cyan", String(i + 1))}      ${model}`);
  screen.line(`  ${screen.paint("cyan", "Enter")}  the scripted demo`);
  screen.line();
  for (;;) {
    const answer = (await prompt.ask())?.trim();
    screen.line();
    if (answer === undefined || answer === "") return undefined;
    const picked = models[Number(answer) - 1] ?? models.find((model) => model === answer);
    if (picked !== undefined) return picked;
    screen.line(`A number from 1 to ${models.length}, or Enter.`);
  }
}

export const command: Command = { help, run };
