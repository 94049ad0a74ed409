import type { Json, JsonObject } from "trackside";

/** Whether a condition on arguments holds. What cannot be told is never taken for a yes. */
export interface Held {
  readonly holds: "yes" | "no" | "unclear";
  /** What the model, or whoever decides, is told. */
  readonly why: string;
}

export const YES: Held = { holds: "yes", why: "" };

/** Checks one value found in the arguments. */
export type CheckArgument = (value: Json) => Held;

/** A value at a place in the arguments; undefined where there is none. */
interface Found {
  readonly place: string;
  readonly value: Json | undefined;
}

/** Everything at a place such as `path`, `target.url` or `files.*.path`, where `*` is every entry. */
export function pick(args: JsonObject, place: string): readonly Found[] {
  let found: readonly Found[] = [{ place: "", value: args }];
  for (const key of place.split(".")) found = found.flatMap((one) => step(one, key));
  return found;
}

function step({ place, value }: Found, key: string): readonly Found[] {
  const below = (name: string) => (place === "" ? name : `${place}.${name}`);
  if (typeof value !== "object" || value === null) return [{ place: below(key), value: undefined }];
  if (key === "*")
    return Object.entries(value).map(([name, inner]) => ({ place: below(name), value: inner }));
  const inner = Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined; // a list has its indexes as keys
  return [{ place: below(key), value: inner }];
}

/** Which of several values a condition is about: to allow takes all of them, to refuse or ask one is enough. */
export type Quantifier = "all" | "any";

/** Checks every value at some places. To allow, one that is missing is unclear, unless it may be. */
export function checkPlaces(
  args: JsonObject,
  places: readonly { readonly place: string; readonly optional: boolean; readonly check: CheckArgument }[],
  quantifier: Quantifier,
): Held {
  const held = places.flatMap(({ place, optional, check }) =>
    pick(args, place).flatMap(({ place: at, value }): Held[] => {
      if (value !== undefined) return [named(at, check(value))];
      if (quantifier === "any") return [no(`${at} is missing`)];
      return optional ? [] : [unclear(`${at} is missing`)];
    }),
  );
  const order = quantifier === "all" ? (["no", "unclear"] as const) : (["yes", "unclear"] as const);
  for (const holds of order) {
    const found = held.find((one) => one.holds === holds);
    if (found) return found;
  }
  return quantifier === "all" ? YES : (held[0] ?? no("names none of them"));
}

function named(place: string, held: Held): Held {
  return { ...held, why: `${place} ${held.why}` };
}

export function unclear(why: string): Held {
  return { holds: "unclear", why };
}

export function no(why: string): Held {
  return { holds: "no", why };
}

export function quoted(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
