import { Complaint } from "./complaint.ts";

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time to come, in Unix ms: a date, a date and time, or how long from now. */
export function readUntil(option: string, given: string, now: number): number {
  const [, amount, unit = ""] = /^(\d+)([mhdw])$/.exec(given) ?? [];
  const isDate = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?$/.test(given);
  const at =
    amount === undefined
      ? isDate
        ? Date.parse(given)
        : Number.NaN
      : now + Number(amount) * (UNITS[unit] ?? 0);
  if (Number.isNaN(at))
    throw new Complaint(
      `${option}: a date (2026-12-01, 2026-12-01T18:00Z) or a time from now (30m, 12h, 7d, 2w) expected, ${JSON.stringify(given)} given.`,
    );
  if (at <= now) throw new Complaint(`${option}: ${given} is in the past.`);
  return at;
}
