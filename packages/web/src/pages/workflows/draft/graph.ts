import { type Definition, edgesOf } from "./definition.ts";

/** Who comes after and before each node, by id. Made once for a definition, since edges are looked at often. */
export class Graph {
  readonly #after = new Map<string, string[]>();
  readonly #before = new Map<string, string[]>();

  constructor(definition: Definition) {
    for (const { from, to } of edgesOf(definition)) {
      into(this.#after, from, to);
      into(this.#before, to, from);
    }
  }

  after(id: string): readonly string[] {
    return this.#after.get(id) ?? [];
  }

  before(id: string): readonly string[] {
    return this.#before.get(id) ?? [];
  }

  /** Everything that has run when this node begins; the nearest first. */
  upstream(id: string): readonly string[] {
    return reached(id, (at) => this.before(at));
  }

  /** A way along edges, both ends in it; undefined where there is none. */
  way(from: string, to: string): readonly string[] | undefined {
    const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
    const queue = [from];
    for (const at of queue) {
      if (at === to) return wayBack(to, cameFrom);
      for (const next of this.after(at))
        if (!cameFrom.has(next)) {
          cameFrom.set(next, at);
          queue.push(next);
        }
    }
    return undefined;
  }
}

function into(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else if (!list.includes(value)) list.push(value);
}

function reached(start: string, next: (id: string) => readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const queue = [start];
  for (const at of queue)
    for (const id of next(at))
      if (!seen.has(id) && id !== start) {
        seen.add(id);
        queue.push(id);
      }
  return [...seen];
}

function wayBack(to: string, cameFrom: ReadonlyMap<string, string | undefined>): readonly string[] {
  const way: string[] = [];
  for (let at: string | undefined = to; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
  return way;
}
