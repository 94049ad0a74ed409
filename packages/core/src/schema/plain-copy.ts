import { isPlain } from "./preview.ts";
import { type ConfigIssue, formatPath, issue } from "./problems.ts";

const MAX_DEPTH = 100;
const MAX_OBJECTS = 100_000;

type Path = readonly PropertyKey[];

/**
 * What a user wrote as plain objects and lists, read once: getters, proxies and later changes no longer matter. What JSON
 * could not hold by its shape is left out and reported; leaves are for the schema to judge. Objects where `keep` says so
 * are taken as they are; lists are always copied.
 */
export function plainCopy(value: unknown, keep: (path: Path) => boolean = () => false) {
  const copying = new Copying(keep);
  return { copy: copying.copy(value, []), issues: copying.issues };
}

class Copying {
  readonly issues: ConfigIssue[] = [];
  readonly #keep: (path: Path) => boolean;
  /** The objects around the one being copied. */
  readonly #around = new Set<object>();
  #copied = 0;

  constructor(keep: (path: Path) => boolean) {
    this.#keep = keep;
  }

  copy(value: unknown, path: Path): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (this.#around.has(value)) return this.#refuse(path, value, "a value that does not contain itself");
    if (path.length > MAX_DEPTH) return this.#refuse(path, value, `at most ${MAX_DEPTH} levels`);
    if (++this.#copied > MAX_OBJECTS) return this.#refuse(path, value, `at most ${MAX_OBJECTS} objects`);
    this.#around.add(value);
    try {
      if (Array.isArray(value)) return Array.from(value, (_, i) => this.#entry(value, i, path));
      if (this.#keep(path)) return value;
      if (!isPlain(value)) return this.#refuse(path, value, "a plain JSON value");
      return this.#record(value, path);
    } catch {
      return this.#refuse(path, value, "a value that can be read");
    } finally {
      this.#around.delete(value);
    }
  }

  #record(value: object, path: Path): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const key of Reflect.ownKeys(value)) {
      if (!Object.prototype.propertyIsEnumerable.call(value, key)) continue;
      // A definition passes through many hands, and not all of them would copy `__proto__` as what it is.
      if (typeof key === "symbol" || key === "__proto__")
        this.#refuse([...path, key], String(key), "a key that is text, other than __proto__");
      else out[key] = this.#entry(value, key, path);
    }
    return out;
  }

  #entry(value: object, key: string | number, path: Path): unknown {
    const at = [...path, key];
    let inner: unknown;
    try {
      inner = Reflect.get(value, key);
    } catch {
      return this.#refuse(at, "something that throws", "a value that can be read");
    }
    return this.copy(inner, at);
  }

  #refuse(path: Path, given: unknown, allowed: string): undefined {
    this.issues.push(issue(formatPath(path), given, allowed));
  }
}
