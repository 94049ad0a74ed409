import type { AgentEvent, Approval, DurableEventOf, Json, RailRecord, ToolOutput, Usage } from "trackside";
import { PERSON } from "../approvals/approver.ts";
import { deadlineOf, showChanges, subject } from "./approval-view.ts";
import { Calls } from "./calls.ts";
import { changesBetween } from "./changes.ts";
import { cleanLine } from "./clean.ts";
import type { Flow } from "./flow.ts";
import { escapeHidden, jsonText } from "./json-text.ts";
import { bytes, count, counted, duration } from "./numbers.ts";
import { NodeLines } from "./run-view-nodes.ts";
import type { Screen } from "./screen.ts";
import { waited } from "./times.ts";

export interface RunViewOptions {
  /** Who sits here, as it is recorded: decisions of theirs are `you`. */
  readonly you?: string;
  /** For whoever only looks on: what waits is shown too, and of each decision who, when and why. */
  readonly record?: (approvalId: string) => Approval | undefined;
}

/** Text is indented and our own lines are not, so that nothing a model or a tool says can pass for one of ours. */
const INDENT = 2;
const DEEP = 4;
/** A result longer than this is cut, here only: the run and `--json` have it whole. */
const MOST_LINES = 12;
const MOST_CHARACTERS = 2_000;
/** As long as the name of a tool can be; what a model makes up may be longer. */
const LONGEST_NAME = 64;

/** So many runs of workflows below one node are shown in a tree. */
const MOST_BELOW = 20;

type Colour = "green" | "yellow" | "red";

/** Shows a run to a person while it happens: text as it comes, calls and results, how it ended. */
export class RunView {
  readonly #screen: Screen;
  readonly #model: string;
  readonly calls: Calls;
  /** Whose events these are: the run's own, or a sub-agent's. */
  readonly #path: readonly string[];
  /** Sub-agents and the planner, by where they are, each beside the others. */
  readonly #lanes = new Map<string, RunView>();
  /** The lane whose lines were the last on the screen. */
  #last = "";
  /** Names of the tools at work, by call. */
  readonly #open = new Map<string, string>();
  /** Messages of which something was shown. */
  readonly #seen = new Set<string>();
  /** Of a workflow. */
  readonly #nodes: NodeLines;
  /** Calls that a human let pass. */
  readonly #approved = new Set<string>();
  #flow: Flow | undefined;
  #flowing = "";
  #shown = 0;
  #startedAt = 0;
  #usage: Usage | undefined;
  readonly #you: string;
  readonly #record: RunViewOptions["record"];

  constructor(
    screen: Screen,
    model: string,
    { you = PERSON, record }: RunViewOptions = {},
    lane: { readonly path: readonly string[]; readonly calls: Calls } = { path: [], calls: new Calls() },
  ) {
    this.#screen = screen;
    this.#model = model;
    this.#you = you;
    this.#record = record;
    this.#path = lane.path;
    this.#nodes = new NodeLines(screen);
    this.calls = lane.calls;
  }

