import { createInterface, type Interface } from "node:readline";
import type { Input, Output } from "./io.ts";
import { Valve } from "./screen/valve.ts";

/** Lines that arrive within this time of each other were pasted, and are one message. */
const PASTE_MS = 30;
/** However much is typed, a question is not kept back for longer. */
const LONGEST_QUIET_MS = 3_000;

export interface PromptOptions {
  readonly input: Input;
  readonly output: Output;
  /** Whether a person types: then there is a prompt, editing and history. */
  readonly interactive: boolean;
  readonly prompt: string;
  /** Called at the first Ctrl-C on an empty line; the second ends the input. */
  readonly onFirstInterrupt: () => void;
}

export interface Question {
  /** Asked again every second, for what counts down. */
  readonly prompt: () => string;
  /** Stands there to be changed. */
  readonly prefill?: string;
  /** Takes the question back. */
  readonly signal: AbortSignal;
}

/** What came of a question: an answer, Ctrl-C, the end of the input, or it was taken back. */
export type Answer =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "interrupted" | "ended" | "withdrawn" };

/** Whether what was typed could be waited out, and whether there was any. */
export type Quiet = { readonly kind: "quiet" | "interrupted" | "ended"; readonly dropped: boolean };

/**
 * Asks for one message after another, and questions in between. While nothing is asked the terminal is as a program finds
 * it: Ctrl-C is a signal.
 */
export class Prompt {
  readonly #options: PromptOptions;
  readonly #lines: Interface;
  readonly #valve: Valve;
  readonly #messages: string[] = [];
  #pasted: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #interrupted = false;
  #wake: (() => void) | undefined;
  #answer: ((answer: Answer) => void) | undefined;
  #endQuiet: ((kind: Quiet["kind"]) => void) | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
    const { input, output, interactive: terminal, prompt } = options;
    this.#valve = new Valve(output);
    // Piped lines need no output: they are not echoed.
    this.#lines = createInterface({ input, terminal, prompt, ...(terminal ? { output: this.#valve } : {}) });
    this.#lines.on("line", (line) => this.#line(line));
    this.#lines.on("SIGINT", () => this.#interrupt());
    this.#lines.on("history", (history) => {
      if (this.#answer !== undefined || this.#endQuiet !== undefined) history.shift(); // messages only
    });
    this.#lines.on("close", () => {
      this.#flush();
      this.#ended = true;
      this.#wake?.();
      this.#answer?.({ kind: "ended" });
      this.#endQuiet?.("ended");
    });
    if (terminal) this.#yield();
  }

  get interactive(): boolean {
    return this.#options.interactive;
  }

  /** The next message; null when there will be none. */
  async ask(): Promise<string | null> {
    if (this.#messages.length === 0 && !this.#ended) {
      this.#interrupted = false;
      this.#take();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
      this.#yield();
    }
    return this.#messages.shift() ?? null;
  }

  /** Asks a person something else than for the next message. */
  async question({ prompt, prefill = "", signal }: Question): Promise<Answer> {
    if (this.#ended) return { kind: "ended" };
    if (signal.aborted) return { kind: "withdrawn" };
    let shown = prompt();
    const count = setInterval(() => {
      if (prompt() === shown || this.#pasted.length > 0) return; // a line that was entered is on its way
      shown = prompt();
      this.#lines.setPrompt(shown);
      this.#lines.prompt(true);
    }, 1000);
    const answer = await new Promise<Answer>((resolve) => {
      this.#answer = resolve;
      signal.addEventListener("abort", () => resolve({ kind: "withdrawn" }), { once: true });
      this.#lines.setPrompt(shown);
      this.#take();
      if (prefill !== "") this.#lines.write(prefill);
    });
    clearInterval(count);
    this.#answer = undefined;
    this.#pasted = [];
    clearTimeout(this.#timer);
    if (answer.kind === "withdrawn") {
      this.#clear();
      this.#options.output.write(ERASE_LINE);
    } else if (answer.kind !== "answer") {
      this.#valve.shut = true; // what was typed stays on the screen, but is no longer there
      if (answer.kind === "interrupted") this.#clear();
      this.#valve.shut = false;
      this.#options.output.write("\n");
    }
    this.#lines.setPrompt(this.#options.prompt);
    this.#yield();
    return answer;
  }

  /**
   * Waits until nothing has been typed for a while and drops what was: it was not meant for the question that follows,
   * which nobody has seen yet.
   */
  async quiet(ms: number): Promise<Quiet> {
    if (this.#ended) return { kind: "ended", dropped: false };
    const { input } = this.#options;
    let dropped = false;
    this.#valve.shut = true;
    let timer: NodeJS.Timeout | undefined;
    let longest: NodeJS.Timeout | undefined;
    let onKey = () => {};
    const kind = await new Promise<Quiet["kind"]>((resolve) => {
      this.#endQuiet = resolve;
      timer = setTimeout(resolve, ms, "quiet");
      longest = setTimeout(resolve, LONGEST_QUIET_MS, "quiet");
      onKey = () => {
        dropped = true;
        timer?.refresh();
      };
      input.on("keypress", onKey);
      input.setRawMode?.(true);
      this.#lines.resume();
    });
    clearTimeout(timer);
    clearTimeout(longest);
    input.off("keypress", onKey);
    this.#endQuiet = undefined;
    this.#pasted = [];
    if (kind !== "ended") this.#clear();
    this.#valve.shut = false;
    this.#yield();
    return { kind, dropped };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#lines.close();
  }

  #line(line: string): void {
    this.#interrupted = false;
    if (this.#endQuiet !== undefined) return;
    if (!this.#options.interactive) {
      this.#messages.push(line);
      this.#wake?.();
      return;
    }
    this.#pasted.push(line);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // The last line of a paste may lack its end: it is there to be finished.
      if (this.#lines.line === "") this.#flush();
    }, PASTE_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    if (this.#pasted.length === 0) return;
    const text = this.#pasted.join("\n");
    this.#pasted = [];
    if (this.#answer !== undefined) {
      this.#answer({ kind: "answer", text });
      return;
    }
    this.#messages.push(text);
    this.#wake?.();
  }

  #interrupt(): void {
    const isEmpty = this.#lines.line === "" && this.#pasted.length === 0;
    this.#pasted = [];
    if (this.#endQuiet !== undefined) {
      this.#endQuiet("interrupted");
      return;
    }
    if (this.#answer !== undefined) {
      this.#answer({ kind: "interrupted" });
      return;
    }
    if (isEmpty && this.#interrupted) {
      this.#options.output.write("\n");
      this.#lines.close();
      return;
    }
    this.#interrupted = isEmpty;
    if (isEmpty) {
      this.#options.output.write("\n");
      this.#options.onFirstInterrupt();
      this.#lines.prompt();
    } else {
      this.#clear();
    }
  }

  /** Drops what was typed on this line. */
  #clear(): void {
    // To the end of the line, then everything before it.
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
  }

  #take(): void {
    if (this.#options.interactive) {
      this.#options.input.setRawMode?.(true);
      this.#lines.prompt();
    } else {
      this.#lines.resume();
    }
  }

  #yield(): void {
    if (this.#ended) return;
    this.#lines.pause();
    if (this.#options.interactive) this.#options.input.setRawMode?.(false);
  }
}

const ERASE_LINE = "\r\x1b[2K";
