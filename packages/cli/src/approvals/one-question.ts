import type { Approval, DecisionInput, JsonObject } from "trackside";
import type { Answer } from "../prompt.ts";
import { remaining, showApproval, showChanges, subject } from "../screen/approval-view.ts";
import { changesBetween } from "../screen/changes.ts";
import { flowed } from "../screen/flow.ts";
import { codeOf, type Desk, messageOf, PERSON } from "./approver.ts";
import type { Asking } from "./ask-person.ts";
import { draftOf, type Read, readArguments, readResult } from "./read-draft.ts";

/** How much of a row a prompt may take, so that there is room to type. */
const LONGEST_PROMPT = 60;
/** A deadline this close is shown wherever something is typed. */
const SOON_MS = 120_000;
/** Where the words begin that say what a choice does. */
const CHOICE = 12;

/** What one question needs of the others. */
export interface Around {
  readonly number: () => string;
  readonly edit: (text: string, fileName: string) => Promise<Read<string>>;
}

interface Choice {
  readonly key: string;
  readonly word: string;
  readonly does: string;
}

export type Settled = "decided" | "withdrawn" | "skipped" | "stopped";

/** One approval and one person: asks until it is decided, taken back, or Ctrl-C. */
export class OneQuestion {
  readonly #approval: Approval;
  readonly #signal: AbortSignal;
  readonly #desk: Desk;
  readonly #asking: Asking;
  readonly #around: Around;
  /** Other arguments to run with. */
  #edited: JsonObject | undefined;
  /** What was written last, to go on from when it did not fit. */
  #draft: string | undefined;

  constructor(approval: Approval, signal: AbortSignal, desk: Desk, asking: Asking, around: Around) {
    this.#approval = approval;
    this.#signal = signal;
    this.#desk = desk;
    this.#asking = asking;
    this.#around = around;
  }

  async ask(): Promise<Settled> {
    this.#show();
    for (;;) {
      const answer = await this.#question(() => this.#promptLine());
      if (typeof answer !== "object") return answer;
      const settled = await this.#take(answer.text.trim());
      if (settled !== undefined) return settled;
    }
  }

  get #name(): string {
    return subject(this.#approval, undefined);
  }

  #show(): void {
    const { screen, callOf } = this.#asking;
    const number = this.#around.number();
    const head = `waiting for you${number === "" ? "" : ` · ${number}`}`;
    screen.line();
    const about = this.#asking.inbox?.about(this.#approval);
    showApproval(screen, this.#approval, { head, call: callOf(this.#approval.call_id), about });
    screen.line();
    this.#showChoices();
  }

