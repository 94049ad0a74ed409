import { useState } from "react";
import { NumberField } from "../../../ui/number-field.tsx";
import { Select } from "../../../ui/select.tsx";

const UNITS = { milliseconds: 0.001, seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof UNITS;
const NAMES = Object.keys(UNITS) as Unit[]; // the keys of UNITS

/** The largest unit that says it in whole numbers. */
function unitFor(seconds: number): Unit {
  const fitting = NAMES.filter((unit) => Number.isInteger(Number((seconds / UNITS[unit]).toFixed(6))));
  return seconds === 0 ? "seconds" : (fitting.at(-1) ?? "seconds");
}

/** A stretch of time with its unit; the value is in seconds. */
export function DurationInput({
  seconds,
  onChange,
  disabled = false,
  label,
  placeholder,
}: {
  seconds: number | undefined;
  onChange(seconds: number | undefined): void;
  disabled?: boolean;
  label: string;
  placeholder?: string;
}) {
  const [chosen, setChosen] = useState<Unit>(seconds === undefined ? "seconds" : unitFor(seconds));
  // Another value than the unit can say: it came from elsewhere.
  const unit =
    seconds !== undefined && seconds > 0 && seconds < UNITS[chosen] && chosen !== "milliseconds"
      ? unitFor(seconds)
      : chosen;
  return (
    <div className="flex min-w-0 gap-2">
      <NumberField
        className="w-32"
        aria-label={label}
        min={0}
        disabled={disabled}
        value={seconds === undefined ? undefined : Number((seconds / UNITS[unit]).toFixed(6))}
        onChange={(next) =>
          onChange(next === undefined ? undefined : Number((next * UNITS[unit]).toFixed(3)))
        }
        {...(placeholder !== undefined && { placeholder })}
      />
      <Select
        aria-label={`Unit of ${label.toLowerCase()}`}
        className="w-36!"
        disabled={disabled}
        value={unit}
        onChange={(next) => {
          setChosen(next);
          // The number stays and its unit changes, as it reads.
          if (seconds !== undefined) onChange(Number(((seconds / UNITS[unit]) * UNITS[next]).toFixed(3)));
        }}
        options={NAMES.map((value) => ({ value, label: value }))}
      />
    </div>
  );
}
