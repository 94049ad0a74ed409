import type { Message, ToolMessage } from "trackside";

/** The results of a tool's calls, in call order: what it returned, or why it did not run. */
export function results(messages: readonly Message[], tool?: string): readonly unknown[] {
  return messages
    .filter(
      (message): message is ToolMessage => message.role === "tool" && (tool ?? message.tool) === message.tool,
    )
    .map(({ output }) =>
      output.type === "error" ? `${output.failure.code}: ${output.failure.message}` : output.value,
    );
}
