import { useEffect, useRef, useState } from "react";
import type { JsonObject } from "trackside/schema";
import type { Issue } from "../../agents/draft/issues.ts";
import type { Definition } from "../draft/definition.ts";
import type { Catalog } from "./catalog.ts";

export interface CheckRequest {
  readonly id: number;
  /** When it is another one than before. */
  readonly catalog: Catalog | undefined;
  readonly definition: Definition;
}

export interface CheckAnswer {
  readonly id: number;
  readonly issues: readonly Issue[];
  /** JSON Schema of what each node comes to, as far as it is known. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
  /** How long the check took. */
  readonly ms: number;
}

export interface Checked {
  /** Undefined until the first answer is there. */
  readonly definition: Definition | undefined;
  readonly issues: readonly Issue[];
  readonly outputs: CheckAnswer["outputs"];
}

const UNCHECKED: Checked = { definition: undefined, issues: [], outputs: {} };
/** Somebody who types is not told of every half word. */
const REST_MS = 120;

/** The checker of a page: one at a time, and only the newest definition matters. */
class Checker {
  readonly #worker = new Worker(new URL("./check-worker.ts", import.meta.url), { type: "module" });
  readonly #waiting = new Map<number, (answer: CheckAnswer) => void>();
  #catalog: Catalog | undefined;
  #last = 0;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<CheckAnswer>) => {
      performance.measure("workflow-check", { start: performance.now() - data.ms, duration: data.ms });
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    };
  }

  check(definition: Definition, catalog: Catalog): Promise<CheckAnswer> {
    this.#last += 1;
    const id = this.#last;
    this.#worker.postMessage({ id, definition, catalog: catalog === this.#catalog ? undefined : catalog });
    this.#catalog = catalog;
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  close(): void {
    this.#worker.terminate();
  }
}

/** What is wrong with a definition, a moment after it was changed; and at once, for whoever is about to save. */
export function useCheck(
  definition: Definition,
  catalog: Catalog,
): { checked: Checked; checkNow(): Promise<Checked> } {
  const checker = useRef<Checker>(undefined);
  const [checked, setChecked] = useState(UNCHECKED);
  useEffect(() => {
    const made = new Checker();
    checker.current = made;
    return () => {
      made.close();
      checker.current = undefined;
    };
  }, []);
  const checkNow = async (): Promise<Checked> => {
    const answer = await checker.current?.check(definition, catalog);
    if (answer === undefined) return UNCHECKED;
    const next = { definition, issues: answer.issues, outputs: answer.outputs };
    setChecked(next);
    return next;
  };
  const latest = useRef(checkNow);
  latest.current = checkNow;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another definition or catalog is what asks for a check
  useEffect(() => {
    const timer = setTimeout(() => void latest.current(), REST_MS);
    return () => clearTimeout(timer);
  }, [definition, catalog]);
  return { checked, checkNow };
}
