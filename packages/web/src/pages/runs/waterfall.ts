import { formatDuration } from "../../format/duration.ts";
import { formatShort, plural } from "../../format/number.ts";
import type { EventOf, LiveEvent, RailRecord, RunEvent } from "./types.ts";

export type RowKind =
  | "status"
  | "planner"
  | "plan"
  | "step"
  | "model"
  | "rail"
  | "tool"
  | "approval"
  | "subagent"
  | "context"
  | "message"
  | "retracted"
  | "error"
  | "handoff"
  | "artifact"
  | "node"
  | "text";

/** How a row stands out: `problem` failed, `attention` held something up or back, `quiet` changed nothing. */
export type Tone = "plain" | "problem" | "attention" | "quiet";

/** A stretch of a row's bar. Without an end it lasts. */
export interface Segment {
  readonly kind: "work" | "wait";
  readonly from: number;
  to: number | null;
}

/** One line of the waterfall. It is changed in place as events come; `revision` tells when. */
export interface Row {
  /** What the URL keeps: the number of its first event, with the run before it for a sub-agent's, as `run:17`. */
  readonly id: string;
  readonly kind: RowKind;
  readonly runId: string;
  readonly parent: Row | null;
  readonly depth: number;
  readonly children: Row[];
  /** Which step it belongs to; of a sub-agent's rows, its own. */
  readonly step: number | null;
  title: string;
  /** A few words beside the title. */
  note: string;
  tone: Tone;
  start: number;
  /** Null while it lasts. */
  end: number | null;
  /** Where a bar is more than its start and end. */
  readonly segments: Segment[];
  readonly events: RunEvent[];
  /** Of rows of rails: events hold what several of them said. */
  readonly record?: RailRecord;
  progress?: { readonly done: number; readonly total: number | null; readonly message: string | null };
  /** Which entry of a map's list it works on, from 0 as failures count them. */
  readonly item?: number;
  /** Of a map, and of a part of one: how many of its entries began, are over, and failed. */
  tally?: Tally;
  /** Of a node: questions that somebody has to answer before it goes on, its own and of what runs in it. */
  asks?: Set<string>;
  revision: number;
}

interface Tally {
  begun: number;
  over: number;
  failed: number;
}

/** Rows of one run, or of its planner. */
interface Lane {
  /** What its rows are under; null for the run that is looked at. */
  readonly container: Row | null;
  step: Row | null;
  /** The last model call. */
  model: Row | null;
  /** From when on a model call may have been under way. */
  since: number;
  /** The sub-agent that ended last: what it used is told after it. */
  ended: Row | null;
}

/**
 * The waterfall of a run, made event by event: nothing is read twice, so a run of ten thousand events is as cheap to go on
 * with as it was to begin. Events that were given before are passed over.
 */
export class Waterfall {
  readonly runId: string;
  readonly roots: Row[] = [];
  /** Changes whenever a row does. */
  version = 0;
  from = Number.POSITIVE_INFINITY;
  to = Number.NEGATIVE_INFINITY;
  readonly #rows = new Map<string, Row>();
  readonly #lanes = new Map<string, Lane>();
  readonly #seen = new Map<string, number>();
  readonly #calls = new Map<string, Row>();
  readonly #agents = new Map<string, Row>();
  readonly #approvals = new Map<string, Row>();
  readonly #messages = new Map<string, Row>();
  readonly #nodes = new Map<string, Row>();
  /** Runs that have nodes. */
  readonly #workflows = new Set<string>();
  /** The number of the first entry of each part of a long map, by its run. */
  readonly #firstItems = new Map<string, number>();
  readonly #open = new Set<Row>();

