import type { DurableEvent, Json } from "trackside/schema";
import { formatDuration } from "../../format/duration.ts";
import type { Detail } from "./approval.ts";

/** One thing that was said or done before the question. */
export interface StoryLine {
  key: string;
  at: number;
  /** Who or what: "release-manager", "check_service", "rail secrets". */
  who: string;
  /** What it did: "said", "called", "returned", "failed". */
  did: string;
  /** Words of a model, a tool or a person: shown as they are, in full. */
  text: string;
  /** Arguments and results are code; what was said is not. */
  code: boolean;
}

type Event = Detail["context"][number];

/** What led here, oldest first, without what only machines care for. */
export function storyOf(events: readonly Event[], agent: string): StoryLine[] {
  return events.flatMap((event) => {
    const line = lineOf(event, agent);
    return line === undefined ? [] : [{ key: `${event.run_id}:${event.seq}`, at: event.at, ...line }];
  });
}

type Line = Pick<StoryLine, "who" | "did" | "text" | "code">;

function lineOf(event: DurableEvent, agent: string): Line | undefined {
  switch (event.type) {
    case "text":
      return event.text.trim() === "" ? undefined : said(agent, "said", event.text);
    case "reasoning":
      return event.text.trim() === "" ? undefined : said(agent, "thought", event.text);
    case "plan": {
      if (event.plan === null) return said(agent, "could not plan", event.failure?.message ?? "");
      const steps = event.plan.steps.map(
        ({ title, detail }, i) => `${i + 1}. ${detail ? `${title}: ${detail}` : title}`,
      );
      return said(agent, "planned", steps.join("\n"));
    }
    case "tool_call":
      return { who: agent, did: `called ${event.tool}`, text: written(event.arguments), code: true };
    case "tool_result": {
      const { output } = event;
      const text = output.type === "error" ? output.failure.message : written(output.value);
      const did = `${event.success ? "returned" : "failed"} after ${formatDuration(event.duration_ms)}`;
      return { who: event.tool, did, text, code: output.type === "json" };
    }
    case "rail": {
      const spoke = event.records.filter(({ action, alert }) => action !== "continue" || alert !== undefined);
      const text = spoke.map(
        ({ rail, action, reason, shadow }) => `${rail}: ${action}${shadow ? " (shadow)" : ""}, ${reason}`,
      );
      return spoke.length === 0 ? undefined : said(`rails at ${event.point}`, "said", text.join("\n"));
    }
    case "message_injected": {
      const parts = event.parts?.flatMap((part) => (part.type === "text" ? [part.text] : [])) ?? [];
      return parts.length === 0 ? undefined : said(event.source, "added", parts.join("\n"));
    }
    case "approval": {
      if (event.state === "pending") return undefined;
      const by = event.decided_by === undefined ? "" : ` by ${event.decided_by}`;
      return said(
        event.tool ?? "request",
        `${event.state.replaceAll("_", " ")}${by}`,
        event.reasons.join("\n"),
      );
    }
    case "subagent":
      return said(
        `sub-agent ${event.index + 1}`,
        event.state === "started" ? "started" : `ended: ${event.status ?? ""}`,
        "",
      );
    case "handoff":
      return said(event.from, `handed over to ${event.to}`, event.reason);
    case "error":
      return said(agent, event.skipped ? "left something out" : "failed", event.failure.message);
    default:
      return undefined;
  }
}

function said(who: string, did: string, text: string): Line {
  return { who, did, text, code: false };
}

function written(value: Json): string {
  if (typeof value === "string") return value;
  // What is short stands in a line.
  const line = JSON.stringify(value);
  return line.length <= 80 ? line : JSON.stringify(value, null, 2);
}
