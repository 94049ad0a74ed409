const THIN = "\u202f";
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** "1,234,567": exact, for tables. */
export function formatCount(value: number): string {
  return Number.isFinite(value) ? whole.format(value) : "–";
}

/** "842", "12.4k", "3.1M": for meters and badges; the exact number belongs in the title. */
export function formatShort(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  for (const [step, unit] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    // 999,950 and more would round to 1000.0k.
    if (size >= step * 0.99995 && size >= 1000) return `${trimZero((value / step).toFixed(1))}${unit}`;
  }
  return Number.isInteger(value) ? String(value) : trimZero(value.toFixed(1));
}

const trimZero = (text: string) => text.replace(/\.0$/, "");

/** "$12.40", "$0.0042", "<$0.0001": small sums keep their first two digits that say something. */
export function formatMoney(value: number, currency = "USD"): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size > 0 && size < 0.0001) return `<${money(0.0001, currency, 4)}`;
  return money(value, currency, size === 0 || size >= 1 ? 2 : size >= 0.01 ? 3 : 4);
}

function money(value: number, currency: string, digits: number): string {
  return new Intl.NumberFormat("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: Math.min(2, digits),
    maximumFractionDigits: digits,
  }).format(value);
}

/** "12.5 %" of a share between 0 and 1; a share that is not quite all never reads as 100 %, nor a little as 0 %. */
export function formatShare(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return `<0.1${THIN}%`;
  if (percent < 100 && percent > 99.9) return `>99.9${THIN}%`;
  return `${trimZero(percent.toFixed(1))}${THIN}%`;
}

/** "512 B", "3.4 kB", "12 MB". */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : trimZero(value.toFixed(1))} ${units[unit]}`;
}

/** "1 run", "3 runs", "2 entries" with its own plural. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
