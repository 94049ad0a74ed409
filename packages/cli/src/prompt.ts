import { createInterface, type Interface } from "node:readline";
import type { Input, Output } from "./io.ts";

/** Lines that arrive within this time of each other were pasted, and are one message. */
const PASTE_MS = 30;

export interface PromptOptions {
  readonly input: Input;
  readonly output: Output;
  /** Whether a person types: then there is a prompt, editing and history. */
  readonly interactive: boolean;
  readonly prompt: string;
  /** Called at the first Ctrl-C on an empty line; the second ends the input. */
  readonly onFirstInterrupt: () => void;
}

/** Asks for one message after another. Between two questions the terminal is as a program finds it: Ctrl-C is a signal. */
export class Prompt {
  readonly #options: PromptOptions;
  readonly #lines: Interface;
  readonly #messages: string[] = [];
  #pasted: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #interrupted = false;
  #wake: (() => void) | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
    const { input, output, interactive: terminal, prompt } = options;
    // Piped lines need no output: they are not echoed.
    this.#lines = createInterface({ input, terminal, prompt, ...(terminal ? { output } : {}) });
    this.#lines.on("line", (line) => this.#line(line));
    this.#lines.on("SIGINT", () => this.#interrupt());
    this.#lines.on("close", () => {
      this.#flush();
      this.#ended = true;
      this.#wake?.();
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

  close(): void {
    clearTimeout(this.#timer);
    this.#lines.close();
  }

  #line(line: string): void {
    this.#interrupted = false;
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
    this.#messages.push(this.#pasted.join("\n"));
    this.#pasted = [];
    this.#wake?.();
  }

  #interrupt(): void {
    const isEmpty = this.#lines.line === "" && this.#pasted.length === 0;
    this.#pasted = [];
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
      // To the end of the line, then everything before it: what was typed is dropped.
      this.#lines.write(null, { ctrl: true, name: "e" });
      this.#lines.write(null, { ctrl: true, name: "u" });
    }
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