  show(event: AgentEvent): void {
    this.calls.note(event);
    if (event.path.length > this.#path.length) this.#beside(event);
    else {
      this.#last = "";
      this.#own(event);
    }
  }

  /** Sub-agents work side by side: what they say is shown whole, under whose it is. */
  #beside(event: AgentEvent): void {
    if (!("seq" in event)) return;
    const lane = event.path.slice(0, this.#path.length + 1);
    const name = lane.join("/");
    let view = this.#lanes.get(name);
    if (view === undefined) {
      const options = { you: this.#you, ...(this.#record ? { record: this.#record } : {}) };
      const inset = this.#screen.inset(() => this.#head(lane));
      view = new RunView(inset, this.#model, options, { path: lane, calls: this.calls });
      this.#lanes.set(name, view);
    }
    this.#endFlow();
    view.show(event);
  }

  /** A lane has something to show: whose it is stands above it, once. */
  #head(lane: readonly string[]): void {
    const name = lane.join("/");
    const shown = this.#nodes.isEmpty ? laneName(lane) : cleanLine(lane.join("/"));
    if (this.#last !== name) this.#screen.line(this.#screen.paint("dim", `┌ ${shown}`));
    this.#last = name;
  }

  #own(event: AgentEvent): void {
    switch (event.type) {
      case "text_delta":
        this.#seen.add(event.message_id);
        this.#stream(`text ${event.message_id}`, event.offset, event.text);
        break;
      case "reasoning_delta":
        this.#stream(`reasoning ${event.message_id}`, event.offset, event.text);
        break;
      case "tool_input_delta":
        break; // shown whole once it is complete
      case "mcp_progress":
        this.#progress(event.call_id, event.progress, event.total, event.message);
        break;
      case "text":
        this.#seen.add(event.message_id);
        this.#complete(
          `text ${event.message_id}`,
          this.#nodes.isEmpty ? event.text : this.#outcome(event.text),
        );
        if (event.partial) this.#note("cut off here");
        break;
      case "reasoning":
        this.#complete(`reasoning ${event.message_id}`, event.text);
        break;
      case "usage":
        this.#usage = event.total;
        if (this.#record) this.#note(`${cleanLine(event.model)} · ${tokens(event.call)}`);
        break;
      case "step":
        if (event.state === "started") this.#stepStarted(event.step);
        else this.#endFlow();
        break;
      case "tool_call":
        this.#toolCall(event);
        break;
      case "tool_result":
        this.#toolResult(event);
        break;
      case "error":
        if (event.retry_in_ms !== undefined) this.#retry(event.failure.message, event.retry_in_ms);
        else if (event.skipped) this.#warn("left out, the run goes on", event.failure.message);
        break; // else the run is about to end, and its last line says why
      case "message_retracted":
        this.#retracted(event);
        break;
      case "message_injected":
        this.#note(
          `added by a ${cleanLine(event.source)}, ${event.durable ? "to the conversation" : "for this turn only"}`,
        );
        break;
      case "rail":
        for (const record of event.records) this.#rail(record, event.call_id);
        break;
      case "approval":
        this.#approval(event);
        break;
      case "status":
        this.#status(event);
        break;
      case "plan":
        this.#plan(event);
        break;
      case "context":
        this.#context(event);
        break;
      case "subagent":
        this.#subagent(event);
        break;
      case "handoff":
        this.#handoff(event);
        break;
      case "node":
        this.#endFlow();
        this.#nodes.show(event);
        this.#waitForTools();
        break;
      case "artifact":
        this.#note(
          `kept beside the conversation · ${cleanLine(event.artifact_id)} · ${cleanLine(event.media_type)} · ${bytes(event.bytes)}`,
        );
        break;
      default:
        this.#other(event);
        break;
    }
  }

