import type { AssistantPart, Message, UserPart } from "../../schema/message.ts";
import { outputText } from "../render.ts";
import { clip } from "./clip.ts";
import { earlierSummary } from "./texts.ts";

/** Something to be summarised: a message, or the summary of what came before it. `tokens` is what it counts for whole. */
export interface Material {
  readonly of: Message | { readonly role: "summary"; readonly text: string };
  readonly tokens: number;
}

/** How many characters are kept of what was said, and of arguments and results. */
export interface Lengths {
  readonly said: number;
  readonly tools: number;
}

/**
 * What the summariser reads of one piece of material, and about how many tokens that is: what the whole counts for, in
 * proportion. So nothing is counted again, however often lengths are tried.
 */
export function lineOf({ of, tokens }: Material, lengths: Lengths): { text: string; tokens: number } {
  const line = new Line();
  write(line, of, lengths);
  const share = line.whole === 0 ? 1 : line.text.length / line.whole;
  return { text: line.text, tokens: Math.ceil(tokens * share) + AROUND };
}

/** What a label and the space between two lines come to. */
const AROUND = 6;

class Line {
  text = "";
  /** How long it would be with nothing left out. */
  whole = 0;

  add(label: string, text: string, most: number, end = ""): void {
    if (this.text !== "") this.text += "\n";
    this.text += `${label}${clip(text, most)}${end}`;
    this.whole += label.length + text.length + end.length + 1;
  }
}

/** Reasoning is the model's own and not in it. */
function write(line: Line, of: Material["of"], { said, tools }: Lengths): void {
  switch (of.role) {
    case "summary":
      line.add("", earlierSummary(of.text), Math.max(said, tools));
      return;
    case "user":
      line.add(
        of.by_hook === undefined ? "User: " : `Added by ${of.by_hook}: `,
        of.parts.map(userText).join("\n"),
        said,
      );
      return;
    case "assistant": {
      const text = of.parts.map(saidText).join("");
      if (text !== "") line.add("Assistant: ", text, said, of.partial ? " [cut off]" : "");
      for (const part of of.parts) {
        if (part.type !== "tool_call") continue;
        const written = part.arguments === null ? (part.raw ?? "") : JSON.stringify(part.arguments);
        line.add(`Assistant called ${part.tool} with `, written, tools);
      }
      return;
    }
    case "tool": {
      const { tool, output, told } = of;
      const label = output.type === "error" ? `${tool} failed: ` : `Result of ${tool}: `;
      line.add(label, outputText(output), tools, told === undefined ? "" : ` [${clip(told, tools)}]`);
    }
  }
}

function userText(part: UserPart): string {
  return part.type === "text" ? part.text : `[file ${part.filename ?? part.media_type}]`;
}

function saidText(part: AssistantPart): string {
  if (part.type === "text") return part.text;
  return part.type === "file" ? `[file ${part.filename ?? part.media_type}]` : "";
}
