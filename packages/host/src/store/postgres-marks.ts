import { randomBytes } from "node:crypto";

const KEPT_MS = 24 * 60 * 60 * 1_000;

/** A place for the mark of one transaction at a time, and the mark it makes there. */
export interface Mark {
  readonly slot: number;
  /** Begins the transaction and makes the mark in it, in one message. */
  readonly begin: string;
  /** Answers the `mark` that is there, once whoever may still be writing it has ended. */
  readonly find: string;
  readonly mark: string;
}

/**
 * How a store finds out what became of a transaction when the answer to its COMMIT is lost: the transaction leaves a mark,
 * and the mark is there or it is not. As long as the transaction lives it holds the row, so that the look waits for its
 * end. (Its number and pg_xact_status would not do: after a crash the server gives numbers out again that never reached
 * its log, and then another transaction's fate is taken for this one's.)
 */
export class Marks {
  readonly #store = randomBytes(8).toString("hex");
  readonly #free: number[] = [];
  #slots = 0;
  #made = 0;

  take(): Mark {
    const slot = this.#free.pop() ?? this.#slots++;
    this.#made += 1;
    const mark = String(this.#made);
    const put = (value: string) =>
      `INSERT INTO trackside_marks (slot, mark, at) VALUES ('${this.#store}/${slot}', '${value}', ${Date.now()})
       ON CONFLICT (slot) DO UPDATE SET at = excluded.at`;
    return {
      slot,
      mark,
      begin: `BEGIN ISOLATION LEVEL READ COMMITTED; ${put(mark)}, mark = excluded.mark`,
      find: `${put("")} RETURNING mark`,
    };
  }

  /** Its outcome is known: another transaction may have the slot. */
  free({ slot }: Mark): void {
    this.#free.push(slot);
  }
}

/** Removes what stores have left that are long gone. */
export const forgetOldMarks = () => `DELETE FROM trackside_marks WHERE at < ${Date.now() - KEPT_MS}`;
