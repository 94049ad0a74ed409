import type { DurableEvent, Failure, LiveEvent, Plan, Usage } from "trackside/schema";
import type { Asked, CallItem, Item, NoteItem, Verdict } from "./items.ts";
import { noteOf, verdictsOf } from "./notes.ts";

export type RunEvent = DurableEvent | LiveEvent;

/** A place on the meter of the context at which it was made smaller. */
export interface Compaction {
  readonly seq: number;
  readonly action: string;
  readonly before: number;
  readonly after: number;
  readonly detail: string;
}

export type RunState = "starting" | "running" | "waiting" | "parked" | "completed" | "error" | "cancelled";

/** One run as it is shown: of the conversation, or of a sub-agent in a lane. */
export interface RunView {
  readonly id: string;
  /** The last durable event that was read. */
  readonly seq: number;
  /** What is in the record, in its order. */
  readonly items: readonly Item[];
  /** What is being written: after everything that is in the record. */
  readonly live: readonly Item[];
  readonly state: RunState;
  readonly stopReason: string | null;
  /** Why it was stopped, parked or ended. */
  readonly reason: string | null;
  readonly failure: Failure | null;
  readonly step: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Rails that hold the text back until they have passed it. */
  readonly heldBy: readonly string[];
  readonly isPlanning: boolean;
  readonly plan: Plan | null;
  readonly planFailure: Failure | null;
  /** What the planner asks: it has no place in the transcript (P6). */
  readonly plannerAsks: readonly Asked[];
  readonly usage: Usage | null;
  /** Tokens of the last request and its answer: what the context holds. */
  readonly contextTokens: number | null;
  readonly compactions: readonly Compaction[];
}

/** A run and the sub-agents below it, by id. */
export interface Tree {
  readonly root: string;
  readonly runs: ReadonlyMap<string, RunView>;
}

export function emptyTree(root: string): Tree {
  return { root, runs: new Map([[root, emptyRun(root)]]) };
}

export function rootOf(tree: Tree): RunView {
  return tree.runs.get(tree.root) ?? emptyRun(tree.root);
}

export function isOver({ state }: Pick<RunView, "state">): boolean {
  return state === "completed" || state === "error" || state === "cancelled";
}

/** Everything that waits for somebody, of a run and its sub-agents. */
export function openQuestions(tree: Tree): readonly Asked[] {
  return [...tree.runs.values()].flatMap((run) => {
    if (isOver(run)) return [];
    const asked = run.items.flatMap((item) => {
      if (item.kind === "asked") return [item.asked];
      return item.kind === "call" && item.result === null ? item.asked : [];
    });
    return [...asked, ...run.plannerAsks].filter(({ state }) => state === "pending");
  });
}

/**
 * Reads events into what is shown. It does not matter how they are cut into batches, nor whether some come twice: what was
 * read is passed over, by `seq` for the record and by offset for what is live (E4). A batch copies each run it touches once.
 */
export function readEvents(tree: Tree, events: readonly RunEvent[]): Tree {
  const drafts = new Map<string, Draft>();
  for (const event of events) {
    let draft = drafts.get(event.run_id);
    if (draft === undefined) {
      draft = new Draft(tree.runs.get(event.run_id) ?? emptyRun(event.run_id));
      drafts.set(event.run_id, draft);
    }
    draft.read(event);
  }
  const runs = new Map(tree.runs);
  let changed = false;
  for (const [id, draft] of drafts) {
    const run = draft.done();
    if (run === runs.get(id)) continue;
    runs.set(id, run);
    changed = true;
  }
  return changed ? { root: tree.root, runs } : tree;
}

