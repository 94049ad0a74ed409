import type { Policy } from "../approvals/policy.ts";
import { chatLoop, chatPrompt } from "../chat-loop.ts";
import { EXIT } from "../command.ts";
import { type Io, isInteractive } from "../io.ts";
import { presenter } from "../present.ts";
import type { Prompt } from "../prompt.ts";
import type { Screen } from "../screen/screen.ts";
import type { Ending } from "../watch.ts";
import { chooseModel } from "./choose-model.ts";
import { NO_PACE, READING_PACE } from "./demo-model.ts";
import { onCallAgent } from "./on-call-agent.ts";
import { SUGGESTIONS } from "./rules.ts";

/**
 * The demo agent in a terminal. Without one it shows two turns, rejects what needs an approval, and ends.
 *
 * @param given `--model`
 */
export async function demoChat(io: Io, given: string | undefined): Promise<number> {
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
