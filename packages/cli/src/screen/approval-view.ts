import type { Approval, Json, JsonObject } from "trackside";
import { type Change, changesBetween } from "./changes.ts";
import { cleanLine } from "./clean.ts";
import { escapeHidden, exactJson } from "./json-text.ts";
import { duration } from "./numbers.ts";
import type { Screen } from "./screen.ts";

const LABEL = 2;
const DEEP = 4;

/** A call as it was shown before: its label, and what the model wrote. */
export interface ShownCall {
  readonly label: string;
  readonly written: JsonObject | null;
}

export interface ApprovalHead {
  readonly head: string;
  readonly call: ShownCall | undefined;
  /** It is decided at once: until when does not matter. */
  readonly decided?: boolean;
  /** Where it comes from, where that is not on the screen already. */
  readonly about?: string | undefined;
}

/**
 * Everything a decision needs, on one page: the whole arguments, who asks and why, and until when (unless it is decided
 * at once). What others wrote is indented deeper than anything of ours.
 */
export function showApproval(
  screen: Screen,
  approval: Approval,
  { head, call, decided = false, about }: ApprovalHead,
): void {
  const { arguments: args, injected_args, reasons, requester, deadline } = approval;
  screen.line(
    `${screen.paint(["bold", "yellow"], `◆ ${head}`)} ${screen.paint("dim", "·")} ${screen.paint("bold", subject(approval, call))}`,
  );
  if (about !== undefined) screen.line(screen.paint("dim", `  ${cleanLine(about)}`));
  const isNode = approval.kind === "workflow_node";
  if (args !== null && (!isNode || Object.keys(args).length > 0))
    section(screen, isNode ? "shown with it" : "arguments", args);
  if (args !== null && call?.written) {
    const changes = changesBetween(call.written, args);
    if (changes.length > 0) {
      screen.line(screen.paint("dim", "  changed by rails, since the model wrote them"));
      showChanges(screen, changes);
    }
  }
  if (Object.keys(injected_args).length > 0) section(screen, "said with the call", injected_args);
  const asksFor = isNode || approval.choices.includes("ran") ? approval.response_schema !== null : false;
  if (approval.choices.includes("submit") || asksFor) {
    if (approval.response_schema === null) {
      screen.line(screen.paint("dim", "  result wanted"));
      screen.paragraph("JSON or text, of any shape", DEEP);
    } else section(screen, "result wanted, as this schema says", approval.response_schema);
  }
  screen.line(screen.paint("dim", `  asked by ${cleanLine(requester)}, because`));
  for (const reason of reasons) screen.paragraph(escapeHidden(reason), DEEP);
  if (deadline !== null && !decided) {
    const { when, left } = deadlineOf(deadline);
    screen.line(screen.paint("dim", "  until"));
    const otherwise = approval.choices.includes("approve") ? "then it does not run" : "then it has no result";
    const then = isNode ? "then it fails, or goes on by its own way for that" : otherwise;
    screen.paragraph(`${when}, ${left} from now; ${then}`, DEEP);
  }
}

/** `1.1 open_incident`. */
export function subject(
  { tool, kind }: Pick<Approval, "tool" | "kind">,
  call: ShownCall | undefined,
): string {
  const name = cleanLine(tool ?? kind.replaceAll("_", " "));
  return call === undefined ? name : `${call.label} ${name}`;
}

/** What was, with a minus, and what is now, with a plus. */
export function showChanges(screen: Screen, changes: readonly Change[]): void {
  for (const { path, before, after } of changes) {
    const at = path === "" ? "" : `${escapeHidden(path)}: `;
    if (before !== undefined) screen.paragraph(`- ${at}${shown(screen, before)}`, DEEP, "red");
    if (after !== undefined) screen.paragraph(`+ ${at}${shown(screen, after)}`, DEEP, "green");
  }
}

/** When it is, on the clock, and how far away. */
export function deadlineOf(deadline: number, now = Date.now()): { when: string; left: string } {
  const at = new Date(deadline);
  const isToday = at.toDateString() === new Date(now).toDateString();
  const when = at.toLocaleString("en-GB", {
    ...(isToday ? {} : { day: "numeric", month: "short" }),
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
  return { when, left: remaining(deadline - now) };
}

/** `12 s`, `1 min 40 s`, then by the minute, so that nothing moves for long. */
export function remaining(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 120) return duration(seconds * 1000);
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function section(screen: Screen, title: string, value: Json): void {
  screen.line(screen.paint("dim", `${" ".repeat(LABEL)}${title}`));
  screen.paragraph(shown(screen, value), DEEP);
}

function shown(screen: Screen, value: Json): string {
  return exactJson(value, screen.pageWidth - DEEP);
}
