import type { PinnedAgent, PinnedNode } from "../schema/agent.ts";
import type { DurableEventOf } from "../schema/durable-events.ts";
import type { Failure, FailureCode } from "../schema/failure.ts";
import type { Call } from "../schema/tool.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";
import { charge } from "../turn/charge.ts";
import { decide, settleCall } from "../turn/settle-call.ts";
import { Slots } from "../turn/slots.ts";
import { addUsage } from "../turn/state.ts";
import type { ChildOut, NodeInput, NodeOut, World } from "../turn/world.ts";
import { CHUNK } from "./chunk.ts";
import type { Turnstile } from "./turnstile.ts";
import { under } from "./under.ts";

type Said = Pick<
  DurableEventOf<"node">,
  "attempt" | "child_run_id" | "call_id" | "items" | "items_failed" | "usage"
>;

/** How a node ended. */
export interface NodeEnd extends Said {
  /** Its output. */
  message_id?: string;
  port?: "true" | "false";
  failure?: Failure;
  /** Somebody said no, or nobody said anything. */
  isRejected?: true;
  /** It is not tried again. */
  isFinal?: true;
  /** The whole run has to stop. */
  fatal?: Failure;
  cancelled?: string;
}

/** What another try would not change. */
const FINAL: readonly FailureCode[] = [
  "node_invalid",
  "rejected",
  "approval_timed_out",
  "tool_unknown",
  "tool_arguments_invalid",
  "unknown_outcome",
  "cancelled_unknown",
  "budget_exceeded",
];

/** One node of a workflow, from its first try to its end. */
export class NodeRun {
  readonly #agent: PinnedAgent;
  readonly #turn: TurnStart;
  readonly #world: World;
  readonly #state: TurnState;
  readonly #calls: Turnstile;
  readonly #id: string;
  readonly #node: PinnedNode;

  constructor(
    agent: PinnedAgent,
    turn: TurnStart,
    world: World,
    state: TurnState,
    calls: Turnstile,
    { id, node }: { readonly id: string; readonly node: PinnedNode },
  ) {
    this.#agent = agent;
    this.#turn = turn;
    this.#world = world;
    this.#state = state;
    this.#calls = calls;
    this.#id = id;
    this.#node = node;
  }

  async live(from: NodeInput["from"]): Promise<NodeEnd> {
    const { kind, retry } = this.#node;
    const about = { type: "node" as const, node: this.#id, kind };
    for (let attempt = 1; ; attempt++) {
      this.#world.note({ ...about, state: "started", attempt });
      const end = await this.#attempt(attempt, from);
      if (!this.#mayTryAgain(end, attempt)) return { ...end, attempt };
      const { delay_ms = 0, backoff = 1 } = retry ?? {};
      const retry_in_ms = Math.min(delay_ms * backoff ** (attempt - 1), LONGEST_MS);
      const { failure } = end;
      this.#world.note({
        ...about,
        state: "retrying",
        attempt,
        retry_in_ms,
        ...(failure ? { failure } : {}),
      });
      const waited = await this.#world.sleep(`${this.#key(attempt)}/again`, retry_in_ms);
      if (waited.cancelled !== undefined) return { ...end, ...stopped(waited.cancelled), attempt };
    }
  }

  #mayTryAgain({ failure, fatal, cancelled, isFinal }: NodeEnd, attempt: number): boolean {
    if (failure === undefined || fatal || cancelled !== undefined || this.#state.outcome !== null)
      return false;
    return !isFinal && !FINAL.includes(failure.code) && attempt < (this.#node.retry?.attempts ?? 1);
  }

  async #attempt(attempt: number, from: NodeInput["from"]): Promise<NodeEnd> {
    const key = this.#key(attempt);
    const entered = await this.#world.node(`${key}/enter`, { node: this.#id, doing: "enter", attempt, from });
    if (entered.cancelled !== undefined) return stopped(entered.cancelled);
    if (entered.failure) return { failure: entered.failure };
    // What its runs and calls begin with is kept, and in no log.
    this.#aside(entered.message_id);
    const work = () => this.#work(`${key}/do`, attempt, entered);
    const { timeout_ms } = this.#node;
    const end = timeout_ms === undefined ? await work() : await this.#inTime(key, timeout_ms, work);
    return entered.once && end.failure ? { ...end, isFinal: true } : end;
  }