  constructor(runId: string) {
    this.runId = runId;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Whether something still lasts. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  row(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** The row of a tool call or an approval, for links from elsewhere. */
  rowOfCall(callId: string): Row | undefined {
    return this.#calls.get(callId);
  }

  /** The row of a node of this run, or of one in it. */
  rowOfNode(node: string, runId = this.runId): Row | undefined {
    return this.#nodes.get(nodeKey(runId, node));
  }

  /** The last durable event of the run itself: where its stream goes on. */
  get seq(): number {
    return this.#seen.get(this.runId) ?? 0;
  }

  /** Rows in the order they are shown, without what is under a folded one. */
  visible(isFolded: (row: Row) => boolean): Row[] {
    const shown: Row[] = [];
    const todo = this.roots.toReversed();
    for (let row = todo.pop(); row; row = todo.pop()) {
      shown.push(row);
      if (row.children.length === 0 || isFolded(row)) continue;
      for (let at = row.children.length - 1; at >= 0; at -= 1) {
        const child = row.children[at];
        if (child) todo.push(child);
      }
    }
    return shown;
  }

  /** All rows, in no order that matters. */
  all(): Iterable<Row> {
    return this.#rows.values();
  }

  /** Takes an event in; false when it was there already. */
  push(event: RunEvent): boolean {
    const seen = this.#seen.get(event.run_id) ?? 0;
    if (event.seq <= seen) return false;
    this.#seen.set(event.run_id, event.seq);
    this.version += 1;
    this.from = Math.min(this.from, event.at);
    this.to = Math.max(this.to, event.at);
    this.#take(event);
    return true;
  }

  /** What is under way right now: a model that speaks, a tool that tells how far it is. Superseded by durable events. */
  pushLive(event: LiveEvent): void {
    if (event.type === "mcp_progress") {
      const row = this.#calls.get(event.call_id);
      if (row?.end !== null) return;
      row.progress = { done: event.progress, total: event.total, message: event.message };
      this.#touch(row);
      return;
    }
    const lane = this.#lane(event.run_id, event.path);
    if (lane.model?.end === null) return;
    // The row takes the id of the event that will say what the call used, which is not known yet.
    const row = this.#add(lane, "model", `${this.#prefix(event.run_id)}live.${this.#rows.size}`, {
      title: "Model",
      note: "answers",
      start: lane.since,
      runId: event.run_id,
    });
    row.end = null;
    this.#open.add(row);
    lane.model = row;
  }

