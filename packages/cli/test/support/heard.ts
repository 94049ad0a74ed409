/** What a command has written so far, and waiting for more of it. */
export class Heard {
  stdout = "";
  stderr = "";
  /** Set when the command has ended: why nothing more is to come. */
  over: string | undefined;
  #seen = 0;
  readonly #looking = new Set<() => void>();

  wrote(stream: "stdout" | "stderr", text: string): void {
    this[stream] += text;
    this.#look();
  }

  ended(how: string): void {
    this.over = how;
    this.#look();
  }

  /** Waits until `find` answers something. Rejects when the command ends without it. */
  until<T>(find: () => T | undefined, wanted: string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = () => {
      const found = find();
      if (found === undefined && this.over === undefined) return;
      this.#looking.delete(look);
      if (found !== undefined) resolve(found);
      else reject(new Error(`${this.over} without ${wanted}; after what was seen:\n${this.#rest()}`));
    };
    this.#looking.add(look);
    look();
    return promise;
  }

  /** Waits for a text on stdout, after what earlier calls waited for. */
  see(text: string | RegExp): Promise<string> {
    const find = () => {
      const rest = plain(this.stdout).slice(this.#seen);
      const at = typeof text === "string" ? rest.indexOf(text) : rest.search(text);
      if (at < 0) return undefined;
      const found = typeof text === "string" ? text : (text.exec(rest)?.[0] ?? "");
      this.#seen += at + found.length;
      return found;
    };
    return this.until(find, String(text));
  }

  #rest(): string {
    return `${plain(this.stdout).slice(this.#seen)}${this.stderr}`;
  }

  #look(): void {
    for (const look of [...this.#looking]) look();
  }
}

/** Text as a terminal shows it, without colours and cursor movements. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
  return text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]|\r/g, "");
}
