/** A time as clocks in a zone show it, with how far that is from UTC: `Mon 16 Nov 2026, 07:00:00 GMT+1`. */
export function timeIn(timeZone: string, at: number): string {
  return new Date(at).toLocaleString("en-GB", {
    timeZone,
    weekday: "short",
    day: "2-digit",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "shortOffset",
  });
}