function emptyRun(id: string): RunView {
  return {
    id,
    seq: 0,
    items: [],
    live: [],
    state: "starting",
    stopReason: null,
    reason: null,
    failure: null,
    step: 0,
    startedAt: null,
    endedAt: null,
    heldBy: [],
    isPlanning: false,
    plan: null,
    planFailure: null,
    plannerAsks: [],
    usage: null,
    contextTokens: null,
    compactions: [],
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Where live text stands, for readers that come back: nothing older than this is shown again. */
interface Marks {
  /** Live events from before this `seq` are over. */
  readonly cleared: number;
  /** Attempts that were taken back, by message. */
  readonly retracted: ReadonlyMap<string, number>;
  /** Where in `items` something is, by key. */
  readonly places: ReadonlyMap<string, number>;
}

/** Beside a view, not in it: nothing that is shown. */
const marksOf = new WeakMap<RunView, Marks>();
const NO_MARKS: Marks = { cleared: 0, retracted: new Map(), places: new Map() };

/** One run while a batch is read into it. */
class Draft {
  readonly #from: RunView;
  readonly #run: Writable<RunView>;
  readonly #items: Item[];
  readonly #places: Map<string, number>;
  readonly #retracted: Map<string, number>;
  #live: Item[];
  #cleared: number;
  #changed = false;

  constructor(run: RunView) {
    const { cleared, retracted, places } = marksOf.get(run) ?? NO_MARKS;
    this.#from = run;
    this.#run = { ...run };
    this.#items = [...run.items];
    this.#live = [...run.live];
    this.#places = new Map(places);
    this.#retracted = new Map(retracted);
    this.#cleared = cleared;
  }

  done(): RunView {
    if (!this.#changed) return this.#from;
    const run: RunView = { ...this.#run, items: this.#items, live: this.#live };
    marksOf.set(run, { cleared: this.#cleared, retracted: this.#retracted, places: this.#places });
    return run;
  }

  read(event: RunEvent): void {
    if (!("seq" in event)) {
      if (!this.#isStale(event) && !isPlanners(event)) this.#readLive(event);
      return;
    }
    if (event.seq <= this.#run.seq) return;
    this.#run.seq = event.seq;
    this.#changed = true;
    if (isPlanners(event)) this.#readPlanners(event);
    else this.#readDurable(event);
  }

  #isStale(event: LiveEvent): boolean {
    if (isOver(this.#run) || event.after_seq < this.#cleared) return true;
    if (event.type === "mcp_progress") return false;
    return event.attempt <= (this.#retracted.get(event.message_id) ?? 0);
  }

  #readLive(event: LiveEvent): void {
    switch (event.type) {
      case "text_delta": {
        const { message_id: key, attempt } = event;
        if (this.#places.has(key)) return;
        const before = this.#live.find((item) => item.kind === "text" && item.key === key);
        const text = written(before?.kind === "text" ? before : undefined, event);
        if (text !== undefined)
          this.#putLive({ kind: "text", key, text, live: true, partial: false, attempt });
        return;
      }
      case "reasoning_delta": {
        const { message_id: messageId, attempt } = event;
        const key = reasoningKey(messageId);
        if (this.#places.has(key)) return;
        const before = this.#live.find((item) => item.kind === "reasoning" && item.key === key);
        const text = written(before?.kind === "reasoning" ? before : undefined, event);
        if (text !== undefined)
          this.#putLive({ kind: "reasoning", key, messageId, text, live: true, attempt });
        return;
      }
      case "tool_input_delta": {
        const { call_id: key, message_id: messageId, tool, attempt } = event;
        if (this.#places.has(key)) return;
        const found = this.#live.find((item) => item.kind === "call" && item.key === key);
        const before = found?.kind === "call" ? { text: found.input, attempt: found.attempt } : undefined;
        const input = written(before, event);
        if (input !== undefined)
          this.#putLive({ ...newCall(key, messageId, tool), input, live: true, attempt });
        return;
      }
      case "mcp_progress":
        this.#changeCall(event.call_id, (call) => {
          const { attempt, offset, progress: done, total, message } = event;
          const last = call.progress;
          const isOld =
            last && (last.attempt > attempt || (last.attempt === attempt && last.offset >= offset));
          if (call.result || isOld) return call;
          return { ...call, progress: { attempt, offset, done, total, message } };
        });
    }
  }

  #readDurable(event: DurableEvent): void {
    const run = this.#run;
    switch (event.type) {
      case "status":
        this.#readStatus(event);
        return;
      case "step":
        run.isPlanning = false;
        if (event.state === "started") {
          run.step = event.step;
          run.state = "running";
        } else this.#clear(event.seq);
        return;
      case "text": {
        const { message_id: key, text, partial } = event;
        this.#commit({ kind: "text", key, text, live: false, partial: partial === true, attempt: 0 });
        return;
      }
      case "reasoning": {
        const { message_id: messageId, text } = event;
        this.#commit({
          kind: "reasoning",
          key: reasoningKey(messageId),
          messageId,
          text,
          live: false,
          attempt: 0,
        });
        return;
      }
      case "tool_call":
        this.#commit({
          ...newCall(event.call_id, event.message_id, event.tool),
          arguments: event.arguments,
          injected: event.injected_args ?? {},
          at: event.at,
        });
        return;
      case "tool_result":
        if (!this.#places.has(event.call_id)) this.#commit(newCall(event.call_id, "", event.tool));
        this.#changeCall(event.call_id, (call) => ({
          ...call,
          progress: null,
          result: {
            success: event.success,
            output: event.output,
            error: event.error,
            durationMs: event.duration_ms,
            metadata: event.metadata,
          },
        }));
        return;
      case "approval":
        if (event.state === "pending") run.state = "waiting";
        else if (run.state === "waiting") run.state = "running";
        if (event.call_id !== null && this.#places.has(event.call_id))
          this.#changeCall(event.call_id, (call) => ({ ...call, asked: withAsked(call.asked, event) }));
        else this.#commit({ kind: "asked", key: event.approval_id, asked: askedOf(event) });
        return;
      case "rail":
        if (event.call_id !== null && this.#places.has(event.call_id)) {
          const said: readonly Verdict[] = verdictsOf(event);
          this.#changeCall(event.call_id, (call) => ({ ...call, verdicts: [...call.verdicts, ...said] }));
        } else this.#note(event);
        return;
      case "subagent":
        this.#changeCall(event.call_id, (call) => {
          const others = call.lanes.filter(({ runId }) => runId !== event.child_run_id);
          const lane = { runId: event.child_run_id, index: event.index, outcome: event.status ?? null };
          return { ...call, lanes: [...others, lane].toSorted((a, b) => a.index - b.index) };
        });
        return;
      case "usage":
        run.usage = event.total;
        if (event.prefix !== undefined)
          run.contextTokens = event.call.input_tokens + event.call.output_tokens;
        return;
      case "context":
        if (COMPACTING.has(event.action)) {
          const { seq, action, tokens_before: before, tokens_after: after, detail } = event;
          run.compactions = [...run.compactions, { seq, action, before, after, detail }];
          run.contextTokens = after;
        }
        this.#note(event);
        return;
      case "message_injected":
        if (event.source === "user")
          this.#commit({
            kind: "said",
            key: event.message_id,
            parts: event.parts ?? [],
            receipt: event.receipt ?? null,
          });
        else this.#note(event);
        return;
      case "message_retracted":
        this.#retract(event.message_id, event.attempt);
        this.#note(event);
        return;
      case "plan":
        run.isPlanning = false;
        run.plan = event.plan;
        run.planFailure = event.failure ?? null;
        return;
      case "handoff":
      case "error":
      case "node":
        this.#note(event);
        return;
      case "artifact":
        return; // the result of its call links to it
    }
  }

  #readStatus(event: Extract<DurableEvent, { type: "status" }>): void {
    const run = this.#run;
    const { status, reason, failure, stop_reason, held_by } = event;
    run.state = status;
    run.reason = reason ?? null;
    if (status === "starting") {
      // A run that was parked starts again; it began when it first did.
      run.startedAt ??= event.at;
      run.heldBy = held_by ?? [];
    }
    if (!isOver(run)) return;
    run.failure = failure ?? null;
    run.stopReason = stop_reason ?? null;
    run.endedAt = event.at;
    run.isPlanning = false;
    this.#clear(event.seq);
  }

  /** Nothing the planner says is shown (P6), but what it uses and asks is. */
  #readPlanners(event: DurableEvent): void {
    const run = this.#run;
    if (event.type === "step") run.isPlanning = event.state === "started" || run.isPlanning;
    else if (event.type === "usage") run.usage = event.total;
    else if (event.type === "approval") {
      run.state = event.state === "pending" ? "waiting" : "running";
      run.plannerAsks = withAsked(run.plannerAsks, event);
    }
  }

  /** What is in the record comes before everything that is still being written, which keeps its order. */
  #commit(item: Item): void {
    this.#live = this.#live.filter(({ key }) => key !== item.key);
    const at = this.#places.get(item.key);
    if (at === undefined) this.#places.set(item.key, this.#items.push(item) - 1);
    else this.#items[at] = item;
  }

  #note(event: DurableEvent): void {
    for (const note of noteOf(event)) this.#commit(note satisfies NoteItem);
  }

  #putLive(item: Item): void {
    const at = this.#live.findIndex(({ key }) => key === item.key);
    if (at < 0) this.#live.push(item);
    else this.#live[at] = item;
    this.#changed = true;
  }

  #changeCall(key: string, change: (call: CallItem) => CallItem): void {
    const at = this.#places.get(key);
    const call = at === undefined ? undefined : this.#items[at];
    if (at === undefined || call?.kind !== "call") return;
    const next = change(call);
    if (next === call) return;
    this.#items[at] = next;
    this.#changed = true;
  }

  #clear(seq: number): void {
    this.#live = [];
    this.#cleared = seq;
  }

  #retract(messageId: string, attempt: number): void {
    this.#retracted.set(messageId, Math.max(attempt, this.#retracted.get(messageId) ?? 0));
    const isOf = (item: Item) =>
      (item.kind === "text" && item.key === messageId) ||
      ((item.kind === "reasoning" || item.kind === "call") && item.messageId === messageId);
    this.#live = this.#live.filter((item) => !isOf(item));
    if (!this.#places.has(messageId) && !this.#places.has(reasoningKey(messageId))) return;
    const kept = this.#items.filter((item) => !isOf(item));
    this.#items.splice(0, this.#items.length, ...kept);
    this.#places.clear();
    for (const [at, { key }] of kept.entries()) this.#places.set(key, at);
  }
}

