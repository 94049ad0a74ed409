import type { DurableEvent, DurableEventOf } from "./schema/durable-events.ts";
import type { LiveEvent } from "./schema/live-events.ts";
import type { ToolOutput } from "./schema/message.ts";
import type { Tool } from "./tools/define-tool.ts";

type ResultBase = Omit<DurableEventOf<"tool_result">, "tool" | "success" | "output">;

/** The result of one tool: `output.value` has the type its function returns. */
type ResultOf<T> =
  T extends Tool<infer Name, infer Output>
    ? ResultBase & { readonly tool: Name } & (
          | {
              readonly success: true;
              readonly output: { readonly type: "text" | "json"; readonly value: Awaited<Output> };
            }
          | { readonly success: false; readonly output: Extract<ToolOutput, { type: "error" }> }
        )
    : DurableEventOf<"tool_result">;

/**
 * What `agent.stream()` yields. `event.type` tells them apart; for `tool_result`, `event.tool` and `event.success` narrow
 * the output to what that tool returns.
 */
export type AgentEvent<Tools extends readonly (Tool | string)[] = readonly Tool[]> =
  | Exclude<DurableEvent, { type: "tool_result" }>
  | ResultOf<Tools[number]>
  | LiveEvent;
