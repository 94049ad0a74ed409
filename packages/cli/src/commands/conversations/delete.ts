import { noMore, readArguments } from "../../arguments.ts";
import { chatPrompt } from "../../chat-loop.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import {
  type InStore,
  inStore,
  STORE_EXIT_HELP,
  STORE_OPTIONS,
  STORE_OPTIONS_HELP,
} from "../../config/in-store.ts";
import { type Io, isInteractive } from "../../io.ts";
import { counted } from "../../screen/numbers.ts";
import { findId } from "../../short-id.ts";

const help = `trackside conversations delete <id>    erases a conversation

  <id>      the id of a conversation, or an end of it that no other has

Everything of it goes: messages of all its branches, runs, approvals and artifacts. A run under way on it is stopped.
The audit holds digests only, and still verifies. It cannot be undone.

Options
  --yes                   does not ask
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations delete k3x9q2ab
  trackside conversations delete k3x9q2ab --yes
`;

export const remove: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...STORE_OPTIONS, yes: { type: "boolean" } });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside conversations delete <id>");
    const asks = values.yes !== true;
    if (asks && !isInteractive(io))
      throw new Complaint("It cannot be undone, and nobody is there to ask. Add --yes to delete it.");
    return inStore(io, values, async (opened) => {
      const { trackside, scope, json, screen, line } = opened;
      const branch = await findId(trackside, "branches", positionals[0], scope.tenant);
      const { id, branches, agent } = await trackside.conversations.get(branch, scope);
      const messages = Math.max(0, ...branches.map(({ length }) => length));
      const what = `${id} (${[agent, counted(messages, "message")].filter(Boolean).join(", ")})`;
      if (asks && !(await confirmed(opened, io, `Erase ${what}? It cannot be undone.`))) {
        screen.line("Nothing was deleted.");
        return EXIT.completed;
      }
      await trackside.conversations.delete(id, scope);
      if (json) line({ id, deleted: true });
      else screen.line(`${id} is erased.`);
      return EXIT.completed;
    });
  },
};

async function confirmed({ output, screen }: InStore, io: Io, question: string): Promise<boolean> {
  const prompt = chatPrompt(io, output, screen);
  try {
    screen.line(question);
    const answer = await prompt.question({ prompt: () => "yes or no › ", signal: io.gone });
    return answer.kind === "answer" && /^y(es)?$/i.test(answer.text.trim());
  } finally {
    prompt.close();
  }
}
