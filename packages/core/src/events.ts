import type { DurableEvent, DurableEventOf } from "./schema/durable-events.ts";
import type { LiveEvent } from "./schema/live-events.ts";
import type { ToolOutput } from "./schema/message.ts";
import type { Tool } from "./tools/define-tool.ts";

type ResultBase = Omit<DurableEventOf<"tool_result">, "tool" | "success" | "output">;

/** What is left of a value once it was written as JSON and read again. */
type AsJson<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends { toJSON(): infer Written }
      ? AsJson<Written>
      : T extends object
        ? { readonly [K in keyof T]: AsJson<T[K]> }
        : T;

/** A call that failed; also one of a tool that does not exist, whose name is then the model's invention. */
type FailedResult = ResultBase & {
  readonly tool: string;
  readonly success: false;
  readonly output: Extract<ToolOutput, { type: "error" }>;
};

/** The result of one tool: `output.value` has the type its function returns, as JSON has it. */
type ResultOf<T> =
  T extends Tool<infer Name, infer Output>
    ? ResultBase & {
        readonly tool: Name;
        readonly success: true;
        readonly output: { readonly type: "text" | "json"; readonly value: AsJson<Awaited<Output>> };
      }
    : DurableEventOf<"tool_result">;

/**
 * What `agent.stream()` yields. `event.type` tells them apart; for `tool_result`, `event.tool` and `event.success` narrow
 * the output to what that tool returns.
 */
export type AgentEvent<Tools extends readonly (Tool | string)[] = readonly Tool[]> =
  | Exclude<DurableEvent, { type: "tool_result" }>
  | ResultOf<Tools[number]>
  | FailedResult
  | LiveEvent;
