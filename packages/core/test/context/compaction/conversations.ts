import * as fc from "fast-check";
import type {
  AssistantPart,
  Message,
  ToolMessage,
  ToolOutput,
  UserMessage,
} from "../../../src/schema/message.ts";
import type { LogEntry } from "../../../src/schema/projection.ts";

/** What a run may do to a log, in the order in which it does it. */
export type Move =
  | { readonly kind: "turn"; readonly hooks: readonly string[]; readonly text: string }
  | { readonly kind: "step"; readonly text: string; readonly calls: readonly Planned[] }
  | { readonly kind: "steer"; readonly text: string }
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly partial: boolean;
      readonly hooks: readonly string[];
    }
  /** Room is made: so many percent of what may go can stay, and so many of that is aimed for. */
  | { readonly kind: "compact"; readonly share: number; readonly slack: number; readonly says: Says };

/** How the summariser behaves. */
export type Says = "text" | "null" | "nothing" | "too much" | "once";

interface Planned {
  readonly output: ToolOutput;
  readonly malformed: boolean;
}

const words = (most: number) =>
  fc
    .tuple(
      fc.constantFrom("alpha ", "βήτα ", "日本語", '{"k": 1}, ', "👩‍🚀 ", "\u0000\n"),
      fc.integer({ min: 0, max: most }),
    )
    .map(([word, times]) => word.repeat(times));

const output: fc.Arbitrary<ToolOutput> = fc.oneof(
  words(400).map((value) => ({ type: "text" as const, value })),
  words(100).map((value) => ({ type: "json" as const, value: { rows: [value, 1, null] } })),
  words(150).map((message) => ({
    type: "error" as const,
    failure: { code: "tool_failed" as const, message },
  })),
);

const planned: fc.Arbitrary<Planned> = fc.record({ output, malformed: fc.nat(5).map((n) => n === 0) });
const hooks = fc.array(words(30), { maxLength: 2 });

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("turn" as const), hooks, text: words(40) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      text: words(20),
      calls: fc.array(planned, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("steer" as const), text: words(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      text: words(60),
      partial: fc.nat(4).map((n) => n === 0),
      hooks,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("compact" as const),
      share: fc.integer({ min: -5, max: 110 }),
      slack: fc.integer({ min: 50, max: 100 }),
      says: fc.constantFrom<Says[]>("text", "text", "text", "null", "nothing", "too much", "once"),
    }),
  },
);

export const moves: fc.Arbitrary<readonly Move[]> = fc.array(move, {
  minLength: 1,
  maxLength: 50,
  size: "max",
});

/** A log while it is written, with what the loop knows of it. */
export class Writing {
  readonly entries: LogEntry[] = [];
  opening: { from: number; to: number } | null = null;
  #calls = 0;

  get upTo(): number {
    return this.entries.length;
  }

  make(move: Exclude<Move, { kind: "compact" }>): void {
    if (move.kind === "turn" || this.opening === null) this.#open(move);
    if (move.kind === "step") this.#step(move);
    else if (move.kind === "steer") this.entries.push(this.#user(move.text));
    else if (move.kind === "answer") {
      const parts: AssistantPart[] = [
        { type: "reasoning", text: "hm" },
        { type: "text", text: move.text },
      ];
      this.entries.push({
        id: this.#id(),
        role: "assistant",
        parts,
        ...(move.partial ? { partial: true as const } : {}),
      });
      for (const text of move.hooks) this.entries.push({ ...this.#user(text), by_hook: "notes" });
      this.opening = null;
    }
  }

  /** Takes back the last results: their calls are open. */
  reopen(): readonly string[] {
    const open: string[] = [];
    for (let last = this.entries.at(-1); last?.role === "tool"; last = this.entries.at(-1)) {
      open.push(last.call_id);
      this.entries.pop();
    }
    return open;
  }

  #open(move: Exclude<Move, { kind: "compact" }>): void {
    const from = this.upTo;
    for (const text of move.kind === "turn" ? move.hooks : [])
      this.entries.push({ ...this.#user(text), by_hook: "memory" });
    this.entries.push(this.#user(`question ${from} ${move.text}`));
    this.opening = { from, to: this.upTo };
  }

  #step({ text, calls }: Extract<Move, { kind: "step" }>): void {
    const parts: AssistantPart[] = text === "" ? [] : [{ type: "text", text }];
    const results: ToolMessage[] = [];
    for (const { output: found, malformed } of calls) {
      const call_id = `call-${this.#calls++}`;
      const about = { call_id, wire_id: `wire-${call_id}`, tool: "look" };
      parts.push({
        type: "tool_call",
        ...about,
        arguments: malformed ? null : { q: text },
        ...(malformed ? { raw: "{oh" } : {}),
      });
      results.push(toolResult(`${call_id}.result`, about, found));
    }
    this.entries.push({ id: this.#id(), role: "assistant", parts }, ...results);
  }

  #user(text: string): UserMessage {
    return { id: this.#id(), role: "user", parts: [{ type: "text", text }] };
  }

  #id(): string {
    return `m-${this.upTo}`;
  }
}

export function toolResult(
  id: string,
  about: Pick<ToolMessage, "call_id" | "wire_id" | "tool">,
  found: ToolOutput,
): ToolMessage {
  return {
    id,
    role: "tool",
    ...about,
    output: found,
    metadata: {
      status: found.type === "error" ? "error" : "success",
      started_at: 0,
      completed_at: 0,
      execution_time_ms: 0,
      approval_status: "not_required",
      approval_id: null,
      injected_args: {},
      offloaded_artifact_id: null,
      approval_wait_ms: 0,
      attempts: 1,
      skipped_by: null,
      original_args: null,
    },
  };
}

export function callIds(message: Message | LogEntry): string[] {
  return message.role === "assistant"
    ? message.parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []))
    : [];
}
