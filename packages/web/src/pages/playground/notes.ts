import type { DurableEvent, DurableEventOf } from "trackside/schema";
import { formatDuration } from "../../format/duration.ts";
import { formatShort } from "../../format/number.ts";
import type { NoteItem, Verdict } from "./items.ts";

const COMPACTED: Readonly<Record<string, string>> = {
  stubbed: "Old tool results shortened",
  summarised: "Older messages summarised",
  dropped: "Oldest messages left out",
};

/** What an event says about the run, as lines between what was said. Most events say nothing of the kind. */
export function noteOf(event: DurableEvent): readonly NoteItem[] {
  const note = (
    tone: NoteItem["tone"],
    icon: NoteItem["icon"],
    text: string,
    detail: string | null = null,
    part = "",
  ): NoteItem => ({ kind: "note", key: `note-${event.seq}${part}`, tone, icon, text, detail });
  switch (event.type) {
    case "context": {
      const words = COMPACTED[event.action];
      const tokens = `${formatShort(event.tokens_before)} → ${formatShort(event.tokens_after)} tokens`;
      if (words !== undefined)
        return [note("quiet", "compacted", `${words}: ${tokens}`, event.detail || null)];
      if (event.action === "withheld" || event.action === "skipped")
        return [note("attention", "hook", event.detail || `Context ${event.action}`)];
      return [];
    }
    case "rail":
      return verdictsOf(event).map((verdict, at) =>
        note(
          verdict.action === "abort" && !verdict.shadow ? "problem" : verdict.shadow ? "quiet" : "attention",
          "rail",
          verdictWords(verdict),
          verdict.reason ? (verdict.alert ?? null) : null,
          `-${at}`,
        ),
      );
    case "message_injected":
      return [
        note("quiet", "hook", `${event.source} added ${formatShort(event.tokens)} tokens beside the message`),
      ];
    case "message_retracted":
      return [note("quiet", "retracted", `An answer was taken back: ${event.reason}`)];
    case "handoff":
      return [note("quiet", "handoff", `${event.from} handed over to ${event.to}`, event.reason || null)];
    case "error": {
      const { failure, retry_in_ms, skipped } = event;
      if (retry_in_ms !== undefined)
        return [
          note("attention", "retry", `Trying again after ${formatDuration(retry_in_ms)}`, failure.message),
        ];
      if (skipped) return [note("attention", "retry", "Something failed and was left out", failure.message)];
      return []; // the run is about to end, and says it then
    }
    case "node":
      return [note("quiet", "resumed", `${event.node} ${event.state}`)];
    default:
      return [];
  }
}

/** What rails said beyond "continue". */
export function verdictsOf({ records }: DurableEventOf<"rail">): readonly Verdict[] {
  return records
    .filter(({ action, alert }) => action !== "continue" || alert !== undefined)
    .map(({ rail, point, action, reason, shadow, alert }) => ({
      rail,
      point,
      action,
      reason,
      shadow,
      alert,
    }));
}

const DID: Readonly<Record<Verdict["action"], string>> = {
  continue: "noted",
  skip: "skipped this",
  retry: "asked for another try",
  abort: "stopped the run",
  ask: "asked a human",
};
const WOULD: Readonly<Record<Verdict["action"], string>> = {
  continue: "noted",
  skip: "would have skipped this",
  retry: "would have asked for another try",
  abort: "would have stopped the run",
  ask: "would have asked a human",
};

/** "secrets skipped this: it holds a key". In shadow mode rails only say what they would have done. */
export function verdictWords({ rail, action, reason, shadow, alert }: Verdict): string {
  const why = reason || alert;
  return `${rail} ${(shadow ? WOULD : DID)[action]}${why ? `: ${why}` : ""}`;
}
