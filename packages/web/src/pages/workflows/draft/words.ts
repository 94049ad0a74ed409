import type { Condition, Json } from "trackside/schema";
import { formatDuration } from "../../../format/duration.ts";
import type { Kind, NodeDraft } from "./definition.ts";

export const KIND_WORDS: Readonly<Record<Kind, { word: string; about: string }>> = {
  agent: { word: "Agent", about: "Asks an agent, and gets its answer" },
  tool: { word: "Tool", about: "Calls a tool with arguments" },
  condition: { word: "Condition", about: "Goes one way or the other" },
  map: { word: "Map", about: "Does the same with each entry of a list" },
  approval: { word: "Approval", about: "Waits until somebody decides" },
  wait: { word: "Wait", about: "Waits a while, or for a webhook" },
  workflow: { word: "Workflow", about: "Runs another workflow" },
};

/** What a node does, in a line. */
export function summaryOf(node: NodeDraft): string {
  switch (node.kind) {
    case "agent":
      return node.agent === "" ? "no agent yet" : `${node.agent}: ${oneLine(node.prompt)}`;
    case "tool":
      return node.tool === "" ? "no tool yet" : node.tool;
    case "workflow":
      return node.workflow === "" ? "no workflow yet" : node.workflow;
    case "condition":
      return conditionWords(node.if);
    case "map":
      return `${workWords(node.do)} for each of ${inside(node.over) || "a list"}`;
    case "approval":
      return node.message === "" ? "no question yet" : oneLine(node.message);
    case "wait":
      return waitWords(node.for);
  }
}

function workWords(work: Extract<NodeDraft, { kind: "map" }>["do"]): string {
  switch (work.kind) {
    case "agent":
      return work.agent || "an agent";
    case "tool":
      return work.tool || "a tool";
    case "workflow":
      return work.workflow || "a workflow";
  }
}

function waitWords(what: Extract<NodeDraft, { kind: "wait" }>["for"]): string {
  if ("webhook" in what) return "until something is sent to it";
  return typeof what.seconds === "number"
    ? `for ${formatDuration(what.seconds * 1000).replace(/ 0?0 (s|min|h)$|\.0(?= s$)/, "")}`
    : `for ${inside(what.seconds)} seconds`;
}

export function conditionWords(condition: Condition): string {
  if ("all" in condition) return condition.all.map(nested).join(" and ");
  if ("any" in condition) return condition.any.map(nested).join(" or ");
  if ("not" in condition) return `not ${nested(condition.not)}`;
  const { left, op, right } = condition;
  if (op === "exists") return `${side(left)} is there`;
  if (op === "empty") return `${side(left)} is empty`;
  return `${side(left)} ${op} ${side(right ?? null)}`;
}

function nested(condition: Condition): string {
  const words = conditionWords(condition);
  return "all" in condition || "any" in condition ? `(${words})` : words;
}

function side(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return inside(value) || '""';
}

/** A text that is one template is shown as the path it stands for. */
export function inside(text: string): string {
  return /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(text)?.[1] ?? text;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
