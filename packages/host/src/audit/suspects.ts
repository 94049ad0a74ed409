import type { AuditTable } from "../store/tables.ts";
import { hashOf } from "./entry.ts";
import type { AuditProblem } from "./verify.ts";

/** More broken rows than this are not sorted out any further: each is reported as edited. */
const SORTED_OUT = 300;
/** How many rows may have been put in between for those behind them to be known again. */
const SHIFTED = 20;

const REWRITTEN = {
  next: (n: number) => `row ${n} was rewritten, hash and all: it is not the row that the next one follows on`,
  head: (n: number) =>
    `row ${n} is not the one that the signed end names: the chain was written anew, from this row or an earlier one on`,
};

/** Rows that do not fit, until it is clear what was done to them. */
export class Suspects {
  readonly #broken = new Map<number, AuditTable>();
  readonly #unlinked = new Map<number, "next" | "head">();
  readonly #missing = new Set<number>();

  missing(n: number): void {
    this.#missing.add(n);
  }

  /** A row whose hash is not that of its columns. */
  broken(row: AuditTable): void {
    this.#broken.set(row.n, row);
  }

  /** A row that is whole, but is not the one that the next row, or the head, says came before it. */
  unlinked(n: number, says: "next" | "head"): void {
    this.#unlinked.set(n, says);
  }

  explain(): readonly AuditProblem[] {
    const moved = this.#moved();
    const found: AuditProblem[] = [...this.#broken.values()].map(({ n }) => {
      const from = moved.get(n);
      return from === undefined
        ? { n, kind: "edited", message: `row ${n} was edited: its hash is not that of its columns` }
        : { n, kind: "reordered", message: `row ${n} was moved here: it was written as row ${from}` };
    });
    const whole = (n: number) => !this.#broken.has(n) && !this.#missing.has(n);
    const inserted = new Set([...moved.values()].filter(whole));
    for (const n of inserted)
      found.push({ n, kind: "inserted", message: `row ${n} was inserted: another row had its number` });
    for (const [n, says] of this.#unlinked)
      if (whole(n) && !inserted.has(n)) found.push({ n, kind: "edited", message: REWRITTEN[says](n) });
    return found;
  }

  /** Where broken rows were before, by where they are now: a row that only got another number is whole under the old one. */
  #moved(): ReadonlyMap<number, number> {
    const moved = new Map<number, number>();
    if (this.#broken.size > SORTED_OUT) return moved;
    for (const row of this.#broken.values()) {
      const places = new Set([...this.#broken.keys(), ...this.#missing, ...this.#unlinked.keys()]);
      for (let off = 1; off <= SHIFTED; off++) places.add(row.n - off).add(row.n + off);
      for (const n of places)
        if (n > 0 && n !== row.n && hashOf({ ...row, n }) === row.hash) moved.set(row.n, n);
    }
    return moved;
  }
}
