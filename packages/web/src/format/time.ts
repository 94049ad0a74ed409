const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "just now", "4 min ago", "in 2 h", "3 d ago", and beyond a month the date itself. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 10_000) return "just now";
  const words = distanceWords(distance);
  if (words === undefined) return shortDate(at, now);
  return at > now ? `in ${words}` : `${words} ago`;
}

function distanceWords(distance: number): string | undefined {
  if (distance < MINUTE) return `${Math.floor(distance / 1000)} s`;
  if (distance < HOUR) return `${Math.floor(distance / MINUTE)} min`;
  if (distance < DAY) return `${Math.floor(distance / HOUR)} h`;
  if (distance < 31 * DAY) return `${Math.floor(distance / DAY)} d`;
  return undefined;
}

function shortDate(at: number, now: number): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    ...(!sameYear && { year: "numeric" }),
  }).format(at);
}

/** "2026-11-15 23:59:43.120 CET (UTC+01:00)": what goes into an incident report. */
export function exactTime(at: number, timeZone?: string): string {
  const parts = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-GB", { ...options, ...(timeZone && { timeZone }) }).formatToParts(at);
  const zone = (name: "short" | "longOffset") =>
    parts({ timeZoneName: name }).find((part) => part.type === "timeZoneName")?.value ?? "";
  const found = new Map(
    parts({
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      fractionalSecondDigits: 3,
      hourCycle: "h23",
    }).map((part) => [part.type, part.value]),
  );
  const get = (type: Intl.DateTimeFormatPartTypes) => found.get(type) ?? "";
  const date = `${get("year")}-${get("month")}-${get("day")}`;
  const time = `${get("hour")}:${get("minute")}:${get("second")}.${get("fractionalSecond")}`;
  const offset = zone("longOffset").replace("GMT", "UTC").replace("+00:00", "");
  const short = zone("short");
  const named = short && !/^(GMT|UTC)/.test(short) ? `${short} (${offset})` : offset;
  return `${date} ${time} ${named}`;
}

/** Milliseconds of what the API sends: a number, or a time as ISO 8601 says it. */
export function instant(value: number | string | Date): number {
  if (typeof value === "number") return value;
  return value instanceof Date ? value.getTime() : Date.parse(value);
}
