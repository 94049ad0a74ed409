import type { Json } from "../../schema/json.ts";
import { isList } from "./json-kinds.ts";
import type { Meter } from "./meter.ts";

const CHARS_PER_STEP = 16;

/** A text that is the same for equal values: keys are sorted. What it costs goes to the meter. */
export function canonical(value: Json, meter: Meter): string {
  if (!meter.spend()) return "";
  if (typeof value === "string") {
    meter.spend(value.length / CHARS_PER_STEP);
    return JSON.stringify(value);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map((inner) => canonical(inner, meter)).join()}]`;
  const keys = Object.keys(value).sort();
  meter.spend(keys.reduce((sum, key) => sum + 1 + key.length / CHARS_PER_STEP, 0));
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null, meter)}`).join()}}`;
}
