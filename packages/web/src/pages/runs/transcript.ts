import type { EventOf, RunEvent } from "./types.ts";

/** One thing of the conversation, in the order it was said and done. */
export type TranscriptItem =
  | {
      readonly kind: "said";
      readonly id: string;
      readonly at: number;
      readonly text: string;
      readonly partial: boolean;
      readonly retracted?: string;
    }
  | { readonly kind: "thought"; readonly id: string; readonly at: number; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly at: number;
      readonly call: EventOf<"tool_call">;
      result?: EventOf<"tool_result">;
    }
  | {
      readonly kind: "injected";
      readonly id: string;
      readonly at: number;
      readonly event: EventOf<"message_injected">;
    }
  | { readonly kind: "mark"; readonly id: string; readonly at: number; readonly text: string };

/**
 * What was said and done in a run itself: sub-agents have their own pages, and their results are here. Drafts that were
 * taken back stay, and say why.
 */
export function transcriptOf(events: readonly RunEvent[], runId: string): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  const calls = new Map<string, number>();
  const said = new Map<string, number[]>();
  for (const event of events) {
    if (event.run_id !== runId) continue;
    const place = { id: String(event.seq), at: event.at };
    switch (event.type) {
      case "text":
        said.set(event.message_id, [...(said.get(event.message_id) ?? []), items.length]);
        if (event.path.at(-1) === "planner")
          items.push({ kind: "mark", ...place, text: `The planner:\n${event.text}` });
        else if (event.text !== "")
          items.push({ kind: "said", ...place, text: event.text, partial: event.partial === true });
        break;
      case "reasoning":
        if (event.text !== "") items.push({ kind: "thought", ...place, text: event.text });
        break;
      case "tool_call":
        calls.set(event.call_id, items.length);
        items.push({ kind: "call", ...place, call: event });
        break;
      case "tool_result": {
        const item = items[calls.get(event.call_id) ?? -1];
        if (item?.kind === "call") item.result = event;
        break;
      }
      case "message_injected":
        items.push({ kind: "injected", ...place, event });
        break;
      case "message_retracted":
        for (const at of said.get(event.message_id) ?? []) {
          const item = items[at];
          if (item?.kind === "said") items[at] = { ...item, retracted: event.reason };
        }
        break;
      case "handoff":
        items.push({
          kind: "mark",
          ...place,
          text: `Handed from ${event.from} to ${event.to}. ${event.reason}`,
        });
        break;
      case "context":
        if (event.action === "summarised")
          items.push({ kind: "mark", ...place, text: `Earlier messages were summarised. ${event.detail}` });
        break;
      default:
    }
  }
  return items;
}
