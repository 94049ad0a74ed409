import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { SseEvent } from "./wires.ts";

// Recorded provider streams lie beside a checkout, never in it.
const FOLDER = resolve(import.meta.dirname, "../../../../../shared/corpora/streams");

/** Why recorded streams cannot be used, or undefined when they can. */
export const recordedMissing: string | undefined = existsSync(FOLDER)
  ? undefined
  : "skipped: no recorded provider streams in ../shared/corpora/streams";

/** A recorded stream (`anthropic-text`, …) as the events its provider sent. */
export function recorded(name: string): SseEvent[] {
  const lines = readFileSync(resolve(FOLDER, `${name}.chunks.txt`), "utf8").split("\n");
  const events = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
  if (name.startsWith("anthropic")) return events.map((data) => ({ event: data.type, data }));
  const done = name.startsWith("google") ? [] : [{ data: "[DONE]" }];
  return [...events.map((data) => ({ data })), ...done];
}
