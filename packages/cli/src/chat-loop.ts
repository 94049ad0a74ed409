import type { Conversation } from "trackside";
import { EXIT } from "./command.ts";
import { type Io, isInteractive, type Output } from "./io.ts";
import { Prompt } from "./prompt.ts";
import { clean } from "./screen/clean.ts";
import type { Screen } from "./screen/screen.ts";
import type { Ending } from "./watch.ts";

export interface Chat {
  readonly screen: Screen;
  readonly prompt: Prompt;
  /** Runs one turn and shows it. */
  readonly turn: (message: string, conversation: Conversation | undefined) => Promise<Ending>;
  /** What could be typed, for /help. */
  readonly suggestions?: readonly string[];
}

const HELP = `/new   starts a new conversation
/quit  leaves, as Ctrl-D does
Ctrl-C stops the turn that is running`;

/** The prompt of a chat, on the stream that everything is said on. */
export function chatPrompt(io: Io, output: Output, screen: Screen): Prompt {
  return new Prompt({
    input: io.stdin,
    output,
    interactive: isInteractive({ ...io, stdout: output }),
    prompt: `${mark(screen)} `,
    onFirstInterrupt: () => screen.line(screen.paint("dim", "Ctrl-C again or Ctrl-D leaves.")),
  });
}

/** Turn after turn of one conversation, until the user leaves or the input ends. Resolves to the exit code. */
export async function chatLoop({ prompt, screen, turn, suggestions }: Chat): Promise<number> {
  const { interactive } = prompt;
  let conversation: Conversation | undefined;
  let exitCode: number = EXIT.completed;
  try {
    for (let given = await prompt.ask(); given !== null; given = await prompt.ask()) {
      const message = given.trim();
      if (message === "") continue;
      if (!interactive) screen.line(`${mark(screen)} ${clean(message)}`);
      const command = /^\/[a-z]*$/.exec(message)?.[0];
      if (command === "/quit" || command === "/exit") break;
      if (command === "/new") conversation = undefined;
      if (command !== undefined) {
        screen.paragraph(reply(command, suggestions));
        screen.line();
        continue;
      }
      screen.line();
      const ending = await turn(message, conversation);
      screen.line();
      conversation = ending.conversation ?? conversation;
      if (interactive) continue;
      // Nobody is there to see a turn fail and go on, so the exit code says it.
      if (ending.exitCode > EXIT.usage) return ending.exitCode;
      if (ending.exitCode !== EXIT.completed) exitCode = ending.exitCode;
    }
  } finally {
    prompt.close();
  }
  return exitCode;
}

function mark(screen: Screen): string {
  return screen.paint(["bold", "cyan"], "›");
}

function reply(command: string, suggestions: readonly string[] = []): string {
  switch (command) {
    case "/help":
      return suggestions.length === 0
        ? HELP
        : `${HELP}\n\nTry:\n${suggestions.map((one) => `  ${one}`).join("\n")}`;
    case "/new":
      return "A new conversation. What was said before is forgotten.";
    default:
      return `There is no command ${command}. /help lists them.`;
  }
}
