import type { Message } from "trackside";
import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { onOne } from "../../config/on-one.ts";
import { cleanLine } from "../../screen/clean.ts";
import { escapeHidden, jsonText } from "../../screen/json-text.ts";
import { counted } from "../../screen/numbers.ts";
import type { Screen } from "../../screen/screen.ts";

const help = `trackside conversations show <id>    shows what was said

  <id>      the id of a conversation or a branch, or an end of it that no other has

Options
  --json                  prints each message as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside conversations show k3x9q2ab
`;

const INDENT = 2;

export const show = onOne({
  help,
  usage: "trackside conversations show <id>",
  table: "branches",
  async work({ trackside, scope, json, screen, line }, id) {
    const messages = await trackside.conversations.messages(id, scope);
    if (json) for (const message of messages) line(message);
    else {
      screen.line(`${screen.paint("bold", id)} · ${counted(messages.length, "message")}`);
      for (const message of messages) showMessage(screen, message);
    }
  },
});

/** What others wrote is indented, so that none of it can pass for a line of ours. */
function showMessage(screen: Screen, message: Message): void {
  screen.line();
  if (message.role === "tool") {
    screen.line(`${screen.paint("dim", "result of")} ${screen.paint("bold", cleanLine(message.tool))}`);
    const { output } = message;
    if (output.type === "error") screen.paragraph(output.failure.message, INDENT, "red");
    else
      screen.paragraph(
        output.type === "text"
          ? output.value
          : escapeHidden(jsonText(output.value, screen.pageWidth - INDENT)),
        INDENT,
      );
    return;
  }
  const by =
    message.role === "user" && message.by_hook !== undefined ? `, by ${cleanLine(message.by_hook)}` : "";
  screen.line(screen.paint(message.role === "user" ? "cyan" : "green", `${message.role}${by}`));
  for (const part of message.parts) {
    if (part.type === "text") screen.paragraph(part.text, INDENT);
    else if (part.type === "reasoning") screen.paragraph(part.text, INDENT * 2, "dim");
    else if (part.type === "file") screen.line(`  [${cleanLine(part.filename ?? part.media_type)}]`);
    else {
      const args =
        part.arguments === null ? (part.raw ?? "") : jsonText(part.arguments, screen.pageWidth - INDENT);
      screen.paragraph(escapeHidden(`→ ${part.tool} ${args}`), INDENT);
    }
  }
}