const COMPACTING = new Set(["stubbed", "summarised", "dropped"]);

const reasoningKey = (messageId: string) => `${messageId}#reasoning`;

function isPlanners({ path }: RunEvent): boolean {
  return path.includes("planner");
}

/** The text with what a delta adds; undefined when it adds nothing that is not there. */
function written(
  before: { readonly text: string; readonly attempt: number } | undefined,
  { offset, text, attempt }: { readonly offset: number; readonly text: string; readonly attempt: number },
): string | undefined {
  if (before === undefined || attempt > before.attempt) return text;
  if (attempt < before.attempt) return undefined;
  const known = before.text.length - offset;
  if (known >= text.length) return undefined;
  return before.text + (known > 0 ? text.slice(known) : text);
}

function newCall(key: string, messageId: string, tool: string): CallItem {
  return {
    kind: "call",
    key,
    messageId,
    tool,
    arguments: null,
    injected: {},
    input: "",
    live: false,
    attempt: 0,
    at: null,
    progress: null,
    asked: [],
    verdicts: [],
    lanes: [],
    result: null,
  };
}

function withAsked(
  asked: readonly Asked[],
  event: Extract<DurableEvent, { type: "approval" }>,
): readonly Asked[] {
  const at = asked.findIndex(({ id }) => id === event.approval_id);
  return at < 0 ? [...asked, askedOf(event)] : asked.with(at, askedOf(event));
}

function askedOf(event: Extract<DurableEvent, { type: "approval" }>): Asked {
  const { approval_id: id, kind, state, tool, reasons, deadline, decided_by } = event;
  return { id, kind, state, tool, reasons, deadline, decidedBy: decided_by ?? null };
}
