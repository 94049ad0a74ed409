import type { Reservation } from "../rails/context.ts";
import type { Maybe } from "./maybe.ts";

/** Counters of a run tree: in memory, or in a store. */
export interface CounterDesk {
  reserve(key: string, counter: string, n: number, max: number): Maybe<Reservation>;
}

/** Counters of a run tree: reservations are atomic, and the same key is counted once however often it is asked (R5). */
export class Counters implements CounterDesk {
  readonly #used = new Map<string, number>();
  readonly #made = new Map<string, Reservation>();

  reserve(key: string, counter: string, n: number, max: number): Reservation {
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const used = this.#used.get(counter) ?? 0;
    const granted = used + n <= max;
    if (granted) this.#used.set(counter, used + n);
    const reservation = { granted, used: granted ? used + n : used, max };
    this.#made.set(key, reservation);
    return reservation;
  }
}
