import type { ToolMessage } from "../../schema/message.ts";
import { outputText } from "../render.ts";
import { stubText } from "./texts.ts";

/** A result with fewer characters is no longer than its stub. */
const WORTH_IT = 400;

/** Made once for each result, so that whoever remembers what a message counts for remembers its stub too. */
const stubs = new WeakMap<ToolMessage, ToolMessage>();

/** A tool result as it is sent once it is old: what it was, how long, and where it is kept. A short one stays as it is. */
export function stubbed(message: ToolMessage): ToolMessage {
  let stub = stubs.get(message);
  if (stub === undefined) {
    stub = made(message);
    stubs.set(message, stub);
  }
  return stub;
}

function made(message: ToolMessage): ToolMessage {
  const { output, told, tool, metadata } = message;
  const characters = outputText(output).length + (told?.length ?? 0);
  if (characters < WORTH_IT) return message;
  const text = stubText(tool, characters, metadata.offloaded_artifact_id);
  const { told: _told, ...kept } = message;
  return {
    ...kept,
    output:
      output.type === "error"
        ? { type: "error", failure: { code: output.failure.code, message: text } }
        : { type: "text", value: text },
  };
}
