import type { Rule } from "./checking.ts";
import { countPoints } from "./code-points.ts";
import type { Keywords } from "./keywords.ts";

const LIMITS: readonly (readonly [string, string, (value: number, limit: number) => boolean])[] = [
  ["minimum", "of at least", (value, limit) => value >= limit],
  ["maximum", "of at most", (value, limit) => value <= limit],
  ["exclusiveMinimum", "above", (value, limit) => value > limit],
  ["exclusiveMaximum", "below", (value, limit) => value < limit],
];

export function numberRules(here: Keywords): readonly Rule[] {
  const rules = LIMITS.flatMap(([key, named, holds]): Rule[] => {
    const limit = here.number(key);
    if (limit === undefined) return [];
    return [
      (value, at, checking) =>
        typeof value !== "number" ||
        holds(value, limit) ||
        checking.expects(`a number ${named} ${limit}`, value, at),
    ];
  });
  const divisor = here.number("multipleOf");
  if (divisor === undefined) return rules;
  if (divisor <= 0) {
    here.refuse("multipleOf", "a number above 0");
    return rules;
  }
  const multiple: Rule = (value, at, checking) =>
    typeof value !== "number" ||
    isMultiple(value, divisor) ||
    checking.expects(`a multiple of ${divisor}`, value, at);
  return [...rules, multiple];
}

/** In decimals, as they are written: 0.3 is three times 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  const [a, shiftA] = decimal(value);
  const [b, shiftB] = decimal(divisor);
  const shift = Math.max(shiftA, shiftB);
  return (a * 10n ** BigInt(shift - shiftA)) % (b * 10n ** BigInt(shift - shiftB)) === 0n;
}

/** Digits and how many of them stand behind the point, which may be fewer than none. */
function decimal(value: number): [bigint, number] {
  const [digits = "0", exponent = "0"] = Math.abs(value).toString().split("e");
  const [whole = "0", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), fraction.length - Number(exponent)];
}

const CHARS_PER_STEP = 8;

export function stringRules(here: Keywords): readonly Rule[] {
  const rules: Rule[] = [];
  const [min, max] = [here.count("minLength"), here.count("maxLength")];
  if (min !== undefined || max !== undefined) {
    rules.push((value, at, checking) => {
      if (typeof value !== "string" || !checking.meter.spend(value.length / CHARS_PER_STEP)) return true;
      const length = countPoints(value);
      if (min !== undefined && length < min)
        return checking.expects(`a text of at least ${min} characters`, value, at);
      return (
        max === undefined ||
        length <= max ||
        checking.expects(`a text of at most ${max} characters`, value, at)
      );
    });
  }
  const pattern = here.pattern("pattern");
  if (pattern !== undefined) {
    rules.push(
      (value, at, checking) =>
        typeof value !== "string" ||
        pattern.test(value, checking.meter) ||
        checking.expects(`a text that matches ${pattern.source}`, value, at),
    );
  }
  return rules;
}