  #take(event: RunEvent): void {
    const lane = this.#lane(event.run_id, event.path, event.at);
    switch (event.type) {
      case "status":
        this.#status(lane, event);
        break;
      case "step":
        this.#step(lane, event);
        break;
      case "usage":
        this.#usage(lane, event);
        break;
      case "text":
      case "reasoning":
        this.#said(lane, event);
        break;
      case "tool_call":
        this.#toolCall(lane, event);
        break;
      case "tool_result":
        this.#toolResult(lane, event);
        break;
      case "approval":
        this.#approval(lane, event);
        break;
      case "rail":
        this.#rail(lane, event);
        break;
      case "subagent":
        this.#subagent(lane, event);
        break;
      case "plan":
        this.#plan(lane, event);
        break;
      case "context":
        this.#point(lane, event, "context", {
          title: CONTEXT_WORDS[event.action],
          note: `${formatShort(event.tokens_before)} → ${formatShort(event.tokens_after)} tok. ${event.detail}`,
          tone: event.action === "advisory" ? "quiet" : "plain",
        });
        break;
      case "message_injected":
        this.#point(lane, event, "message", {
          title: event.source === "user" ? "Message from a user" : `Injected by ${event.source}`,
          note: `${formatShort(event.tokens)} tok${event.durable ? "" : ", for this turn only"}`,
        });
        break;
      case "message_retracted":
        lane.since = event.at;
        this.#point(lane, event, "retracted", {
          title: `Attempt ${event.attempt} taken back`,
          note: event.reason,
          tone: "attention",
        });
        break;
      case "handoff":
        this.#point(lane, event, "handoff", {
          title: `Handed to ${event.to}`,
          note: `by ${event.from}. ${event.reason}`,
        });
        break;
      case "artifact": {
        const call = event.call_id === null ? undefined : this.#calls.get(event.call_id);
        this.#point(
          lane,
          event,
          "artifact",
          { title: "Artifact", note: `${event.media_type}, ${formatShort(event.bytes)} bytes` },
          call,
        );
        break;
      }
      case "node":
        this.#node(lane, event);
        break;
      case "error":
        this.#error(lane, event);
        break;
      default:
        unheard(event);
        break;
    }
  }

  #status(lane: Lane, event: EventOf<"status">): void {
    const { container } = lane;
    // Of a sub-agent the row it is in says as much.
    if (container?.kind === "subagent" && (event.status === "starting" || event.status === "completed")) {
      container.events.push(event);
      lane.since = event.at;
      this.#endOf(lane, event);
      return;
    }
    const { title, tone } = STATUS_LOOKS[event.status];
    // A workflow that came to its end has not answered anybody.
    const stop =
      this.#workflows.has(event.run_id) && event.stop_reason === "answered" ? undefined : event.stop_reason;
    const why = event.failure?.message ?? event.reason ?? (stop && STOPS[stop]) ?? "";
    this.#point(lane, event, "status", { title, note: why, tone }, lane.container);
    if (event.status === "starting") lane.since = event.at;
    this.#endOf(lane, event);
  }

  /** Nothing of a run lasts beyond it, whatever was under way when it was stopped. */
  #endOf(lane: Lane, event: EventOf<"status">): void {
    if (event.status !== "completed" && event.status !== "error" && event.status !== "cancelled") return;
    for (const row of this.#open) if (row.runId === event.run_id) this.#close(row, event.at);
    lane.step = null;
  }

  #step(lane: Lane, event: EventOf<"step">): void {
    if (event.state === "started") {
      lane.since = event.at;
      lane.model = null;
      lane.step = null;
      if (lane.container?.kind === "planner") {
        // Its steps are seldom more than one: its model calls are right under it.
        lane.container.events.push(event);
        lane.container.end = null;
        this.#open.add(lane.container);
        return;
      }
      lane.step = this.#begin(lane, event, "step", { title: `Step ${event.step}`, step: event.step });
      return;
    }
    const row = lane.step ?? (lane.container?.kind === "planner" ? lane.container : null);
    if (row === null) return;
    row.events.push(event);
    if (event.passed) row.note = `${plural(event.passed, "rail")} passed`;
    this.#close(row, event.at);
  }

  #usage(lane: Lane, event: EventOf<"usage">): void {
    const { input_tokens, output_tokens } = event.call;
    const words = `${formatShort(input_tokens)} in, ${formatShort(output_tokens)} out`;
    if (event.model === "subagents") {
      if (lane.ended === null) return;
      lane.ended.events.push(event);
      if (lane.ended.tally === undefined) lane.ended.note = `${words} tok`;
      this.#touch(lane.ended);
      return;
    }
    const live = lane.model?.end === null ? lane.model : undefined;
    const row = live ?? this.#begin(lane, event, "model", { title: "Model", start: lane.since });
    if (live) {
      row.events.push(event);
      this.#rows.set(this.#id(event), row);
    }
    // Calls that no step made are summaries: they have no beginning in common with a request before them.
    row.title = event.prefix === undefined ? "Summary" : "Model";
    row.note = `${words} tok`;
    this.#close(row, event.at);
    lane.model = row;
    lane.since = event.at;
  }

  #said(lane: Lane, event: EventOf<"text"> | EventOf<"reasoning">): void {
    const row = this.#messages.get(event.message_id) ?? lane.model;
    if (row === null || row.kind !== "model" || (row.step ?? 0) !== (lane.step?.step ?? 0)) {
      const isOutput = event.message_id === `${event.run_id}.output`; // what a workflow comes to
      this.#point(lane, event, "text", { title: isOutput ? "Output" : "Text", note: firstLine(event.text) });
      return;
    }
    this.#messages.set(event.message_id, row);
    row.events.push(event);
    if (event.type === "text" && event.text !== "") row.note = `${tokensOf(row)}${firstLine(event.text)}`;
    this.#touch(row);
  }

  #toolCall(lane: Lane, event: EventOf<"tool_call">): void {
    const note = briefly(event.arguments);
    const node = this.#nodeOf(event.run_id, event.call_id);
    const item = node?.tally && itemOf(event.call_id, this.#firstItems.get(event.run_id));
    const looks =
      item === undefined
        ? { title: event.tool, note }
        : { title: `Item ${item}`, note: `${event.tool} ${note}`, item };
    const row = this.#begin(lane, event, "tool", looks, node);
    this.#calls.set(event.call_id, row);
    if (item !== undefined) this.#count(row, "begun");
  }

  #toolResult(lane: Lane, event: EventOf<"tool_result">): void {
    const row = this.#calls.get(event.call_id) ?? this.#begin(lane, event, "tool", { title: event.tool });
    const { started_at, completed_at, status, attempts, skipped_by } = event.metadata;
    row.events.push(event);
    if (completed_at > started_at) {
      row.segments.push({ kind: "work", from: started_at, to: completed_at });
      this.to = Math.max(this.to, completed_at);
    }
    const again = attempts > 1 ? `${attempts} attempts. ` : "";
    if (skipped_by !== null) {
      row.tone = "attention";
      row.note = `${again}skipped by ${skipped_by}`;
    } else if (!event.success) {
      row.tone = status === "rejected" ? "attention" : "problem";
      row.note = `${again}${RESULTS[status]}${event.error ? `: ${firstLine(event.error)}` : ""}`;
    } else if (again) row.note = `${again}${row.note}`;
    delete row.progress;
    this.#close(row, Math.max(completed_at, row.start));
    if (row.item !== undefined) this.#count(row, event.success ? "over" : "failed");
  }

  #approval(lane: Lane, event: EventOf<"approval">): void {
    const call = this.#asker(event);
    if (event.state === "pending") {
      const row = this.#begin(
        lane,
        event,
        "approval",
        { title: APPROVALS[event.kind], note: event.reasons.join("; "), tone: "attention" },
        call,
      );
      for (let above = row.parent; above; above = above.parent)
        if (above.kind === "node") {
          above.asks ??= new Set();
          above.asks.add(event.approval_id);
          this.#touch(above);
        }
      row.segments.push({ kind: "wait", from: event.at, to: null });
      this.#approvals.set(event.approval_id, row);
      if (call) {
        if (call.segments.length === 0 && event.at > call.start)
          call.segments.push({ kind: "work", from: call.start, to: event.at });
        const last = call.segments.at(-1); // a node that waits does so already
        if (last?.kind !== "wait" || last.to !== null)
          call.segments.push({ kind: "wait", from: event.at, to: null });
        call.tone = "attention";
        if (call.kind === "node") call.note = event.reasons[0] ?? "";
        this.#touch(call);
      }
      return;
    }
    const row = this.#approvals.get(event.approval_id);
    const by = event.decided_by === undefined ? "" : ` by ${event.decided_by}`;
    const words = `${DECISIONS[event.state]}${by}`;
    if (row === undefined) {
      this.#point(lane, event, "approval", { title: words }, call);
      return;
    }
    row.events.push(event);
    row.note = words;
    row.tone = event.state === "approved" ? "plain" : "attention";
    this.#close(row, event.at);
    for (let above = row.parent; above; above = above.parent)
      if (above.asks?.delete(event.approval_id)) this.#touch(above);
    if (!call) return;
    for (const segment of call.segments) segment.to ??= event.at;
    if (call.end === null) call.tone = "plain";
    this.#touch(call);
  }

  #rail(lane: Lane, event: EventOf<"rail">): void {
    const call = event.call_id === null ? undefined : this.#calls.get(event.call_id);
    event.records.forEach((record, at) => {
      const row = this.#add(
        lane,
        "rail",
        event.records.length === 1 ? this.#id(event) : `${this.#id(event)}.${at}`,
        {
          title: record.rail,
          note: `${record.shadow ? `would ${record.action}` : record.action}${record.reason ? `: ${record.reason}` : ""}`,
          tone: record.shadow ? "quiet" : RAIL_TONES[record.action],
          start: event.at - record.duration_ms,
          runId: event.run_id,
          record,
        },
        call,
      );
      row.events.push(event);
      row.end = event.at;
    });
  }

  #subagent(lane: Lane, event: EventOf<"subagent">): void {
    if (event.state === "started") {
      const row = this.#childOf(lane, event);
      this.#agents.set(event.child_run_id, row);
      if (row.item !== undefined) this.#count(row, "begun");
      return;
    }
    const row = this.#agents.get(event.child_run_id);
    if (row === undefined) return;
    row.events.push(event);
    if (event.status === "error") row.tone = "problem";
    this.#close(row, event.at);
    if (row.item !== undefined) this.#count(row, event.status === "error" ? "failed" : "over");
    lane.ended = row;
  }

  /** A run below: of a sub-agent, of a node, of an entry of a map, or of a hundred entries of a long one. */
  #childOf(lane: Lane, event: EventOf<"subagent">): Row {
    const node = this.#nodes.get(nodeKey(event.run_id, event.call_id));
    if (node === undefined) {
      const title = `Sub-agent ${event.index + 1}`;
      return this.#begin(lane, event, "subagent", { title }, this.#calls.get(event.call_id));
    }
    if (node.tally === undefined) {
      const tries = attemptOf(node);
      const title = `${kindOf(node) === "workflow" ? "Its run" : "Its agent's run"}${tries > 1 ? `, try ${tries}` : ""}`;
      return this.#begin(lane, event, "subagent", { title }, node);
    }
    if (isPart(event.child_run_id)) {
      const first = event.index * PART;
      this.#firstItems.set(event.child_run_id, first);
      const title = `Items ${first}–${first + PART - 1}`;
      const row = this.#begin(lane, event, "subagent", { title }, node);
      row.tally = { begun: 0, over: 0, failed: 0 };
      return row;
    }
    const item = (this.#firstItems.get(event.run_id) ?? 0) + event.index;
    return this.#begin(lane, event, "subagent", { title: `Item ${item}`, item }, node);
  }

  /** An entry of a map has begun or is over: the map, and the part of it that the entry is in, say how far they are. */
  #count(row: Row, what: "begun" | "over" | "failed"): void {
    for (let above = row.parent; above?.tally; above = above.parent) {
      const { tally } = above;
      if (what === "begun") tally.begun += 1;
      else tally.over += 1;
      if (what === "failed") tally.failed += 1;
      above.note = tallyWords(tally);
      this.#touch(above);
    }
  }

  /** What asks: a call, or a node by its own name. */
  #asker({ kind, run_id, call_id, tool }: EventOf<"approval">): Row | undefined {
    const node = kind === "workflow_node" ? (call_id ?? tool) : null;
    if (node !== null) return this.#nodes.get(nodeKey(run_id, node));
    return call_id === null ? undefined : this.#calls.get(call_id);
  }

  /** The node that a call of a workflow's run is made for: `<run>.<node>.<attempt>.c<n>`. */
  #nodeOf(runId: string, callId: string): Row | undefined {
    if (!callId.startsWith(`${runId}.`)) return undefined;
    const node = callId.slice(runId.length + 1, callId.indexOf(".", runId.length + 1));
    return this.#nodes.get(nodeKey(runId, node));
  }

  #plan(lane: Lane, event: EventOf<"plan">): void {
    const planner = this.#lanes.get(laneKey(event.run_id, true))?.container;
    const note =
      event.failure?.message ??
      event.plan?.steps.map(({ title }, at) => `${at + 1}. ${title}`).join("  ") ??
      "none";
    this.#point(
      lane,
      event,
      "plan",
      { title: "Plan", note, tone: event.failure ? "problem" : "plain" },
      planner,
    );
  }

  /** A node is one row, however often it is tried; what it does is under it. */
  #node(lane: Lane, event: EventOf<"node">): void {
    const row = this.#nodeRow(lane, event);
    if (row.events.at(-1) !== event) row.events.push(event);
    if (row.kind !== "node") return; // a part of a map says how it ended by itself
    const { state, failure, at } = event;
    if (state === "started") {
      row.tone = "plain";
      if ((event.attempt ?? 1) > 1) row.note = `try ${event.attempt}`;
      for (const segment of row.segments) segment.to ??= at;
      if (event.kind === "wait") row.segments.push({ kind: "wait", from: at, to: null });
      this.#touch(row);
      return;
    }
    if (state === "retrying") {
      this.#again(lane, event, row);
      return;
    }
    const { note, tone } = nodeLooks(event);
    row.tone = tone;
    row.note = note;
    if (failure) row.note = failure.message;
    this.#close(row, at);
  }

  #nodeRow(lane: Lane, event: EventOf<"node">): Row {
    const key = nodeKey(event.run_id, event.node);
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    // A part of a map is a workflow of one node, which is the map again: one row is enough for both.
    const isPartOfMap = this.#firstItems.has(event.run_id) && lane.container !== null;
    const row =
      isPartOfMap && lane.container
        ? lane.container
        : this.#begin(lane, event, "node", { title: event.node });
    if (event.kind === "map") row.tally ??= { begun: 0, over: 0, failed: 0 };
    this.#nodes.set(key, row);
    this.#workflows.add(event.run_id);
    return row;
  }

  /** The try before came to nothing: it waits, and is tried once more. */
  #again(lane: Lane, event: EventOf<"node">, node: Row): void {
    const { attempt = 1, retry_in_ms = 0, failure, at } = event;
    const why = failure?.message ?? "it failed";
    node.tone = "attention";
    node.note = `again in ${formatDuration(retry_in_ms)}: ${why}`;
    if (node.segments.length === 0 && at > node.start)
      node.segments.push({ kind: "work", from: node.start, to: at });
    if (retry_in_ms > 0) node.segments.push({ kind: "wait", from: at, to: at + retry_in_ms });
    this.#touch(node);
    const looks = { title: `Try ${attempt} failed`, note: why, tone: "attention" as const };
    this.#point(lane, event, "error", looks, node);
  }

  #error(lane: Lane, event: EventOf<"error">): void {
    const { failure, attempt, retry_in_ms, skipped } = event;
    const after = retry_in_ms ?? 0;
    const title = attempt === undefined ? "Error" : `Attempt ${attempt} failed`;
    const next = retry_in_ms === undefined ? "" : `again in ${formatDuration(retry_in_ms)}: `;
    const row = this.#begin(lane, event, "error", {
      title,
      note: `${next}${skipped ? "left out: " : ""}${failure.message}`,
      tone: retry_in_ms === undefined && !skipped ? "problem" : "attention",
    });
    if (after > 0) row.segments.push({ kind: "wait", from: event.at, to: event.at + after });
    this.#close(row, event.at + after);
    lane.since = event.at + after;
  }

  /** Something that takes no time. */
  #point(lane: Lane, event: RunEvent, kind: RowKind, looks: Looks, under?: Row | null): void {
    this.#close(this.#begin(lane, event, kind, looks, under), event.at);
  }

  #begin(lane: Lane, event: RunEvent, kind: RowKind, looks: Looks, under?: Row | null): Row {
    const row = this.#add(
      lane,
      kind,
      this.#id(event),
      { start: event.at, runId: event.run_id, ...looks },
      under,
    );
    row.events.push(event);
    this.#open.add(row);
    return row;
  }

  /** A row under the step of its lane, unless it is said what it is under. */
  #add(lane: Lane, kind: RowKind, id: string, looks: Looks & Placed, under?: Row | null): Row {
    const parent = under === undefined ? (lane.step ?? lane.container) : under;
    const { title, note = "", tone = "plain", start, runId, record, item } = looks;
    const { step = lane.step?.step ?? null } = looks;
    const row: Row = {
      id,
      kind,
      runId,
      parent,
      depth: parent === null ? 0 : parent.depth + 1,
      children: [],
      step,
      title,
      note,
      tone,
      start,
      end: null,
      segments: [],
      events: [],
      ...(record && { record }),
      ...(item !== undefined && { item }),
      revision: 0,
    };
    (parent?.children ?? this.roots).push(row);
    if (parent && parent.children.length === 1) parent.revision += 1;
    this.#rows.set(id, row);
    this.from = Math.min(this.from, start);
    this.version += 1;
    return row;
  }

  #close(row: Row, at: number): void {
    row.end = Math.max(at, row.start);
    for (const segment of row.segments) segment.to ??= row.end;
    this.to = Math.max(this.to, row.end);
    this.#open.delete(row);
    this.#touch(row);
  }

  #touch(row: Row): void {
    row.revision += 1;
    this.version += 1;
  }

  #id(event: RunEvent): string {
    return `${this.#prefix(event.run_id)}${event.seq}`;
  }

  #prefix(runId: string): string {
    return runId === this.runId ? "" : `${runId}:`;
  }

  #lane(runId: string, path: readonly string[], at = 0): Lane {
    const planning = path.at(-1) === "planner";
    const key = laneKey(runId, planning);
    const known = this.#lanes.get(key);
    if (known) return known;
    const own = planning ? this.#lane(runId, path.slice(0, -1), at) : undefined;
    const lane: Lane = {
      container: own ? this.#planner(own, runId, at) : runId === this.runId ? null : this.#agent(runId, at),
      step: null,
      model: null,
      since: at,
      ended: null,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  #planner(own: Lane, runId: string, at: number): Row {
    const id = `${this.#prefix(runId)}planner`;
    const row = this.#add(own, "planner", id, { title: "Planner", start: at, runId });
    this.#open.add(row);
    return row;
  }

  /** The lane of a sub-agent; one that nobody announced is shown all the same. */
  #agent(runId: string, at: number): Row {
    const known = this.#agents.get(runId);
    if (known) return known;
    const root = this.#lane(this.runId, [], at);
    const row = this.#add(root, "subagent", `${runId}:0`, { title: "Sub-agent", start: at, runId }, null);
    this.#open.add(row);
    this.#agents.set(runId, row);
    return row;
  }
}