  #stepStarted(step: number): void {
    const screen = this.#screen;
    if (step > 1) screen.line();
    screen.line(screen.paint("dim", `step ${step}`));
    screen.waitFor(`waiting for ${this.#model}`);
  }

  /** A piece of text, unless it was shown before. */
  #stream(what: string, offset: number, text: string): void {
    if (this.#flowing !== what) this.#begin(what);
    if (offset !== this.#shown) return;
    this.#shown += text.length;
    this.#flow?.push(text);
  }

  /** What a workflow comes to is JSON. */
  #outcome(text: string): string {
    try {
      return jsonText(JSON.parse(text), this.#screen.pageWidth - INDENT);
    } catch {
      return text;
    }
  }

  /** The whole text: what of it did not come in pieces is shown now. */
  #complete(what: string, text: string): void {
    if (this.#flowing !== what) this.#begin(what);
    this.#flow?.push(text.slice(this.#shown));
    this.#endFlow();
  }

  #begin(what: string): void {
    this.#endFlow();
    const isThinking = what.startsWith("reasoning");
    if (isThinking) this.#note("thinking");
    this.#flow = isThinking ? this.#screen.flow(DEEP, "dim") : this.#screen.flow(INDENT);
    this.#flowing = what;
    this.#shown = 0;
  }

  #endFlow(): void {
    this.#flow?.end();
    this.#flow = undefined;
    this.#flowing = "";
  }

  #toolCall({ call_id, tool, arguments: args }: DurableEventOf<"tool_call">): void {
    this.#endFlow();
    const label = this.calls.of(call_id)?.label ?? "?";
    const name = nameOf(tool);
    this.#open.set(call_id, name);

    const screen = this.#screen;
    const head = `${screen.paint("cyan", "→")} ${screen.paint("dim", label)} ${screen.paint("bold", name)}`;
    const room = screen.pageWidth - `→ ${label} ${name} `.length;
    const inline = args === null ? "" : jsonText(args, room);
    if (args !== null && inline.length <= room && !inline.includes("\n")) {
      screen.line(`${head} ${escapeHidden(inline)}`);
    } else {
      screen.line(head);
      const whole =
        args === null ? "the arguments are not valid JSON" : jsonText(args, screen.pageWidth - DEEP);
      screen.paragraph(escapeHidden(whole), DEEP);
    }
    this.#waitForTools();
  }

  #toolResult(event: Extract<AgentEvent, { type: "tool_result" }>): void {
    this.#endFlow();
    this.#open.delete(event.call_id);
    const screen = this.#screen;
    const call = `${screen.paint("dim", this.calls.of(event.call_id)?.label ?? "?")} ${screen.paint("bold", nameOf(event.tool))}`;
    const time = screen.paint("dim", `· ${duration(event.duration_ms)}`);
    // The event's type says more where an agent's tools are known; every output is one of these.
    const output = event.output as ToolOutput;
    if (output.type === "error") {
      const word = screen.paint("red", wordFor(output.failure.code));
      screen.line(`${screen.paint("red", "✗")} ${call} ${word} ${time}`);
      screen.paragraph(output.failure.message, DEEP);
    } else {
      screen.line(`${screen.paint("green", "✓")} ${call} ${time}`);
      this.#result(output.value, output.type);
    }
    this.#waitForTools();
  }

  #result(value: Json, type: "text" | "json"): void {
    const screen = this.#screen;
    const raw = type === "text" ? String(value) : JSON.stringify(value);
    const isShort = raw.length <= MOST_CHARACTERS;
    const text = type === "json" && isShort ? jsonText(value, screen.pageWidth - DEEP) : raw;
    const shown = text.slice(0, MOST_CHARACTERS).split("\n").slice(0, MOST_LINES).join("\n");
    if (shown !== "") screen.paragraph(shown, DEEP, "dim");
    if (shown.length === text.length) return;
    const size = bytes(Buffer.byteLength(raw));
    screen.line(screen.paint("dim", `${" ".repeat(DEEP)}… cut here, ${size} in all`));
  }

  #waitForTools(): void {
    if (this.#open.size > 0) this.#screen.waitFor(`running ${[...this.#open.values()].join(", ")}`);
  }

  #progress(callId: string, done: number, total: number | null, message: string | null): void {
    const amount = total === null ? count(done) : `${count(done)} of ${count(total)}`;
    const text = message === null ? "" : `, ${cleanLine(message)}`;
    this.#screen.waitFor(`running ${this.#open.get(callId) ?? ""}: ${amount}${text}`);
  }

  #retry(message: string, ms: number): void {
    this.#warn(`trying again ${ms === 0 ? "now" : `in ${duration(ms)}`}`, message);
    this.#screen.waitFor(`waiting for ${this.#model}`);
  }

  /** What a rail said or changed. A plain pass is not told. */
  #rail({ rail, action, reason, alert, shadow }: RailRecord, callId: string | null): void {
    const call = this.calls.of(callId);
    const changed = action === "continue" && /^(would have )?changed [\w, ]+$/.test(reason);
    let said = (shadow ? WOULD_HAVE : SAID)[action];
    if (action === "continue" && alert !== undefined) said = "noticed";
    else if (changed) said = reason;
    // Arguments that a human changed pass the rails again, and nobody is asked twice.
    if (action === "ask" && callId !== null && this.#approved.has(callId)) said += ", which was given";
    const about = call === undefined ? "" : ` · ${call.label}`;
    const mode = shadow ? " (shadow, nothing is changed)" : "";
    const why = [alert, changed ? "" : reason].filter((text) => text !== undefined && text !== "").join("\n");
    const head = `rail ${cleanLine(rail)} · ${said}${about}${mode}`;
    if (shadow || (action === "continue" && alert === undefined)) this.#note(head, why);
    else this.#warn(head, why);
  }

  #retracted({ message_id, reason }: DurableEventOf<"message_retracted">): void {
    this.#endFlow();
    const what = this.#seen.has(message_id) ? "the text above no longer stands" : "an answer was withheld";
    this.#warn(what, reason);
  }

  /** How an approval was decided. What waits for one is shown by whoever has it decided, with its whole arguments. */
  #approval(event: DurableEventOf<"approval">): void {
    const { call_id, tool, state, decided_by = "", deadline } = event;
    this.#endFlow();
    if (state === "pending") {
      if (call_id !== null) this.#open.delete(call_id);
      if (this.#record) this.#waits(event);
      return;
    }
    if (state === "approved" && call_id !== null && tool !== null) {
      this.#open.set(call_id, nameOf(tool));
      this.#approved.add(call_id);
    }
    const by = decided_by === this.#you ? "you" : cleanLine(decided_by);
    const isYes = event.kind === "tool_call" || (tool !== null && this.#nodes.kindOf(tool) === "approval");
    const passed = deadline === null ? "" : ` at ${deadlineOf(deadline).when}`;
    const said = {
      approved: isYes ? `approved by ${by}` : `answered by ${by}`,
      rejected: event.kind === "unknown_outcome" ? `given up by ${by}` : `rejected by ${by}`,
      timed_out: `not decided in time; the deadline passed${passed}`,
      cancelled: "no longer asked, the run stops",
    }[state];
    const screen = this.#screen;
    const colour = state === "approved" ? "green" : state === "rejected" ? "red" : "yellow";
    screen.line(
      `${screen.paint(colour, "◆")} ${subject(event, this.calls.of(call_id))} ${screen.paint(colour, said)}${this.#after(event)}`,
    );
    this.#decision(this.#record?.(event.approval_id));
    this.#waitForTools();
  }

  #waits({ call_id, kind, tool, reasons, deadline }: DurableEventOf<"approval">): void {
    const screen = this.#screen;
    const what = kind === "unknown_outcome" ? "may have run; somebody has to say" : "waits for a decision";
    const until = deadline === null ? "" : screen.paint("dim", ` · until ${deadlineOf(deadline).when}`);
    screen.line(
      `${screen.paint("yellow", "◆")} ${subject({ tool, kind }, this.calls.of(call_id))} ${screen.paint("yellow", what)}${until}`,
    );
    for (const reason of reasons) screen.paragraph(escapeHidden(reason), DEEP);
  }

  /** How long it had waited. */
  #after({ approval_id }: DurableEventOf<"approval">): string {
    const approval = this.#record?.(approval_id);
    if (!approval?.decision) return "";
    return this.#screen.paint("dim", ` · after ${waited(approval.decision.at - approval.requested_at)}`);
  }

  #decision(approval: Approval | undefined): void {
    if (!approval?.decision) return;
    const { reason, edited_arguments } = approval.decision;
    if (reason) this.#screen.paragraph(escapeHidden(reason), DEEP);
    if (edited_arguments !== undefined)
      showChanges(this.#screen, changesBetween(approval.arguments ?? {}, edited_arguments));
  }

  #warn(what: string, why: string): void {
    this.#endFlow();
    this.#screen.line(this.#screen.paint("yellow", `! ${what}`));
    if (why !== "") this.#screen.paragraph(why, INDENT);
  }

  #note(what: string, why = ""): void {
    this.#endFlow();
    this.#screen.line(this.#screen.paint("dim", `· ${what}`));
    if (why !== "") this.#screen.paragraph(why, INDENT, "dim");
  }

  /** Events that later versions emit: named, with what they say. */
  #other(event: AgentEvent): void {
    const { type, run_id: _run, turn_ref: _turn, path: _path, ...rest } = event;
    const said = Object.entries(rest).filter(([key]) => key !== "seq" && key !== "at");
    this.#note(type, JSON.stringify(Object.fromEntries(said)));
  }

  #plan({ plan, failure }: DurableEventOf<"plan">): void {
    if (plan === null) {
      this.#warn("there is no plan, the run goes on without one", failure?.message ?? "");
      return;
    }
    this.#endFlow();
    const screen = this.#screen;
    screen.line(`${screen.paint("cyan", "≡")} ${screen.paint("bold", "plan")}`);
    for (const [i, { title, detail }] of plan.steps.entries()) {
      screen.paragraph(`${i + 1}. ${title}`, INDENT);
      if (detail) screen.paragraph(detail, DEEP, "dim");
    }
  }

  #context({ action, tokens_before, tokens_after, detail }: DurableEventOf<"context">): void {
    const size =
      tokens_before === tokens_after ? "" : ` · ${count(tokens_before)} to ${count(tokens_after)} tokens`;
    this.#note(`context ${action}${size}`, detail);
  }

  #subagent({ call_id, index, state, status }: DurableEventOf<"subagent">): void {
    if (this.#nodes.has(call_id)) return; // its node is told of
    const label = `${this.calls.of(call_id)?.label ?? "?"}[${index}]`;
    if (state === "started") this.#note(`sub-agent ${label} started`);
    else if (status === "error") this.#warn(`sub-agent ${label} failed`, "");
    else this.#note(`sub-agent ${label} is done`);
    if (state === "completed") this.#waitForTools();
  }

  #handoff({ from, to, reason }: DurableEventOf<"handoff">): void {
    this.#endFlow();
    const screen = this.#screen;
    screen.line(
      `${screen.paint("cyan", "⇒")} ${cleanLine(from)} hands over to ${screen.paint("bold", cleanLine(to))}`,
    );
    if (reason !== "") screen.paragraph(reason, DEEP, "dim");
  }

  #status(event: DurableEventOf<"status">): void {
    switch (event.status) {
      case "starting":
        this.#startedAt = event.at;
        if (event.held_by) this.#note("text is shown once it has passed", event.held_by.join(", "));
        break;
      case "waiting":
        this.#note(event.status, event.reason);
        break;
      case "parked":
        this.#warn(event.status, event.reason ?? "");
        break;
      case "completed":
        this.#end(
          event.stop_reason === "answered" ? "green" : "yellow",
          "● done",
          event.stop_reason ?? "",
          event.at,
          event.reason,
        );
        break;
      case "cancelled":
        this.#end("yellow", "■ stopped", cleanLine(event.reason ?? "cancelled"), event.at);
        break;
      case "error":
        this.#end("red", "✗ failed", event.failure?.code ?? "", event.at, event.failure?.message);
        break;
    }
  }

  #end(colour: Colour, badge: string, stop: string, at: number, why = ""): void {
    this.#endFlow();
    const screen = this.#screen;
    const facts = [stop];
    const step = this.calls.step(this.#path);
    if (step > 0) facts.push(counted(step, "step"));
    if (this.#usage) facts.push(tokens(this.#usage));
    if (this.#startedAt > 0) facts.push(duration(at - this.#startedAt));
    if (step > 0) screen.line();
    const told = facts.join(" · ");
    const head = screen.paint(colour, badge);
    if (`${badge} · ${told}`.length <= screen.width) {
      screen.line(`${head} ${screen.paint("dim", `· ${told}`)}`);
    } else {
      screen.line(head);
      screen.paragraph(told, INDENT, "dim");
    }
    if (why !== "") screen.paragraph(why, INDENT);
    if (this.#path.length === 0 && !this.#nodes.isEmpty) this.#tree(screen, 1);
  }

  /** The nodes of a workflow, with those of the workflows that were run at one of them below it. */
  #tree(screen: Screen, depth: number): void {
    this.#nodes.tree(screen, depth, (id) => {
      const below = [...this.#lanes.values()].filter((lane) => {
        const name = lane.#path[this.#path.length] ?? "";
        return (name === id || name.startsWith(`${id}[`)) && !lane.#nodes.isEmpty;
      });
      for (const lane of below.slice(0, MOST_BELOW)) lane.#tree(screen, depth + 1);
      const rest = below.length - MOST_BELOW;
      if (rest > 0) screen.line(screen.paint("dim", `${" ".repeat(INDENT * (depth + 1))}… and ${rest} more`));
    });
  }
}

