import type { Message, ToolMessage } from "../../schema/message.ts";
import type { Cut, LogEntry, Projection } from "../../schema/projection.ts";
import type { Material } from "./material.ts";
import { standIns, walk } from "./project.ts";
import { historyOf, latestStep, type Region, stepsOf } from "./region.ts";
import { stubbed } from "./stub.ts";
import { type Asking, type Count, summarise } from "./summarise.ts";
import { LATER_LEFT_OUT, summaryMessage } from "./texts.ts";
import { type Opening, type Unit, unitAt, unitsOf } from "./units.ts";

/** What was done to the context, as a `context` event says it. */
export interface ContextChange {
  readonly action: "stubbed" | "summarised" | "dropped" | "replaced";
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly detail: string;
}

/** A log to be made smaller, and by how much. */
export interface CompactionInput {
  /** Of the projection that is made. */
  readonly id: string;
  readonly entries: readonly LogEntry[];
  /** The log up to here is sent. */
  readonly upTo: number;
  /** The projection in force there. */
  readonly projection: Projection | null;
  /** Null before a turn: its messages are not in the log yet. */
  readonly opening: Opening | null;
  /** Calls that wait for something; those without a result are known to. */
  readonly open?: readonly string[];
  readonly count: Count;
  /** What is sent beside the log: system prompt, tools, transient parts. */
  readonly fixed: number;
  /** The most the whole request may have. */
  readonly target: number;
  /** Go as far as it goes where the target is out of reach; otherwise nothing is done then. */
  readonly anyway?: boolean;
  /** How far to go when there is something to be done, so that it is not done at every step. The target, unless told. */
  readonly aim?: number;
  /** The summariser's window. */
  readonly window: number;
}

interface Counted extends Cut {
  readonly tokens: number;
}

/**
 * A log as reducers see and change it. Everything is counted once, so that asking "how large would it be" costs nothing;
 * what must stay cannot be touched.
 */
export class View {
  readonly target: number;
  readonly aim: number;
  /** What lies before this turn, and the steps of this turn but the latest: what may be cut, from the oldest on. */
  readonly history: Region;
  readonly steps: Region;
  readonly inTurn: boolean;
  /** Where stubs may reach: not the latest step, and nothing that is open. */
  readonly stubLimit: number;
  /** What is left when everything that may go is gone. */
  readonly floor: number;
  readonly changes: ContextChange[] = [];
  /** Who is at work, for problems. */
  reducer = "";
  readonly #input: CompactionInput;
  readonly #units: readonly Unit[];
  readonly #open: readonly Unit[];
  /** Sums before each position: of messages, of their tokens, and of their tokens with results as stubs. */
  readonly #messages: Float64Array;
  readonly #raw: Float64Array;
  readonly #short: Float64Array;
  readonly #summaries = new Map<string, number>();
  readonly #stubs = new Map<string, number>();
  #cuts: readonly Counted[];
  #stubsTo: number;
  /** Joined summaries of the cuts there are: many stretches are looked at that hold the same ones. */
  readonly #kept = new Map<string, string>();
  #failed = false;

