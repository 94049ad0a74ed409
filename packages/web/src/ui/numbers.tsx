import { formatBytes, formatCount, formatMoney, formatShare, formatShort } from "../format/number.ts";

/** A sum of money; hover gives it to the last digit. */
export function Money({ value, currency = "USD" }: { value: number; currency?: string }) {
  return (
    <span title={`${value} ${currency}`} className="whitespace-nowrap tabular-nums">
      {formatMoney(value, currency)}
    </span>
  );
}

/** Tokens in short form with their unit; hover gives the exact count. */
export function Tokens({ value, unit = true }: { value: number; unit?: boolean }) {
  return (
    <span title={`${formatCount(value)} tokens`} className="whitespace-nowrap tabular-nums">
      {formatShort(value)}
      {unit && <span className="text-faint"> tok</span>}
    </span>
  );
}

export function Share({ value }: { value: number }) {
  return (
    <span title={`${value * 100} %`} className="whitespace-nowrap tabular-nums">
      {formatShare(value)}
    </span>
  );
}

export function Bytes({ value }: { value: number }) {
  return (
    <span title={`${formatCount(value)} bytes`} className="whitespace-nowrap tabular-nums">
      {formatBytes(value)}
    </span>
  );
}
