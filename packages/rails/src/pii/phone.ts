import { type DigitGroups, isSpace } from "./digit-groups.ts";
import { phoneLabelAfter, phoneWordBefore } from "./number-context.ts";

/**
 * Where a phone number ends; "more" when more text is needed to say. Forms that hardly anything else has count by
 * themselves: `+46 …`, `(602) 272-9781`, `930.167.3943`, `079 2718 1155`. Others, such as `450 0840`, need a word before
 * (`call`, `Phone:`) or a label after (`office`).
 */
export function phoneEnd(groups: DigitGroups): number | "more" | undefined {
  if (groups.count === 1 && groups.size(0) < 7) return undefined;
  const sure = sureCount(groups);
  if (sure !== undefined) return withExtension(groups, sure);
  const likely = likelyCount(groups);
  if (likely === undefined) return undefined;
  if (!phoneWordBefore(groups.text, groups.start)) {
    const label = phoneLabelAfter(groups.text, groups.end(likely), groups.done);
    if (label === undefined) return "more";
    if (!label) return undefined;
  }
  return withExtension(groups, likely);
}

/** How many groups make a form that needs no context. */
function sureCount(groups: DigitGroups): number | undefined {
  for (const form of FORMS) {
    const count = form(groups);
    if (count !== undefined && endsFreeOrExtended(groups, count)) return count;
  }
  return undefined;
}

type Form = (groups: DigitGroups) => number | undefined;

/** `+41 (0)69 979 80 58`, `001-253-366-9781`. */
const international: Form = (groups) => {
  const zeros = groups.count > 1 && /^00[1-9]/.test(groups.group(0));
  if (!zeros && !groups.lead.includes("+")) return undefined;
  const least = zeros ? 10 : 8;
  let total = 0;
  let best: number | undefined;
  for (let i = 0; i < groups.count; i++) {
    const enough = total >= least;
    if (groups.size(i) < 2 && (enough || i > 2)) break;
    if (enough && i > 1 && isSpace(groups.gap(i)) && /[-.]/.test(groups.gap(i - 1))) break; // another number
    total += groups.size(i);
    if (total > 16) break;
    if (total >= least) best = i + 1;
  }
  return best;
};

/** `415-555-2671`, `(415) 555-2671`, `1 415 555 2671`. */
const northAmerican: Form = (groups) => {
  const prefix = groups.size(0) === 1 && groups.group(0) === "1" ? 1 : 0;
  if (groups.size(prefix) !== 3 || groups.size(prefix + 1) !== 3 || groups.size(prefix + 2) !== 4)
    return undefined;
  const first = groups.gap(prefix + 1);
  const second = groups.gap(prefix + 2);
  const fits = first.startsWith(")")
    ? /^[ .-]$/.test(second)
    : first === second && /^[ .\-/\u2010-\u2013\u00a0\u202f]$/.test(first);
  return fits ? prefix + 3 : undefined;
};

/** `(71) 4233-6306`. */
const areaInBrackets: Form = (groups) => {
  if (groups.lead !== "(" || !groups.gap(1).startsWith(")")) return undefined;
  const count = evenCount(groups, 2);
  const total = groups.total(count);
  return count >= 2 && total >= 9 && total <= 12 ? count : undefined;
};

/** `0341 8387176`, `056 590 36 33`. */
const trunkZero: Form = (groups) => {
  if (groups.size(0) > 5 || !/^0[1-9]/.test(groups.group(0))) return undefined;
  const count = evenCount(groups, 1);
  const total = groups.total(count);
  const fits = count >= 2 && count <= 5 && total >= 9 && total <= 12;
  return fits && !isPostalCode(groups, count) ? count : undefined;
};

/** `12.34.56.78.90`. */
const pairs: Form = (groups) => {
  for (let i = 0; i < 5; i++) {
    if (groups.size(i) !== 2) return undefined;
    if (i > 0 && (!/^[.-]$/.test(groups.gap(i)) || groups.gap(i) !== groups.gap(1))) return undefined;
  }
  return 5;
};

const FORMS: readonly Form[] = [international, northAmerican, areaInBrackets, trunkZero, pairs];

/** How many groups go on with two to eight digits each, and from the gap `from` on with the same between them. */
function evenCount(groups: DigitGroups, from: number): number {
  let count = 1;
  while (count < groups.count) {
    const size = groups.size(count);
    if (size < 2 || size > 8 || (count > from && groups.gap(count) !== groups.gap(from))) break;
    count++;
  }
  return count;
}

/** How many groups may well be a phone number: all there are. */
function likelyCount(groups: DigitGroups): number | undefined {
  const { count } = groups;
  if (count > 6) return undefined;
  const total = groups.total(count);
  if (total < (count === 1 ? 7 : 6) || total > 15 || !endsFreeOrExtended(groups, count)) return undefined;
  for (let i = 0; i < count; i++) {
    const country = i === 0 && (groups.lead !== "" || groups.group(0) === "1");
    if (groups.size(i) < 2 && !country) return undefined;
  }
  return isSomethingElse(groups, count) ? undefined : count;
}

const YEAR = /^(?:19|20)\d\d$/;
const DAY = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;

/** Dates, years and postal codes. */
function isSomethingElse(groups: DigitGroups, count: number): boolean {
  const year = (i: number) => YEAR.test(groups.group(i));
  const small = (i: number) =>
    groups.size(i) <= 2 && Number(groups.group(i)) >= 1 && Number(groups.group(i)) <= 31;
  if (count === 1) return DAY.test(groups.group(0));
  if (count === 2 && year(0) && year(1)) return true;
  if (isPostalCode(groups, count)) return true;
  return count > 2 && ((year(0) && small(1) && small(2)) || (small(0) && small(1) && year(2)));
}

/** `05396-8971`. */
function isPostalCode(groups: DigitGroups, count: number): boolean {
  return count === 2 && groups.size(0) === 5 && groups.size(1) === 4 && groups.gap(1) === "-";
}

const EXTENSION = /^ ?(?:x|ext\.?|extension|#) ?\d{1,6}(?![\dA-Za-z])/i;
const EXTENSION_SO_FAR =
  /^ ?(?:(?:x|ext\.?|extension|#) ?\d{0,6}|e|ex|exte|exten|extens|extensi|extensio)?$/i;
const EXTENSION_ROOM = 20;

function endsFreeOrExtended(groups: DigitGroups, count: number): boolean {
  if (groups.endsFree(count)) return true;
  const end = groups.end(count);
  return groups.count === count && /^x\d/i.test(groups.text.slice(end, end + 2));
}

/** Takes `x459` or ` ext. 459` along. */
function withExtension(groups: DigitGroups, count: number): number | "more" {
  const end = groups.end(count);
  if (count < groups.count) return end;
  const after = groups.text.slice(end, end + EXTENSION_ROOM);
  if (!groups.done && after.length < EXTENSION_ROOM && EXTENSION_SO_FAR.test(after)) return "more";
  const [found] = EXTENSION.exec(after) ?? [];
  return found === undefined ? end : end + found.length;
}