  constructor(input: CompactionInput) {
    const { entries, upTo, projection, opening, open = [] } = input;
    this.#input = input;
    this.target = input.target;
    this.aim = Math.min(input.aim ?? input.target, input.target);
    const cuts = projection?.cuts ?? [];
    this.#units = unitsOf(entries, upTo, cuts, open, opening);
    this.#open = this.#units.filter((unit) => unit.open);
    this.inTurn = opening !== null;
    this.history = historyOf(this.#units, opening?.from ?? upTo);
    this.steps = opening === null ? { from: upTo, marks: [] } : stepsOf(this.#units, opening);
    const answered = this.#open.find(({ from, to }) => to - from > 1)?.from ?? upTo;
    this.stubLimit = Math.min(latestStep(this.#units, upTo), answered);

    this.#stubsTo = projection?.stubs_to ?? 0;
    this.#cuts = cuts.map((cut) => ({ ...cut, tokens: this.#standInTokens(cut) }));
    this.#messages = new Float64Array(upTo + 1);
    this.#raw = new Float64Array(upTo + 1);
    this.#short = new Float64Array(upTo + 1);
    this.#countAll(cuts);
    const gone = this.#with(this.#with(this.#cuts, this.history, null), this.steps, null);
    this.floor = this.#total(gone, Math.max(this.#stubsTo, this.stubLimit));
  }

  /** The whole request as it stands. */
  get tokens(): number {
    return this.#total(this.#cuts, this.#stubsTo);
  }

  get fits(): boolean {
    return this.tokens <= this.target;
  }

  get cuts(): readonly Cut[] {
    return this.#cuts.map(({ tokens: _tokens, ...cut }) => cut);
  }

  get stubsTo(): number {
    return this.#stubsTo;
  }

  /** Where stubs may end: behind each step that has results. */
  get stubMarks(): readonly number[] {
    return this.#units.flatMap(({ kind, from, to }) =>
      kind === "step" && to - from > 1 && to > this.#stubsTo && to <= this.stubLimit ? [to] : [],
    );
  }

  /** What there is to send between two positions, stand-ins included. */
  tokensIn(from: number, to: number): number {
    return this.tokens - this.tokensIfCut(from, to, 0);
  }

  /** The whole request, if what is between were cut and `standIn` tokens stood there. */
  tokensIfCut(from: number, to: number, standIn: number): number {
    return this.#total(this.#with(this.#cuts, { from, marks: [to] }, null), this.#stubsTo) + standIn;
  }

  /** The whole request, if what is between were dropped, but for the summaries in it. */
  tokensIfDropped(from: number, to: number): number {
    return this.#total(
      this.#with(this.#cuts, { from, marks: [to] }, this.#keptSummary(from, to)),
      this.#stubsTo,
    );
  }

  tokensIfStubbed(to: number): number {
    return this.#total(this.#cuts, to);
  }

  /** How many messages between two positions are still sent and may go. */
  messagesIn(from: number, to: number): number {
    let messages = 0;
    for (const piece of this.#pieces(from, to)) {
      messages += this.#between(this.#messages, piece.from, piece.to);
      for (const cut of this.#cuts)
        if (cut.from >= piece.from && cut.to <= piece.to)
          messages -= this.#between(this.#messages, cut.from, cut.to);
    }
    return messages;
  }

  /** What a summary costs that says so much in itself. */
  get summaryHead(): number {
    return this.#summaryTokens("");
  }

  /** Results before a position are sent as stubs from now on. */
  stub(to: number): void {
    if (to > this.stubLimit || unitAt(this.#units, to - 1)?.to !== to)
      throw new Error(
        `the reducer ${this.reducer} may stub up to ${this.stubLimit}, step by step: not ${to}`,
      );
    const before = this.tokens;
    const results = this.#stubsBetween(this.#stubsTo, to);
    this.#stubsTo = to;
    const what = results === 1 ? "one earlier tool result is" : `${results} earlier tool results are`;
    this.#changed("stubbed", before, `${what} sent as a stub`);
  }

  /**
   * Asks for a summary of what is between, earlier summaries included, and puts it there. It takes at most `most` tokens.
   * Answers false when there is none: then nothing has changed, and no more are asked for.
   */
  *summarise(from: number, to: number, most: number): Asking<boolean> {
    if (this.#failed) return false;
    const { id, window, count } = this.#input;
    this.#check(from, to);
    const maxTokens = Math.floor(most - this.summaryHead);
    const summary = yield* summarise(this.#material(from, to), {
      id: `${id}.${from}`,
      maxTokens,
      window,
      count,
    });
    const cost = summary === null ? Number.POSITIVE_INFINITY : this.#summaryTokens(summary);
    if (cost > most) {
      this.#failed = true;
      return false;
    }
    this.#cut("summarised", from, to, summary, `are now a summary of ${Math.ceil(cost)} tokens`);
    return true;
  }

  /** What is between is no longer sent; summaries in it are, unless they are to go too. */
  drop(from: number, to: number, { summaries = false } = {}): void {
    this.#check(from, to);
    if (summaries && this.messagesIn(from, to) === 0) {
      const before = this.tokens;
      this.#replace(this.#with(this.#cuts, { from, marks: [to] }, null));
      this.#changed("dropped", before, "what stood in for an earlier cut is no longer sent");
    } else
      this.#cut("dropped", from, to, summaries ? null : this.#keptSummary(from, to), "are no longer sent");
  }

  #cut(
    action: "summarised" | "dropped",
    from: number,
    to: number,
    summary: string | null,
    now: string,
  ): void {
    const before = this.tokens;
    const messages = this.messagesIn(from, to);
    this.#replace(this.#with(this.#cuts, { from, marks: [to] }, summary));
    const where = from === 0 ? "of the conversation" : "of this turn";
    this.#changed(action, before, `the ${messages} oldest messages ${where} ${now}`);
  }

  #replace(cuts: readonly Counted[]): void {
    this.#cuts = cuts;
    this.#kept.clear();
  }

  #changed(action: ContextChange["action"], before: number, detail: string): void {
    this.changes.push({
      action,
      tokens_before: Math.ceil(before),
      tokens_after: Math.ceil(this.tokens),
      detail,
    });
  }

  /** Reducers may be anybody's: what must stay is guarded here. */
  #check(from: number, to: number): void {
    const region = [this.history, this.steps].find((one) => one.from === from && one.marks.includes(to));
    if (region !== undefined) return;
    const allowed = `from ${this.history.from} or ${this.steps.from} up to one of the marks there`;
    throw new Error(`the reducer ${this.reducer} may cut ${allowed}: not from ${from} to ${to}`);
  }

  #material(from: number, to: number): Material[] {
    const material: Material[] = [];
    const cuts = new Map(this.#cuts.map((cut) => [cut.from, cut]));
    const shown: Projection = { ...NOTHING, id: this.#input.id, cuts: this.#cuts };
    for (const piece of this.#pieces(from, to)) {
      walk(this.#input.entries, piece.from, piece.to, shown, (message, at) => {
        const cut = cuts.get(at);
        const summary = cut?.summary ?? null;
        const isSummary = summary !== null && message.id === `${shown.id}.${at}`;
        const isCounted = cut === undefined && at >= (this.#input.projection?.stubs_to ?? 0);
        const tokens = isCounted ? this.#between(this.#raw, at, at + 1) : this.#input.count(message);
        material.push({ of: isSummary ? { role: "summary", text: summary } : message, tokens });
      });
    }
    return material;
  }

  /** What earlier summaries in a stretch say, and that something after them is gone. */
  #keptSummary(from: number, to: number): string | null {
    const cuts = this.#cuts.filter((cut) => cut.summary !== null && cut.from >= from && cut.from < to);
    const [first] = cuts;
    if (first === undefined) return null;
    const key = `${first.from}+${cuts.length}`;
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      const text = cuts.map(({ summary }) => summary).join("\n\n");
      kept = text.endsWith(LATER_LEFT_OUT) ? text : `${text}\n\n${LATER_LEFT_OUT}`;
      this.#kept.set(key, kept);
    }
    return kept;
  }

