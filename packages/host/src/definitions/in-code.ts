import { TracksideError } from "trackside";

/** What is defined where the host is made: read-only here. Found by name, or by the id it is shown with. */
export class InCode<T extends { readonly definition: { readonly name: string } }> {
  readonly #noun: "agent" | "workflow";
  readonly #all: ReadonlyMap<string, T>;
  /** Since when they are here. */
  readonly since: number;

  constructor(noun: "agent" | "workflow", all: readonly T[], since: number) {
    this.#noun = noun;
    this.#all = new Map(all.map((one) => [one.definition.name, one]));
    this.since = since;
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  get names(): readonly string[] {
    return [...this.#all.keys()];
  }

  get all(): readonly T[] {
    return [...this.#all.values()];
  }

  find(key: string): T | undefined {
    return this.#all.get(key.startsWith(CODE) ? key.slice(CODE.length) : key) ?? this.#all.get(key);
  }

  idOf(name: string): string {
    return `${CODE}${name}`;
  }

  refuseChange(key: string): void {
    const found = this.find(key);
    if (found === undefined) return;
    throw new TracksideError(
      "read_only",
      `The ${this.#noun} "${found.definition.name}" is defined in code, in \`${this.#noun}s\` of the host (trackside.config.ts): change it there, or clone it.`,
    );
  }

  refuseVersions(key: string): void {
    const found = this.find(key);
    if (found === undefined) return;
    throw new TracksideError(
      "not_found",
      `The ${this.#noun} "${found.definition.name}" is defined in code: its versions are where the code's are.`,
    );
  }
}

const CODE = "code:";

/** Byte order, as the database has it. */
export function inByteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
