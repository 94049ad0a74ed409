import type { Json } from "../../schema/json.ts";
import { isPlain, preview } from "../../schema/preview.ts";

/** How much of a stranger's value is looked at. */
export interface Caps {
  readonly depth: number;
  /** Values in all, and characters of texts and keys in all. */
  readonly nodes: number;
  readonly chars: number;
  readonly forbiddenKeys: readonly string[];
}

export type Copied =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

/** Reads a value once, as JSON of one's own, or says why it is none or too much. Never throws, whatever it is given. */
export function copyJson(value: unknown, caps: Caps): Copied {
  const copying = new Copying(caps);
  try {
    const copy = copying.copy(value, 0);
    return copy === undefined ? { ok: false, problem: copying.problem } : { ok: true, value: copy };
  } catch {
    return { ok: false, problem: "it cannot be read" };
  }
}

class Copying {
  problem = "it is not JSON";
  readonly #caps: Caps;
  #nodes = 0;
  #chars = 0;

  constructor(caps: Caps) {
    this.#caps = caps;
  }

  /** Undefined when it is refused; `problem` then says why. */
  copy(value: unknown, depth: number): Json | undefined {
    if (++this.#nodes > this.#caps.nodes) return this.#refuse(`it has more than ${this.#caps.nodes} values`);
    if (typeof value === "string") return this.#fits(value) ? value : undefined;
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value; // JSON has no -0
    if (typeof value !== "object" || !(Array.isArray(value) || isPlain(value)))
      return this.#refuse(`it is not JSON (${preview(value)})`);
    if (depth >= this.#caps.depth)
      return this.#refuse(`it is nested more than ${this.#caps.depth} levels deep`);
    return Array.isArray(value) ? this.#list(value, depth) : this.#record(value, depth);
  }

  #list(value: readonly unknown[], depth: number): Json | undefined {
    const out: Json[] = [];
    for (let i = 0; i < value.length; i++) {
      const inner = this.copy(value[i], depth + 1);
      if (inner === undefined) return undefined;
      out.push(inner);
    }
    return out;
  }

  #record(value: object, depth: number): Json | undefined {
    const out: Record<string, Json> = {};
    for (const key of Object.keys(value)) {
      if (this.#caps.forbiddenKeys.includes(key))
        return this.#refuse(`it has the forbidden key ${preview(key)}`);
      if (!this.#fits(key)) return undefined;
      const inner = this.copy(Reflect.get(value, key), depth + 1);
      if (inner === undefined) return undefined;
      out[key] = inner;
    }
    return out;
  }

  #fits(text: string): boolean {
    this.#chars += text.length;
    if (this.#chars <= this.#caps.chars) return true;
    this.#refuse(`it has more than ${this.#caps.chars} characters of text`);
    return false;
  }

  #refuse(problem: string): undefined {
    this.problem = problem;
  }
}