interface Looks {
  readonly title: string;
  readonly note?: string;
  readonly tone?: Tone;
  readonly start?: number;
  readonly step?: number;
  readonly item?: number;
}

interface Placed {
  readonly start: number;
  readonly runId: string;
  readonly record?: RailRecord;
}

/** A map of more entries is done in runs of so many each. */
const PART = 100;
const isPart = (runId: string) => /\.part\d+$/.test(runId);
const nodeKey = (runId: string, node: string) => `${runId}/${node}`;

/** The number of the entry that a call of a map is for. */
function itemOf(callId: string, first = 0): number | undefined {
  const found = /\.c(\d+)$/.exec(callId);
  return found === null ? undefined : first + Number(found[1]);
}

const nodeEvents = (row: Row) => row.events.filter((event) => event.type === "node");
const kindOf = (row: Row) => nodeEvents(row)[0]?.kind;
const attemptOf = (row: Row) => nodeEvents(row).at(-1)?.attempt ?? 1;

function tallyWords({ begun, over, failed }: Tally): string {
  const open = begun - over;
  const words = [`${over} done`, open > 0 ? `${open} under way` : "", failed > 0 ? `${failed} failed` : ""];
  return words.filter((one) => one !== "").join(", ");
}

/** How a node that is over is told in a line. */
function nodeLooks(event: EventOf<"node">): { note: string; tone: Tone } {
  const { state, attempt = 1, port, reused, items, items_failed, reason, output } = event;
  if (state === "skipped")
    return { note: reused ? "reused: skipped" : `skipped: ${reason ?? "nothing led to it"}`, tone: "quiet" };
  if (state === "failed") return { note: "", tone: port === "rejected" ? "attention" : "problem" };
  const failed = items_failed ? `, ${items_failed} failed` : "";
  const words = [
    reused ? "reused" : "",
    attempt > 1 ? `${attempt} tries` : "",
    port === "true" || port === "false" ? `went ${port}` : "",
    items === undefined ? "" : `${plural(items, "item")}${failed}`,
    items === undefined && port === undefined && output !== undefined ? glance(output) : "",
  ];
  const tone = reused ? "quiet" : items_failed ? "attention" : "plain";
  return { note: words.filter((one) => one !== "").join(" · "), tone };
}