  /** Stops the work when its time is up, and the clock when it is done. Both have answered when this does. */
  async #inTime(key: string, ms: number, work: () => Promise<NodeEnd>): Promise<NodeEnd> {
    let isOver = false;
    let isLate = false;
    const timer = this.#world.sleep(`${key}/time`, ms).then(({ cancelled }) => {
      if (isOver || cancelled !== undefined) return;
      isLate = true;
      this.#world.cancel(`${key}/do`, `its time is up (${ms} ms)`);
    });
    const end = await work();
    isOver = true;
    if (!isLate) this.#world.cancel(`${key}/time`, "done");
    await timer;
    if (!isLate || end.fatal || end.failure === undefined) return end;
    const { cancelled: _, ...rest } = end;
    return { ...rest, failure: { code: "node_timed_out", message: `Its time was up after ${ms} ms.` } };
  }

  #work(key: string, attempt: number, entered: NodeOut): Promise<NodeEnd> {
    if (entered.items !== undefined) return this.#map(key, attempt, entered);
    if (entered.calls !== undefined) return this.#call(key, entered);
    if (entered.gate !== undefined) return this.#ask(key, attempt, entered);
    if (entered.wait_ms !== undefined) return this.#wait(key, entered.wait_ms);
    if (entered.port !== undefined) return Promise.resolve(decided(entered));
    return this.#run(key, attempt, entered);
  }

  /** An agent or a workflow: a run of its own. */
  async #run(key: string, attempt: number, { message_id = "" }: NodeOut): Promise<NodeEnd> {
    const out = await this.#child(key, attempt, { message_id, part: 0 });
    const child = { child_run_id: out.run_id, usage: out.usage };
    const ended = childEnd(out);
    if (ended) return { ...child, ...ended };
    return { ...child, ...(await this.#settle(key, attempt, { children: [out] })) };
  }

  async #call(key: string, entered: NodeOut): Promise<NodeEnd> {
    const [call] = entered.calls ?? [];
    if (call === undefined) throw new Error(`the node "${this.#id}" makes no call`);
    const { message_id, ...end } = await this.#oneCall(key, entered, call);
    return { call_id: call.id, ...end, ...(end.failure || message_id === undefined ? {} : { message_id }) };
  }

  /** Rails, approval, the tool, rails: what any call goes through (R14). Its result is kept in any case. */
  async #oneCall(key: string, { message_id = "", calls = [] }: NodeOut, call: Call): Promise<NodeEnd> {
    const world = under(this.#world, key);
    const said = { message_id, attempt: 1, calls, has_text: false, has_reasoning: false, skipped: false };
    await this.#calls.enter(call.exclusive === true);
    this.#world.note({ type: "tool_call", message_id, call_id: call.id });
    const out = await settleCall({ agent: this.#agent, world, state: this.#state, said }, call);
    this.#calls.leave();
    this.#aside(out.message_id);
    const { fatal, cancelled, failure } = out;
    if (fatal) return { ...out, fatal, failure: fatal };
    if (cancelled !== undefined) return { ...out, ...stopped(cancelled) };
    return failure === undefined ? { message_id: out.message_id } : { ...out, failure };
  }

  async #ask(key: string, attempt: number, { gate }: NodeOut): Promise<NodeEnd> {
    if (gate === undefined) throw new Error("nothing is asked");
    const answer = await decide(this.#world, `${key}/ask`, gate);
    if (answer.cancelled !== undefined) return stopped(answer.cancelled);
    if (answer.status === "approved") return this.#settle(key, attempt, { decided: answer });
    const isLate = answer.status === "timed_out";
    const message = isLate
      ? "Nobody decided in time."
      : `Rejected by ${answer.decided_by}${answer.reason === "" ? "" : `: ${answer.reason}`}`;
    const code = isLate ? "approval_timed_out" : "rejected";
    return { isRejected: true, failure: { code, message } };
  }

  async #wait(key: string, ms: number): Promise<NodeEnd> {
    const { cancelled } = await this.#world.sleep(`${key}/wait`, ms);
    return cancelled === undefined ? {} : stopped(cancelled);
  }

  /** Each item as a run or a call of its own, so many at a time; a long list in runs of a hundred items each. */
  async #map(key: string, attempt: number, entered: NodeOut): Promise<NodeEnd> {
    const { items = 0, chunks, calls } = entered;
    const slots = new Slots(chunks === undefined ? (this.#node.concurrency ?? 1) : 1);
    const ends: NodeEnd[] = [];
    const children: ChildOut[] = [];
    let usage: Usage | undefined;
    const one = async (i: number): Promise<void> => {
      await slots.take();
      if (slots.stopped !== undefined) ends[i] = stopped(slots.stopped);
      else {
        const call = calls?.[i];
        if (call) ends[i] = await this.#oneCall(key, entered, call);
        else {
          const of = { message_id: entered.message_id ?? "", part: i, isItem: true as const };
          const out = await this.#child(key, attempt, chunks === undefined ? of : { ...of, chunk: true });
          children[i] = out;
          usage = usage === undefined ? out.usage : addUsage(usage, out.usage);
          ends[i] = childEnd(out) ?? {};
        }
        const why = this.#stops(ends[i] ?? {}, chunks !== undefined);
        if (why !== undefined && slots.stopped === undefined) {
          slots.stopped = why;
          this.#world.cancel(`${key}/`, why);
        }
      }
      slots.free();
    };
    const count = chunks ?? items;
    await Promise.all(Array.from({ length: count }, (_, i) => one(i)));
    const about = { items, ...(usage ? { usage } : {}) };
    const ended = firstEnd(ends, {
      collects: this.#node.on_error === "collect" && chunks === undefined,
      perRun: chunks === undefined ? 1 : CHUNK,
    });
    if (ended) return { ...about, ...ended };
    const results = calls && ends.map(({ message_id = "" }) => message_id);
    const chunked = chunks === undefined ? {} : { chunked: true as const };
    const what = results ? { results } : { children, ...chunked };
    return { ...about, ...(await this.#settle(key, attempt, what)) };
  }

  /** Why the other items are not run any more, if so. */
  #stops({ fatal, cancelled, failure }: NodeEnd, isChunk: boolean): string | undefined {
    if (fatal) return fatal.message;
    if (cancelled !== undefined) return cancelled;
    return failure && (isChunk || this.#node.on_error !== "collect") ? "another item failed" : undefined;
  }

  async #child(
    key: string,
    attempt: number,
    { message_id, part, isItem, chunk }: { message_id: string; part: number; isItem?: true; chunk?: true },
  ): Promise<ChildOut> {
    const id = this.#id;
    const item = isItem ? `.${chunk ? "part" : "item"}${part}` : "";
    const run_id = `${this.#turn.run_id}.${id}.${attempt}${item}`;
    const label = isItem ? `${id}[${chunk ? `${part * 100}…` : part}]` : id;
    const about = { type: "subagent" as const, child_run_id: run_id, call_id: id, index: part };
    this.#world.note({ ...about, state: "started" });
    const node = { node: id, message_id, part, ...(chunk ? { chunk } : {}) };
    const out = await this.#world.child(`${key}/child/${part}`, {
      run_id,
      call_id: id,
      label,
      node,
      agent: null,
    });
    this.#world.note({ ...about, state: "completed", status: out.status });
    if (out.usage.model_calls > 0) charge(this.#world, this.#state, "subagents", out.usage);
    return out;
  }

  async #settle(
    key: string,
    attempt: number,
    what: Pick<NodeInput, "children" | "results" | "decided" | "chunked">,
  ): Promise<NodeEnd> {
    const input = { node: this.#id, doing: "settle" as const, attempt, from: {}, ...what };
    const { message_id, failure, cancelled, items_failed } = await this.#world.node(`${key}/settle`, input);
    if (cancelled !== undefined) return stopped(cancelled);
    this.#aside(message_id);
    return {
      ...(message_id === undefined ? {} : { message_id }),
      ...(failure === undefined ? {} : { failure }),
      ...(items_failed === undefined ? {} : { items_failed }),
    };
  }

  #aside(messageId: string | undefined): void {
    if (messageId !== undefined) this.#world.note({ type: "aside", message_ids: [messageId] });
  }

  #key(attempt: number): string {
    return `n/${this.#id}/${attempt}`;
  }
}

