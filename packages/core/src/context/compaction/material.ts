import type { AssistantPart, Message, UserPart } from "../../schema/message.ts";
import { outputText } from "../render.ts";
import { clip } from "./clip.ts";
import { earlierSummary } from "./texts.ts";

/** Something to be summarised: a message, or the summary of what came before it. */
export type Material = Message | { readonly role: "summary"; readonly text: string };

/** How many characters are kept of what was said, and of arguments and results. */
export interface Lengths {
  readonly said: number;
  readonly tools: number;
}

/** What the summariser reads of one piece of material. Reasoning is the model's own and not in it. */
export function lineOf(material: Material, { said, tools }: Lengths): string {
  switch (material.role) {
    case "summary":
      return clip(earlierSummary(material.text), Math.max(said, tools));
    case "user": {
      const { by_hook, parts } = material;
      const by = by_hook === undefined ? "User" : `Added by ${by_hook}`;
      return `${by}: ${clip(parts.map(userText).join("\n"), said)}`;
    }
    case "assistant": {
      const { parts, partial } = material;
      const text = clip(parts.map(saidText).join(""), said);
      const lines = text === "" ? [] : [`Assistant: ${text}${partial ? " [cut off]" : ""}`];
      for (const part of parts) {
        if (part.type !== "tool_call") continue;
        const written = part.arguments === null ? (part.raw ?? "") : JSON.stringify(part.arguments);
        lines.push(`Assistant called ${part.tool} with ${clip(written, tools)}`);
      }
      return lines.join("\n");
    }
    case "tool": {
      const { tool, output, told } = material;
      const text = clip(outputText(output), tools);
      const beside = told === undefined ? "" : ` [${clip(told, tools)}]`;
      return `${output.type === "error" ? `${tool} failed` : `Result of ${tool}`}: ${text}${beside}`;
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
