import type { Answer } from "@trackside/server/client";
import { writtenOut } from "../../ui/json-rows.ts";

/** An approval in a list. */
export type Approval = Answer<"listApprovals">["items"][number];
/** One with its evidence. */
export type Detail = Answer<"getApproval">;
export type Rule = Answer<"listRules">["items"][number];

export function isOpen({ state }: Pick<Approval, "state">): boolean {
  return state === "pending";
}

/** What is asked about: a tool, or a node of a workflow that has none. */
export function subjectOf({ tool, kind }: Pick<Approval, "tool" | "kind">): string {
  return tool ?? (kind === "workflow_node" ? "this node" : "this request");
}

/** A node of a workflow that waits until something is sent to its address, and not for a person. */
export function isWait({ kind, choices }: Pick<Approval, "kind" | "choices">): boolean {
  return kind === "workflow_node" && choices.includes("submit");
}

/** What a row of a list is known by: a node by what it asks, in its own words. */
export function titleOf(approval: Pick<Approval, "tool" | "kind" | "reasons" | "choices">): string {
  if (approval.kind !== "workflow_node" || isWait(approval)) return subjectOf(approval);
  return firstLine(approval.reasons[0] ?? subjectOf(approval));
}

/** As much of a message as a heading has room for; all of it stands below. */
export function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > HEADING ? `${line.slice(0, HEADING - 1)}…` : line;
}

const HEADING = 160;

/** Enough to tell one row from the next. The whole of it stands beside the list, where it is decided. */
export function hintOf({ arguments: args, reasons }: Pick<Approval, "arguments" | "reasons">): string {
  const said = Object.entries(args ?? {}).map(([name, value]) => {
    const text = typeof value === "string" ? writtenOut(value) : JSON.stringify(value);
    return `${name} ${text}`;
  });
  return (args === null ? (reasons[0] ?? "") : said.join(", ")).replaceAll("\n", " ").slice(0, HINT);
}

/** More than a row has room for. */
const HINT = 200;

/** What kind of question it is, in the fewest words. */
export const KIND_WORDS: Record<Approval["kind"], string> = {
  tool_call: "Tool call",
  client_tool: "Result wanted",
  workflow_node: "Workflow node",
  unknown_outcome: "Outcome unknown",
  elicitation: "Question",
  tool_definition: "Changed tool",
};

/** The question itself, as the heading of its page. */
export function questionOf(
  approval: Pick<Approval, "tool" | "kind" | "reasons" | "choices" | "agent">,
): string {
  const subject = subjectOf(approval);
  switch (approval.kind) {
    case "tool_call":
      return `May ${subject} run?`;
    case "client_tool":
      return `What is the result of ${subject}?`;
    case "unknown_outcome":
      return `Did ${subject} run?`;
    case "elicitation":
      return `${subject} asks`;
    case "tool_definition":
      return `May agents use the changed ${subject}?`;
    case "workflow_node":
      return isWait(approval)
        ? `${approval.agent} waits at ${subject}`
        : `${approval.agent} asks: ${titleOf(approval)}`;
  }
}