export function tokens({ input_tokens, cached_input_tokens, output_tokens, cost }: Usage): string {
  const cached = cached_input_tokens > 0 ? ` (${count(cached_input_tokens)} cached)` : "";
  const price = cost === null ? "" : ` · $${cost.toFixed(4)}`;
  return `${count(input_tokens)} tokens in${cached}, ${count(output_tokens)} out${price}`;
}

type Action = RailRecord["action"];
const SAID: Readonly<Record<Action, string>> = {
  continue: "let it pass",
  skip: "skipped it",
  retry: "asked for another try",
  abort: "aborted the run",
  ask: "asked for an approval",
};
const WOULD_HAVE: Readonly<Record<Action, string>> = {
  continue: "let it pass",
  skip: "would have skipped it",
  retry: "would have asked for another try",
  abort: "would have aborted the run",
  ask: "would have asked for an approval",
};

/** What became of a call that has no result. */
function wordFor(code: string): string {
  if (code === "tool_timed_out") return "timed out";
  if (code === "cancelled" || code === "rejected" || code === "approval_timed_out") return "not run";
  if (code === "cancelled_unknown") return "stopped";
  return "failed";
}

function laneName(path: readonly string[]): string {
  const last = path.at(-1) ?? "";
  return last === "planner" ? last : `sub-agent ${cleanLine(path.join("/"))}`;
}

function nameOf(tool: string): string {
  const name = cleanLine(tool);
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}
