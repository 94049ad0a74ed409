import { Meter as Base } from "@base-ui/react/meter";
import { formatShare } from "../format/number.ts";
import { cx } from "./class-names.ts";

export interface MeterProps {
  label: string;
  value: number;
  max: number;
  /** "12.4k of 200k tokens": what stands beside the bar. */
  text?: string;
  /** Shares (0 to 1) at which something happens, like a compaction: small marks on the bar. */
  marks?: readonly number[];
  /** Shares from which on the bar warns, and alarms. */
  warnAt?: number;
  alarmAt?: number;
  className?: string;
}

export function Meter({
  label,
  value,
  max,
  text,
  marks = [],
  warnAt = 0.8,
  alarmAt = 1,
  className,
}: MeterProps) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  const said = text ?? formatShare(share);
  return (
    <Base.Root
      value={Math.min(value, max)}
      max={max > 0 ? max : 1}
      getAriaValueText={() => said}
      className={cx("flex min-w-0 flex-col gap-1 text-xs", className)}
    >
      <div className="flex justify-between gap-2">
        <Base.Label className="text-muted">{label}</Base.Label>
        <span
          className={cx(
            "tabular-nums",
            share >= alarmAt ? "font-medium text-red" : share >= warnAt && "text-amber",
          )}
        >
          {said}
        </span>
      </div>
      <Base.Track className="relative h-1.5 rounded-full bg-sunken">
        <Base.Indicator
          className={cx(
            "rounded-full",
            share >= alarmAt ? "bg-red" : share >= warnAt ? "bg-amber" : "bg-accent-fill",
          )}
        />
        {marks.map((mark) => (
          <span
            key={mark}
            aria-hidden="true"
            className="absolute -inset-y-0.5 w-px bg-muted"
            style={{ left: `${mark * 100}%` }}
          />
        ))}
      </Base.Track>
    </Base.Root>
  );
}

/** Progress of something under way. Without a total it only says that it goes on. */
export function ProgressBar({ label, value, total }: { label: string; value?: number; total?: number }) {
  const share = value !== undefined && total ? Math.min(1, Math.max(0, value / total)) : undefined;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share === undefined ? undefined : Math.round(share * 100)}
      className="h-1.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      <div
        className={cx("h-full rounded-full bg-accent-fill", share === undefined && "skeleton w-full")}
        style={share === undefined ? undefined : { width: `${share * 100}%` }}
      />
    </div>
  );
}
