import { randomUUID } from "node:crypto";
import type { Approval, DecisionInput } from "trackside";
import { editWith, QUIET_MS } from "../../approvals/ask-person.ts";
import { OneQuestion, type Settled } from "../../approvals/one-question.ts";
import { editorOf } from "../../approvals/open-editor.ts";
import { readArguments } from "../../arguments.ts";
import { chatPrompt } from "../../chat-loop.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { Complaint } from "../../complaint.ts";
import { type InStore, inStore, STORE_OPTIONS } from "../../config/in-store.ts";
import { type Io, isInteractive } from "../../io.ts";
import type { Prompt } from "../../prompt.ts";
import { subject } from "../../screen/approval-view.ts";
import { cleanLine } from "../../screen/clean.ts";
import { counted } from "../../screen/numbers.ts";
import { ago } from "../../screen/times.ts";
import { shortId } from "../../short-id.ts";
import { whoAmI } from "../../who.ts";
import { list, stateOf } from "./list.ts";

/** How often it is looked whether somebody else was faster. */
const LOOK_MS = 500;

/** Without a name: asks a person about one thing after another, and lists what waits where nobody can be asked. */
export function inbox(help: string): Command {
  return {
    help,
    async run(args, io) {
      const { values } = readArguments(args, {
        ...STORE_OPTIONS,
        interactive: { type: "boolean", short: "i" },
        by: { type: "string" },
        state: { type: "string" },
        run: { type: "string" },
        limit: { type: "string" },
      });
      if (values.help) return showHelp(io, help);
      const person = isInteractive(io);
      if (values.interactive && !person)
        throw new Complaint(
          "--interactive: there is no terminal to ask on. trackside approvals list lists what waits.",
        );
      const { json, state, run, limit } = values;
      const isListing = json === true || [state, run, limit].some((given) => given !== undefined);
      if (!person || (isListing && !values.interactive)) return list.run(args, io);
      return inStore(io, values, (opened) => new Inbox(opened, io, values.by ?? whoAmI(io.env)).ask());
    },
  };
}

/** One person and everything that waits, the oldest first. */
class Inbox {
  readonly #opened: InStore;
  readonly #io: Io;
  readonly #by: string;
  readonly #prompt: Prompt;
  /** What the person left waiting. */
  readonly #later = new Set<string>();
  /** Marks this person's decisions here: they may sit at another terminal, too. */
  readonly #session = randomUUID();
  #asked = 0;
  #away = false;
  #left = false;

  constructor(opened: InStore, io: Io, by: string) {
    this.#opened = opened;
    this.#io = io;
    this.#by = by;
    this.#prompt = chatPrompt(io, opened.output, opened.screen);
  }

  /** Until nothing waits any more, or the person leaves. */
  async ask(): Promise<number> {
    const onSignal = () => {
      if (!this.#away) this.#left = true; // else the editor has the terminal, and Ctrl-C is its own
    };
    this.#io.signals.on("SIGINT", onSignal);
    try {
      for (let waiting = await this.#waiting(); !this.#left; waiting = await this.#waiting()) {
        const [next] = waiting;
        if (next === undefined) break;
        const settled = await this.#askOne(next, waiting.length);
        if (settled === "stopped") break;
        if (settled === "skipped") this.#later.add(next.id);
      }
      await this.#conclude();
      return EXIT.completed;
    } finally {
      this.#io.signals.off("SIGINT", onSignal);
      this.#prompt.close();
    }
  }

  async #waiting(): Promise<readonly Approval[]> {
    const { trackside, scope } = this.#opened;
    const all = await trackside.approvals.list({ ...scope, limit: 1000 });
    return all.filter(({ id, deadline }) => !this.#later.has(id) && (deadline ?? Infinity) > Date.now());
  }

  async #askOne(approval: Approval, waiting: number): Promise<Settled> {
    const { screen, output } = this.#opened;
    const { kind } = await this.#prompt.quiet(QUIET_MS);
    if (kind !== "quiet") return "stopped";
    this.#asked += 1;
    const closed = new AbortController();
    const asking = {
      screen,
      prompt: () => this.#prompt,
      editor: editorOf(this.#io, output),
      callOf: () => undefined,
      hold: () => {},
      release: () => {},
      by: this.#by,
      inbox: {
        about: ({ run_id, requested_at }: Approval) =>
          `in run ${shortId(run_id)}, asked ${ago(requested_at)}`,
      },
    };
    const all = this.#asked - 1 + waiting;
    const question = new OneQuestion(approval, closed.signal, this.#desk(), asking, {
      number: () => (all > 1 ? `${this.#asked} of ${all}` : ""),
      edit: async (text, name) => {
        this.#away = true;
        const edited = await editWith(asking.editor, text, name);
        this.#away = false;
        return edited;
      },
    });
    const watch = setInterval(() => void this.#look(approval.id, closed), LOOK_MS);
    try {
      return await question.ask();
    } finally {
      clearInterval(watch);
    }
  }

  #desk() {
    const { trackside, scope, screen } = this.#opened;
    return {
      decide: async (id: string, decision: DecisionInput) => {
        const requestId = this.#request(id);
        const decided = await trackside.approvals.decide(id, { ...decision, requestId }, scope);
        const colour = decided.state === "approved" ? "green" : "red";
        const before = decided.decision?.request_id === requestId ? "" : " before";
        const said = screen.paint(colour, `${stateOf(decided)}${before}`);
        screen.line(`${screen.paint(colour, "◆")} ${subject(decided, undefined)} ${said}`);
        return decided;
      },
      interrupt: () => {},
    };
  }

  /** Takes the question back when somebody else has decided it. */
  async #look(id: string, closed: AbortController): Promise<void> {
    const { trackside, scope, screen } = this.#opened;
    const approval = await trackside.approvals.get(id, scope).catch(() => undefined); // the store is away
    if (approval === undefined || approval.state === "pending" || closed.signal.aborted) return;
    if (approval.decision?.request_id === this.#request(id)) return; // it was decided here, just now
    closed.abort();
    await new Promise((resolve) => setImmediate(resolve)); // the prompt is off the screen then
    screen.line(
      `${screen.paint("yellow", "◆")} ${subject(approval, undefined)} ${cleanLine(stateOf(approval))}, elsewhere`,
    );
  }

  #request(id: string): string {
    return `${this.#session}.${id}`;
  }

  async #conclude(): Promise<void> {
    const { trackside, scope, screen } = this.#opened;
    const left = (await trackside.approvals.list({ ...scope, limit: 1000 })).length;
    if (this.#asked > 0) screen.line();
    if (left === 0) screen.line("Nothing waits for a decision.");
    else screen.line(`${counted(left, "approval")} ${left === 1 ? "waits" : "wait"}.`);
  }
}