  /** Cuts, with one more that takes the place of those inside it. What is open stays, so it may come in pieces. */
  #with(cuts: readonly Counted[], { from, marks }: Region, summary: string | null): readonly Counted[] {
    const to = marks.at(-1);
    const [first, ...others] = to === undefined ? [] : this.#pieces(from, to);
    if (to === undefined || first === undefined) return cuts;
    const tokens = summary === null ? 0 : this.#summaryTokens(summary);
    const before = cuts.filter((cut) => cut.to <= from);
    const after = cuts.filter((cut) => cut.from >= to);
    const made = others.map((piece): Counted => ({ ...piece, summary: null, tokens: 0 }));
    return [...before, { ...first, summary, tokens }, ...made, ...after];
  }

  /** A stretch without what is open in it. */
  #pieces(from: number, to: number): { from: number; to: number }[] {
    const pieces: { from: number; to: number }[] = [];
    let at = from;
    for (const unit of this.#open) {
      if (unit.from < from || unit.from >= to) continue;
      if (unit.from > at) pieces.push({ from: at, to: unit.from });
      at = unit.to;
    }
    if (at < to) pieces.push({ from: at, to });
    return pieces;
  }

  #total(cuts: readonly Counted[], stubsTo: number): number {
    let tokens = this.#input.fixed;
    let at = 0;
    for (const cut of cuts) {
      tokens += this.#sent(at, cut.from, stubsTo) + cut.tokens;
      at = cut.to;
    }
    return tokens + this.#sent(at, this.#input.upTo, stubsTo);
  }

  #sent(from: number, to: number, stubsTo: number): number {
    const middle = Math.min(Math.max(from, stubsTo), to);
    return this.#between(this.#short, from, middle) + this.#between(this.#raw, middle, to);
  }

  #between(sums: Float64Array, from: number, to: number): number {
    return (sums[to] ?? 0) - (sums[from] ?? 0);
  }

  #countAll(cuts: readonly Cut[]): void {
    const { entries, upTo, count } = this.#input;
    const stubs = Math.max(this.stubLimit, this.#stubsTo);
    let next = 0;
    for (let i = 0; i < upTo; i++) {
      const cut = cuts[next];
      if (cut !== undefined && cut.to <= i + 1) next += 1;
      const entry = cut !== undefined && cut.from <= i ? undefined : entries[i];
      const message = entry?.role === "projection" ? undefined : entry;
      const stub = message?.role === "tool" && i < stubs ? stubbed(message) : message;
      const isStub = stub !== message && stub?.role === "tool";
      const shortTokens = stub === undefined ? 0 : isStub ? this.#stubTokens(stub) : count(stub);
      // What is a stub already does not become whole again.
      const rawTokens = message === undefined || !isStub || i < this.#stubsTo ? shortTokens : count(message);
      this.#messages[i + 1] = (this.#messages[i] ?? 0) + (message === undefined ? 0 : 1);
      this.#short[i + 1] = (this.#short[i] ?? 0) + shortTokens;
      this.#raw[i + 1] = (this.#raw[i] ?? 0) + rawTokens;
    }
  }

  /** Most stubs say the same. */
  #stubTokens(stub: ToolMessage): number {
    const { output, advisory } = stub;
    const text = output.type === "text" && advisory === undefined ? output.value : undefined;
    const known = text === undefined ? undefined : this.#stubs.get(text);
    if (known !== undefined) return known;
    const tokens = this.#input.count(stub);
    if (text !== undefined) this.#stubs.set(text, tokens);
    return tokens;
  }

  #stubsBetween(from: number, to: number): number {
    let results = 0;
    for (let i = from; i < to; i++) {
      const entry = this.#input.entries[i];
      const gone = this.#cuts.some((cut) => cut.from <= i && i < cut.to);
      if (entry?.role === "tool" && !gone && stubbed(entry) !== entry) results += 1;
    }
    return results;
  }

  #standInTokens(cut: Cut): number {
    const { id, count } = this.#input;
    return standIns(id, cut).reduce((tokens: number, message: Message) => tokens + count(message), 0);
  }

  #summaryTokens(summary: string): number {
    let tokens = this.#summaries.get(summary);
    if (tokens === undefined) {
      tokens = this.#input.count(summaryMessage("", summary));
      this.#summaries.set(summary, tokens);
    }
    return tokens;
  }
}

const NOTHING = {
  role: "projection",
  stubs_to: 0,
  tokens_before: 0,
  tokens_after: 0,
} as const;