  #showChoices(): void {
    const { screen } = this.#asking;
    for (const { key, word, does } of this.#choices()) {
      const head = `${screen.paint("cyan", key)}  ${screen.paint("bold", word.padEnd(8))} `;
      screen.write(head + flowed(does, { width: screen.width, indent: CHOICE }).slice(CHOICE));
    }
  }

  #choices(): Choice[] {
    const { choices, arguments: args } = this.#approval;
    const edited = this.#edited !== undefined;
    const editor = this.#asking.editor?.name;
    const found: Choice[] = [];
    if (this.#isNode) found.push(...this.#nodeChoices());
    else if (choices.includes("approve")) {
      const which = edited ? "the arguments as you changed them" : "exactly these arguments";
      found.push({ key: "a", word: "approve", does: `runs ${this.#name} once, with ${which}` });
    }
    if (choices.includes("submit") && !this.#isNode)
      found.push({ key: "s", word: "submit", does: "gives the model a result that you write on one line" });
    if (choices.includes("submit") && editor !== undefined && !this.#isNode)
      found.push({ key: "e", word: "edit", does: `gives the model a result that you write in ${editor}` });
    if (choices.includes("reject") && !this.#isNode) {
      const does = `does not run ${this.#name}; the model reads why and goes on`;
      found.push({ key: "r", word: "reject", does });
    }
    if (choices.includes("approve") && args !== null && !this.#isNode) {
      const how = editor === undefined ? "" : ` in ${editor}`;
      const does = edited
        ? `changes them once more${how}`
        : `lets you change the arguments first${how}; they are checked and pass the rails again`;
      found.push({ key: "e", word: "edit", does });
    }
    if (edited) found.push({ key: "u", word: "undo", does: "takes your changes back" });
    if (choices.includes("ran"))
      found.push({
        key: "i",
        word: "it ran",
        does: "you know that it ran, and write its result for the model",
      });
    if (choices.includes("run"))
      found.push({ key: "n", word: "not run", does: `you know that it did not run: runs ${this.#name} now` });
    if (choices.includes("give_up"))
      found.push({ key: "g", word: "give up", does: "runs nothing; the model reads that it is not known" });
    if (this.#asking.inbox)
      found.push({ key: "l", word: "later", does: "leaves it waiting and shows the next one" });
    const stops = this.#asking.inbox ? "leaves without deciding" : "stops the turn";
    found.push({ key: "?", word: "help", does: `shows everything again; Ctrl-C ${stops}` });
    return found;
  }

  get #isNode(): boolean {
    return this.#approval.kind === "workflow_node";
  }

  /** Of a node of a workflow: nothing is run with arguments, and no model reads the answer. */
  #nodeChoices(): Choice[] {
    const { choices, response_schema } = this.#approval;
    const editor = this.#asking.editor?.name;
    const [key, word] = choices.includes("submit") ? ["s", "submit"] : ["a", "approve"];
    const writes = word === "submit" || response_schema !== null;
    const answer = writes ? ", with an answer that you write on one line" : "";
    const found = [{ key, word, does: `goes on after ${this.#name}${answer}` }];
    if (writes && editor !== undefined)
      found.push({ key: "e", word: "edit", does: `the same with an answer that you write in ${editor}` });
    if (choices.includes("reject"))
      found.push({
        key: "r",
        word: "reject",
        does: `${this.#name} fails with your reason, or goes on by its own way for that`,
      });
    return found;
  }

  #promptLine(): string {
    const { screen } = this.#asking;
    const keys = this.#choices().map(({ key }) => key);
    const letters = `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;
    const facts = this.#edited === undefined ? [letters] : ["edited", letters];
    const number = this.#around.number();
    if (number !== "") facts.push(number);
    const { deadline } = this.#approval;
    if (deadline !== null) facts.push(`${remaining(deadline - Date.now())} left`);
    const room = Math.min(LONGEST_PROMPT, screen.width - 12);
    const lengths = [[this.#name, ...facts], facts].map((some) => some.join(" · "));
    const text = lengths.find((one) => one.length <= room) ?? letters;
    return `${screen.paint("dim", text)} ${screen.paint(["bold", "yellow"], "›")} `;
  }

  /** Undefined asks again. */
  async #take(given: string): Promise<Settled | undefined> {
    const [, word = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(given) ?? [];
    const choice = this.#choices().find(({ key, word: long }) => word === key || word === long);
    // Only a reason may follow on the same line: "a lot of text" approves nothing.
    if (choice === undefined || (rest !== "" && choice.key !== "r")) {
      if (given !== "") this.#warn("not understood", "Type one of the letters, then Enter.");
      if (given !== "") this.#showChoices();
      return undefined;
    }
    switch (choice.key) {
      case "a":
        if (this.#isNode && this.#approval.response_schema !== null) return this.#submit("approve");
        return this.#decide({
          choice: "approve",
          ...(this.#edited === undefined ? {} : { editedArguments: this.#edited }),
        });
      case "s":
        return this.#submit();
      case "r":
        return rest === "" ? this.#reject() : this.#decide({ choice: "reject", reason: rest });
      case "e":
        if (this.#isNode) return this.#submitEdited(this.#approval.choices[0]);
        return this.#approval.choices.includes("submit") ? this.#submitEdited() : this.#edit();
      case "i":
        return this.#submit("ran");
      case "n":
        return this.#decide({ choice: "run" });
      case "g":
        return this.#reject("give_up");
      case "l":
        return "skipped";
      case "u":
        this.#edited = undefined;
        this.#draft = undefined;
        this.#show();
        return undefined;
      default:
        this.#show();
        if (this.#edited !== undefined) this.#showEdit(this.#edited);
        return undefined;
    }
  }

  async #reject(choice = "reject"): Promise<Settled | undefined> {
    const { screen } = this.#asking;
    const reader = this.#isNode ? "It is kept with the run." : "The model reads it.";
    screen.line(`Why? ${reader} Enter alone gives no reason.`);
    const answer = await this.#question(() => this.#ask("reason"));
    if (typeof answer !== "object") return answer;
    const reason = answer.text.trim();
    return this.#decide({ choice, ...(reason === "" ? {} : { reason }) });
  }

  /** Lets the arguments be changed, and shows what was, before anything is sent. */
  async #edit(): Promise<Settled | undefined> {
    const { editor, screen } = this.#asking;
    const { arguments: args, tool } = this.#approval;
    if (args === null) return undefined;
    const from = this.#draft ?? draftOf(this.#edited ?? args, editor === undefined ? 0 : 2);
    let text: string;
    if (editor === undefined) {
      screen.line("Change the arguments, then press Enter.");
      const answer = await this.#question(() => this.#ask("arguments"), from);
      if (typeof answer !== "object") return answer;
      text = answer.text;
    } else {
      const written = await this.#around.edit(from, `${tool ?? "call"}-arguments.json`);
      if (this.#signal.aborted) return "withdrawn";
      if ("problem" in written) return this.#warn("nothing was changed", written.problem);
      text = written.value;
    }
    const read = readArguments(text);
    if ("problem" in read) {
      this.#draft = text;
      return this.#warn("nothing was changed", `${read.problem}\nEdit again with e; what you wrote is kept.`);
    }
    this.#draft = undefined;
    if (changesBetween(args, read.value).length === 0) {
      this.#edited = undefined;
      return this.#warn("nothing was changed", "The arguments are as they were.");
    }
    this.#edited = read.value;
    this.#showEdit(read.value);
    return undefined;
  }

  #showEdit(edited: JsonObject): void {
    const { screen } = this.#asking;
    screen.line(screen.paint("bold", "Your changes, not sent yet"));
    showChanges(screen, changesBetween(this.#approval.arguments ?? {}, edited));
    this.#showChoices();
  }

  /** A result that a person knows, on one line. */
  async #submit(choice = "submit"): Promise<Settled | undefined> {
    const { screen } = this.#asking;
    screen.line("The result, as JSON or text.");
    const answer = await this.#question(() => this.#ask("result"), this.#draft?.replaceAll(/\s*\n\s*/g, " "));
    return typeof answer === "object" ? this.#respond(answer.text, choice) : answer;
  }

  async #submitEdited(choice = "submit"): Promise<Settled | undefined> {
    const { response_schema: schema, tool } = this.#approval;
    const ending = schema === null || schema.type === "string" ? "txt" : "json";
    const written = await this.#around.edit(this.#draft ?? "", `${tool ?? "call"}-result.${ending}`);
    if (this.#signal.aborted) return "withdrawn";
    if ("problem" in written) return this.#warn("nothing was sent", written.problem);
    return this.#respond(written.value, choice);
  }

  async #respond(text: string, choice = "submit"): Promise<Settled | undefined> {
    this.#draft = text;
    if (text.trim() === "") return this.#warn("nothing was sent", "There was nothing in it.");
    const read = readResult(text, this.#approval.response_schema);
    if ("problem" in read) return this.#warn("nothing was sent", read.problem);
    return this.#decide({ choice, response: read.value });
  }

  async #decide(decision: DecisionInput): Promise<Settled | undefined> {
    try {
      await this.#desk.decide(this.#approval.id, { by: this.#asking.by ?? PERSON, ...decision });
      return "decided";
    } catch (error) {
      if (codeOf(error) === "decision_invalid") return this.#warn("not taken", messageOf(error));
      this.#warn("not taken", messageOf(error));
      return "withdrawn";
    }
  }

  #ask(what: string): string {
    const { screen } = this.#asking;
    const left = (this.#approval.deadline ?? Number.POSITIVE_INFINITY) - Date.now();
    const text = left < SOON_MS ? `${what} · ${remaining(left)} left` : what;
    return `${screen.paint("dim", text)} ${screen.paint(["bold", "yellow"], "›")} `;
  }

  #warn(what: string, why: string): undefined {
    const { screen } = this.#asking;
    screen.line(screen.paint("yellow", `! ${what}`));
    screen.paragraph(why, 2);
  }

  async #question(
    prompt: () => string,
    prefill?: string,
  ): Promise<Extract<Answer, { text: string }> | Settled> {
    const signal = this.#signal;
    const answer = await this.#asking.prompt().question({
      prompt,
      signal,
      ...(prefill === undefined ? {} : { prefill }),
    });
    if (answer.kind === "answer") return answer;
    return answer.kind === "withdrawn" ? "withdrawn" : "stopped";
  }
}
