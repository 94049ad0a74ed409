const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** A sound cron pattern in words, as far as it is a usual one; undefined where its fields say it better. */
export function patternWords(pattern: string): string | undefined {
  const fields = pattern.trim().toUpperCase().split(/\s+/);
  const [second = "0", minute = "", hour = "", day = "", month = "", weekday = ""] =
    fields.length === 5 ? ["0", ...fields] : fields;
  const when = timeWords(second, minute, hour);
  const which = dayWords(day, month, weekday, /^\d/.test(hour));
  return when === undefined || which === undefined ? undefined : `${when}${which}`;
}

function timeWords(second: string, minute: string, hour: string): string | undefined {
  if (hour === "*" && minute === "*")
    return everyWords(second, "second") ?? (second === "0" ? "every minute" : undefined);
  if (second !== "0") return undefined;
  if (hour === "*")
    return everyWords(minute, "minute") ?? (isNumber(minute) ? `every hour at ${minute} past` : undefined);
  if (!isNumber(minute)) return undefined;
  const step = /^\*\/(\d+)$/.exec(hour)?.[1];
  if (step !== undefined) return `every ${step} hours at ${minute} past`;
  const hours = hour.split(",");
  if (!hours.every(isNumber)) return undefined;
  return `at ${listed(hours.map((one) => `${one.padStart(2, "0")}:${minute.padStart(2, "0")}`))}`;
}

function everyWords(field: string, unit: string): string | undefined {
  if (field === "*") return `every ${unit}`;
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? undefined : `every ${step} ${unit}s`;
}

function dayWords(day: string, month: string, weekday: string, isAtTime: boolean): string | undefined {
  const inMonths = month === "*" ? "" : monthWords(month);
  if (inMonths === undefined) return undefined;
  if (day === "*" && weekday === "*") {
    if (inMonths !== "") return `, every day in ${inMonths}`;
    return isAtTime ? " every day" : "";
  }
  if (day === "*") {
    const days = weekdayWords(weekday);
    return days && `${days}${inMonths === "" ? "" : ` in ${inMonths}`}`;
  }
  if (weekday !== "*") return undefined;
  const of = inMonths === "" ? "every month" : inMonths;
  if (day === "L") return ` on the last day of ${of}`;
  const days = day.split(",");
  return days.every(isNumber) ? ` on day ${listed(days)} of ${of}` : undefined;
}

function weekdayWords(field: string): string | undefined {
  if (field === "1-5" || field === "MON-FRI") return " on weekdays";
  const [from, to, ...more] = field.split("-").map((one) => named(one, DAYS, 0));
  if (from !== undefined && to !== undefined && more.length === 0) return ` from ${from} to ${to}`;
  const days = field.split(",").map((one) => named(one, DAYS, 0));
  return days.every((one) => one !== undefined) ? ` on ${listed(days)}` : undefined;
}

function monthWords(field: string): string | undefined {
  const months = field.split(",").map((one) => named(one, MONTHS, 1));
  return months.every((one) => one !== undefined) ? listed(months) : undefined;
}

/** By number, counted from `first`, or by the first three letters. */
function named(text: string, names: readonly string[], first: number): string | undefined {
  if (isNumber(text)) return names[Number(text) - first];
  return names.find((name) => name.slice(0, 3).toUpperCase() === text);
}

function isNumber(text: string): boolean {
  return /^\d{1,2}$/.test(text);
}

function listed(words: readonly (string | undefined)[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
