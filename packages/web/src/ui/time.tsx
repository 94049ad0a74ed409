import { formatCountdown, formatDuration } from "../format/duration.ts";
import { exactTime, instant, relativeTime } from "../format/time.ts";
import { cx } from "./class-names.ts";
import { useClock } from "./clock.ts";

/** Time is told twice: relative here, exact with its zone on hover. */
export function Time({ at, className }: { at: number | string | Date; className?: string }) {
  const ms = instant(at);
  const words = useClock((now) => (Number.isFinite(ms) ? relativeTime(ms, now) : "unknown"));
  if (!Number.isFinite(ms)) return <span className={className}>unknown</span>;
  return (
    // The widest usual wording sets the width, so that a row does not shift when the words change.
    <time
      dateTime={new Date(ms).toISOString()}
      title={exactTime(ms)}
      className={cx("inline-block min-w-[9.5ch] whitespace-nowrap tabular-nums", className)}
    >
      {words}
    </time>
  );
}

/** A stretch of time with units. Without `ms` it still runs, from `since` on. */
export function Duration(props: { ms: number } | { since: number | string | Date }) {
  const since = "since" in props ? instant(props.since) : undefined;
  const text = useClock((now) =>
    since === undefined
      ? formatDuration("ms" in props ? props.ms : 0)
      : formatDuration(Math.max(0, Math.floor((now - since) / 1000) * 1000)),
  );
  const title = since === undefined ? undefined : `since ${exactTime(since)}`;
  return (
    <span title={title} className="whitespace-nowrap tabular-nums">
      {text}
    </span>
  );
}

/** What is left until a deadline. It turns amber in the last minute, and says so in words once it is over. */
export function Countdown({ until, over = "expired" }: { until: number | string | Date; over?: string }) {
  const deadline = instant(until);
  const seconds = useClock((now) => Math.max(0, Math.ceil((deadline - now) / 1000)));
  return (
    <time
      dateTime={Number.isFinite(deadline) ? new Date(deadline).toISOString() : undefined}
      title={Number.isFinite(deadline) ? `until ${exactTime(deadline)}` : undefined}
      role="timer"
      aria-live="off"
      className={cx(
        "inline-block min-w-[6ch] text-right whitespace-nowrap tabular-nums",
        seconds <= 60 && "font-medium text-amber",
      )}
    >
      {seconds === 0 ? over : formatCountdown(seconds * 1000)}
    </time>
  );
}
