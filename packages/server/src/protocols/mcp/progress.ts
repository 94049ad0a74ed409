import type { DurableEvent, LiveEvent } from "trackside";

/** What of a run is worth a progress notification, in words. */
export function progressOf(event: DurableEvent | LiveEvent): string | undefined {
  switch (event.type) {
    case "step":
      return event.state === "started" && event.path.length === 0 ? `Step ${event.step}` : undefined;
    case "plan":
      return event.plan === null
        ? undefined
        : `Plan: ${event.plan.steps.map(({ title }) => title).join("; ")}`;
    case "tool_call":
      return `Calling ${event.tool}`;
    case "tool_result":
      return `${event.tool}: ${event.metadata.status}`;
    case "mcp_progress":
      return event.message ?? undefined;
    case "subagent":
      return `Sub-agent ${event.index + 1} ${event.state}`;
    case "handoff":
      return `Handed over to ${event.to}`;
    case "approval":
      return event.state === "pending"
        ? `Waiting for a decision on ${event.tool ?? "a question"}`
        : `${event.tool ?? "The question"}: ${event.state}`;
    default:
      return undefined;
  }
}
