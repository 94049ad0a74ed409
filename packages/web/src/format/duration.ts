const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "840 ms", "4.2 s", "3 min 07 s", "2 h 05 min", "4 d 3 h": two units at most, never without one. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 1) return ms === 0 ? "0 ms" : "<1 ms";
  if (ms < SECOND) return `${Math.floor(ms)} ms`;
  // Rounded down, so that no 60.0 s comes before the first minute.
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${pad(Math.floor((ms % MINUTE) / SECOND))} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${pad(Math.floor((ms % HOUR) / MINUTE))} min`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

/** "4:59", "1:02:03", "2 d 04:05:06": a clock that runs, in whole seconds and of constant shape. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = pad(seconds % 60);
  if (days > 0) return `${days} d ${pad(hours)}:${pad(minutes)}:${rest}`;
  if (hours > 0) return `${hours}:${pad(minutes)}:${rest}`;
  return `${minutes}:${rest}`;
}

const pad = (value: number) => String(value).padStart(2, "0");