/** A value at a glance: no more of it is written than is shown. */
export function glance(value: unknown): string {
  if (typeof value === "string") return firstLine(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return briefly(value as Record<string, never>); // any JSON object
  if (Array.isArray(value)) return plural(value.length, "entry", "entries");
  return value === null || value === undefined ? "" : String(value);
}

const laneKey = (runId: string, planning: boolean) => (planning ? `${runId}/planner` : runId);

/** The bar of a row, up to now where it lasts: waits apart from work. */
export function barOf(row: Row, now: number): Segment[] {
  const end = row.end ?? now;
  if (row.segments.length === 0) return [{ kind: "work", from: row.start, to: end }];
  const last = row.segments.at(-1);
  const bar = row.segments.map((segment) => ({ ...segment, to: segment.to ?? end }));
  // Decided, and under way since.
  if (row.end === null && last?.to != null) bar.push({ kind: "work", from: last.to, to: end });
  return bar;
}

const STATUS_LOOKS: Record<EventOf<"status">["status"], { title: string; tone: Tone }> = {
  starting: { title: "Started", tone: "plain" },
  waiting: { title: "Waiting", tone: "attention" },
  parked: { title: "Parked", tone: "attention" },
  completed: { title: "Done", tone: "plain" },
  error: { title: "Failed", tone: "problem" },
  cancelled: { title: "Stopped", tone: "attention" },
};

const STOPS: Record<NonNullable<EventOf<"status">["stop_reason"]>, string> = {
  answered: "answered",
  max_steps: "reached its most steps",
  budget: "reached its budget",
  halted: "halted",
  skipped: "skipped",
};

const CONTEXT_WORDS: Record<EventOf<"context">["action"], string> = {
  stubbed: "Old results cut short",
  summarised: "Context summarised",
  dropped: "Messages dropped",
  replaced: "Messages replaced",
  skipped: "Compaction skipped",
  withheld: "Content withheld",
  advisory: "Context is filling up",
};

const RESULTS: Record<EventOf<"tool_result">["metadata"]["status"], string> = {
  success: "done",
  error: "failed",
  rejected: "rejected",
  timed_out: "timed out",
};

const APPROVALS: Record<EventOf<"approval">["kind"], string> = {
  tool_call: "Approval",
  client_tool: "Result from a client",
  workflow_node: "Approval of a node",
  unknown_outcome: "What came of it",
  elicitation: "Question of a server",
  tool_definition: "Changed tool",
};

const DECISIONS: Record<Exclude<EventOf<"approval">["state"], "pending">, string> = {
  approved: "approved",
  rejected: "rejected",
  timed_out: "timed out",
  cancelled: "withdrawn",
};

const RAIL_TONES: Record<RailRecord["action"], Tone> = {
  continue: "quiet",
  ask: "attention",
  skip: "attention",
  retry: "attention",
  abort: "problem",
};

/** Rows of thousands of events are built from these: no more of a text is read than is shown. */
function firstLine(text: string): string {
  const head = text.slice(0, 200).trimStart();
  const end = head.indexOf("\n");
  return end < 0 ? head : head.slice(0, end);
}

function tokensOf(row: Row): string {
  const usage = row.events.find((event) => event.type === "usage");
  return usage?.type === "usage"
    ? `${formatShort(usage.call.input_tokens)} in, ${formatShort(usage.call.output_tokens)} out tok · `
    : "";
}

/** Arguments at a glance: `service checkout, version 2.14`. The detail has them whole. */
function briefly(args: EventOf<"tool_call">["arguments"]): string {
  if (args === null) return "arguments that do not parse";
  let text = "";
  for (const [name, value] of Object.entries(args)) {
    const plain = typeof value === "string" ? firstLine(value) : JSON.stringify(value).slice(0, 100);
    text += `${text && ", "}${name} ${plain}`;
    if (text.length > 160) break;
  }
  return text;
}

/** An event of a newer server: its lane knows it was there, and that is all. */
function unheard(_: never): void {}