const LONGEST_MS = 3_600_000;

function stopped(reason: string): NodeEnd {
  return { cancelled: reason, failure: { code: "cancelled", message: `Stopped: ${reason}` } };
}

function decided({ port, message_id }: NodeOut): NodeEnd {
  return { ...(port === undefined ? {} : { port }), ...(message_id === undefined ? {} : { message_id }) };
}

/** What a run's end means to its node; undefined when there is something to take from it. */
function childEnd({ failure, aborted, cancelled }: ChildOut): NodeEnd | undefined {
  if (failure === undefined) return undefined;
  if (aborted) return { failure, fatal: failure };
  return cancelled === undefined ? { failure } : { failure, cancelled };
}

/** What the end of one item means to all of them: an abort, the item that failed first, or a cancel. */
function firstEnd(
  ends: readonly NodeEnd[],
  { collects, perRun }: { readonly collects: boolean; readonly perRun: number },
): NodeEnd | undefined {
  const fatal = ends.find((end) => end.fatal);
  if (fatal) return { ...(fatal.fatal ? { fatal: fatal.fatal, failure: fatal.fatal } : {}) };
  const at = ends.findIndex(({ failure, cancelled }) => failure && cancelled === undefined);
  const failed = ends[at]?.failure;
  if (failed && !collects) {
    // A part of a long map failed of one of its own items.
    const { code, message } = (perRun > 1 ? failed.cause : undefined) ?? failed;
    const item = at * perRun + (perRun > 1 ? Number(failed.details?.["item"] ?? 0) : 0);
    const why = perRun > 1 ? message.replace(/^Item \d+: /, "") : message;
    return { failure: { code, message: `Item ${item}: ${why}`, details: { ...failed.details, item } } };
  }
  const cancelled = ends.find((end) => end.cancelled !== undefined)?.cancelled;
  return cancelled === undefined ? undefined : stopped(cancelled);
}
