import type { AssistantMessage, Message, ToolMessage, UserPart } from "trackside/schema";
import type { CallItem, Item } from "./items.ts";

/** What is known of a run before its events are read. */
export interface RunFacts {
  readonly id: string;
  readonly branch_id: string;
  readonly parent_run_id: string | null;
  readonly retried_from: string | null;
  readonly created_at: number;
  readonly outcome: { readonly status: string; readonly message_id?: string | null } | null;
}

/** What a user said and what came of it. */
export interface Turn {
  readonly key: string;
  /** Null for what goes on where another run stopped, and for what was imported without one. */
  readonly user: { readonly id: string; readonly parts: readonly UserPart[] } | null;
  readonly runId: string | null;
  /** The whole run belongs here, so its events may be shown; else only what the log has of it. */
  readonly isWhole: boolean;
  /** From the log: what is shown until the events are there, or without them. */
  readonly items: readonly Item[];
  readonly retriedFrom: string | null;
}

/** Which run wrote a message: its id begins with the run's. */
export function runOfMessage(id: string): string | null {
  return /^run_[^.]+/.exec(id)?.[0] ?? null;
}

interface Group {
  runId: string | null;
  messages: Message[];
}

/** The log of a branch as turns, with the runs that have written nothing yet. */
export function turnsOf(messages: readonly Message[], runs: readonly RunFacts[], branchId: string): Turn[] {
  const known = new Map(runs.filter((run) => run.parent_run_id === null).map((run) => [run.id, run]));
  const written = new Set(messages.map(({ id }) => runOfMessage(id)));
  const silent = [...known.values()]
    .filter((run) => run.branch_id === branchId && !written.has(run.id))
    .toSorted((a, b) => a.created_at - b.created_at);
  const groups = groupsOf(messages, silent);
  const seen = new Set(groups.map(({ runId }) => runId));
  for (const { id } of silent) if (!seen.has(id)) groups.push({ runId: id, messages: [] });
  return groups.map((group) => turnOf(group, known.get(group.runId ?? ""), branchId));
}

/**
 * Cuts the log where somebody begins a turn. What is said to a run under way has an id of its own: it belongs to the run
 * that goes on after it, or to the next one, if that run had ended first (X6).
 */
function groupsOf(messages: readonly Message[], silent: readonly RunFacts[]): Group[] {
  const groups: Group[] = [];
  let said: Message[] = [];
  for (const message of messages) {
    const runId = runOfMessage(message.id);
    if (message.role === "user" && runId === null) {
      said.push(message);
      continue;
    }
    const last = groups.at(-1);
    const opens = message.id === `${runId}.user`;
    if (opens && said.length > 0) groups.push({ runId: null, messages: said.splice(0) });
    if (last !== undefined && last.runId === runId && !opens && (runId !== null || said.length === 0))
      last.messages.push(...said, message);
    else groups.push({ runId, messages: [...said, message] });
    said = [];
  }
  if (said.length === 0) return groups;
  const [next] = silent;
  const last = groups.at(-1);
  if (next !== undefined) groups.push({ runId: next.id, messages: said });
  else if (last !== undefined && last.runId !== null) last.messages.push(...said);
  else groups.push({ runId: null, messages: said });
  return groups;
}

function turnOf({ runId, messages }: Group, run: RunFacts | undefined, branchId: string): Turn {
  const [first, ...rest] = messages;
  const said = first?.role === "user" && first.by_hook === undefined ? first : null;
  const last = run?.outcome?.message_id;
  // Of a run of another branch, this one may have only the beginning.
  const isWhole =
    run !== undefined &&
    (run.branch_id === branchId || (typeof last === "string" && messages.some(({ id }) => id === last)));
  return {
    key: runId ?? first?.id ?? "",
    user: said && { id: said.id, parts: said.parts },
    runId,
    isWhole,
    items: itemsOf(said ? rest : messages),
    retriedFrom: run?.retried_from ?? null,
  };
}

/** What the log has: texts, calls with their results, and what was said in between. */
export function itemsOf(messages: readonly Message[]): Item[] {
  const results = new Map<string, ToolMessage>();
  for (const message of messages) if (message.role === "tool") results.set(message.call_id, message);
  return messages.flatMap((message): Item[] => {
    if (message.role === "tool") return [];
    if (message.role === "assistant") return assistantItems(message, results);
    // What a hook put into the log is for the model.
    if (message.by_hook !== undefined || message.forgotten !== undefined) return [];
    return [{ kind: "said", key: message.id, parts: message.parts, receipt: null }];
  });
}

function assistantItems(message: AssistantMessage, results: ReadonlyMap<string, ToolMessage>): Item[] {
  const { id, parts, partial = false } = message;
  const of = <T extends "text" | "reasoning">(type: T) =>
    parts.flatMap((part) => (part.type === type && "text" in part ? [part.text] : [])).join("");
  const reasoning = of("reasoning");
  const text = of("text");
  const items: Item[] = [];
  if (reasoning)
    items.push({
      kind: "reasoning",
      key: `${id}#reasoning`,
      messageId: id,
      text: reasoning,
      live: false,
      attempt: 0,
    });
  if (text) items.push({ kind: "text", key: id, text, live: false, partial, attempt: 0 });
  for (const part of parts) {
    if (part.type !== "tool_call") continue;
    const result = results.get(part.call_id);
    items.push({
      kind: "call",
      key: part.call_id,
      messageId: id,
      tool: part.tool,
      arguments: part.arguments,
      injected: part.injected ?? {},
      input: part.raw ?? "",
      live: false,
      attempt: 0,
      at: null,
      progress: null,
      asked: [],
      verdicts: [],
      lanes: [],
      result: result ? resultOf(result) : null,
    });
  }
  return items;
}

function resultOf({ output, metadata }: ToolMessage): NonNullable<CallItem["result"]> {
  return {
    success: metadata.status === "success",
    output,
    error: output.type === "error" ? output.failure.message : null,
    durationMs: metadata.execution_time_ms,
    metadata,
  };
}

/** Words for a list: the first line of what was said. */
export function titleOf(parts: readonly UserPart[]): string {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  const words = text.trim().split(/\s+/).join(" ");
  if (words) return words.length > 80 ? `${words.slice(0, 79).trimEnd()}…` : words;
  return parts.some((part) => part.type === "file") ? "A file" : "";
}

/**
 * Where a branch may begin so that it ends with a message, by the message: the message itself, or the last result of the
 * calls it made, which a branch must not lose. What still waits for a result has no such place yet.
 */
export function branchPointsOf(messages: readonly Message[]): ReadonlyMap<string, string> {
  const points = new Map<string, string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") continue;
    const open = new Set(
      message.role === "assistant"
        ? message.parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []))
        : [],
    );
    let point = message.id;
    for (const later of messages.slice(at + 1)) {
      if (open.size === 0 || later.role !== "tool") break;
      open.delete(later.call_id);
      point = later.id;
    }
    if (open.size === 0) points.set(message.id, point);
  }
  return points;
}
