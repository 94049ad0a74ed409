import type { Approval } from "trackside";
import type { Prompt } from "../prompt.ts";
import type { ShownCall } from "../screen/approval-view.ts";
import type { Screen } from "../screen/screen.ts";
import type { Approver, Desk } from "./approver.ts";
import { OneQuestion } from "./one-question.ts";
import type { Editor } from "./open-editor.ts";
import type { Read } from "./read-draft.ts";

/** What was typed before a question is shown was not meant for it. In this time siblings of a call are counted, too. */
export const QUIET_MS = 150;

export interface Asking {
  readonly screen: Screen;
  /** Made when somebody is first asked. */
  readonly prompt: () => Prompt;
  readonly editor: Editor | undefined;
  /** The call as it was shown. */
  readonly callOf: (callId: string | null) => ShownCall | undefined;
  /** Nothing else may be shown from now on, until `release`. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Who decides, as it is recorded. */
  readonly by?: string | undefined;
  /** Where approvals of many runs are decided: one can be left waiting, and Ctrl-C stops nothing. */
  readonly inbox?: { readonly about: (approval: Approval) => string } | undefined;
}

/** Asks the person at the terminal, about one thing after another. */
export class AskPerson implements Approver {
  readonly #desk: Desk;
  readonly #asking: Asking;
  readonly #queue: Approval[] = [];
  /** What is being asked, and the way to take it back. */
  #open: { readonly id: string; readonly closed: AbortController } | undefined;
  /** How many of those that came together have been asked, the open one included. */
  #asked = 0;
  #working: Promise<void> | undefined;
  #away = false;

  constructor(desk: Desk, asking: Asking) {
    this.#desk = desk;
    this.#asking = asking;
  }

  get away(): boolean {
    return this.#away;
  }

  asked(approval: Approval): void {
    if (this.#open === undefined && this.#queue.length === 0) this.#asked = 0;
    this.#queue.push(approval);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  settled({ approval_id }: { approval_id: string }): void {
    if (this.#open?.id === approval_id) this.#open.closed.abort();
    const waiting = this.#queue.findIndex(({ id }) => id === approval_id);
    if (waiting >= 0) this.#queue.splice(waiting, 1);
  }

  async end(): Promise<void> {
    this.#queue.length = 0;
    this.#open?.closed.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { prompt, screen } = this.#asking;
    while (this.#queue.length > 0) {
      const { kind, dropped } = await prompt().quiet(QUIET_MS);
      if (kind !== "quiet") return this.#stop();
      const approval = this.#queue.shift();
      if (approval === undefined) return;
      this.#asked += 1;
      const closed = new AbortController();
      this.#open = { id: approval.id, closed };
      this.#asking.hold();
      if (dropped) screen.line(screen.paint("dim", "What was typed before this question is not taken."));
      const question = new OneQuestion(approval, closed.signal, this.#desk, this.#asking, {
        number: () => this.#number(),
        edit: (text, name) => this.#edit(text, name),
      });
      const settled = await question.ask();
      this.#open = undefined;
      this.#asking.release();
      if (settled === "stopped") return this.#stop();
    }
  }

  /** `1 of 2`, where there are several. */
  #number(): string {
    const all = this.#asked + this.#queue.length;
    return all > 1 ? `${this.#asked} of ${all}` : "";
  }

  async #edit(text: string, name: string): Promise<Read<string>> {
    this.#away = true;
    const edited = await editWith(this.#asking.editor, text, name);
    this.#away = false;
    return edited;
  }

  #stop(): void {
    this.#queue.length = 0;
    this.#desk.interrupt();
  }
}

/** A text as a person left it in their editor. */
export async function editWith(
  editor: Editor | undefined,
  text: string,
  name: string,
): Promise<Read<string>> {
  if (editor === undefined) return { problem: "there is no editor" };
  const edited = await editor.edit(text, name);
  return "text" in edited ? { value: edited.text } : edited;
}
