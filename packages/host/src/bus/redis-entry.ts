import { liveEvent } from "trackside/schema";
import * as z from "zod";
import type { BusItem, Gap } from "./bus.ts";

const item = z.union([
  liveEvent,
  z.object({ type: z.literal("committed"), run_id: z.string(), seq: z.number().int() }),
  z.object({ type: z.literal("wake"), run_id: z.string(), what: z.string() }),
  z.object({ type: z.literal("gap"), run_id: z.string() }),
]);

/** One entry of a run's stream: what one process had to say since its last one. */
export interface Entry {
  /** The bus that wrote it. */
  readonly by: string;
  /** Counts that bus's entries in this stream, from 1: a missing number is a gap. */
  readonly n: number;
  readonly items: readonly (BusItem | Gap)[];
  /** The run has ended. */
  readonly finished: boolean;
}

export type Fields = Record<string, string>;

export function encodeEntry({ by, n, items, finished }: Entry): Fields {
  return { by, n: String(n), items: JSON.stringify(items), ...(finished ? { finished: "1" } : {}) };
}

/** Null for what we did not write. Items of a later version that we do not know are left out. */
export function decodeEntry(fields: Fields): Entry | null {
  const { by, n, items, finished } = fields;
  if (by === undefined || n === undefined || items === undefined) return null;
  return { by, n: Number(n), items: decodeItems(items), finished: finished === "1" };
}

function decodeItems(text: string): (BusItem | Gap)[] {
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values)) return [];
    return values.flatMap((value) => {
      const read = item.safeParse(value);
      return read.success ? [read.data] : [];
    });
  } catch {
    return [];
  }
}
