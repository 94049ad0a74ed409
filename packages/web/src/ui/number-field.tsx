import { NumberField as Base } from "@base-ui/react/number-field";
import { cx } from "./class-names.ts";
import { MinusIcon, PlusIcon } from "./icons.tsx";

export interface NumberFieldProps {
  /** Nothing while the field is empty. */
  value: number | undefined;
  onChange(value: number | undefined): void;
  min?: number;
  max?: number;
  step?: number;
  /** Stands after the number: "ms", "tokens". */
  unit?: string;
  placeholder?: string;
  disabled?: boolean;
  format?: Intl.NumberFormatOptions;
  "aria-label"?: string;
  className?: string;
}

export function NumberField(props: NumberFieldProps) {
  const { value, onChange, min, max, step, unit, placeholder, disabled, format, className } = props;
  const stepper =
    "grid w-7 place-items-center text-muted hover:text-ink data-disabled:text-faint coarse:w-10";
  return (
    <Base.Root
      value={value ?? null}
      onValueChange={(next) => onChange(next ?? undefined)}
      // Out of range is the form's to judge, beside the field, not ours to change in silence.
      allowOutOfRange
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      {...(step !== undefined && { step })}
      {...(disabled !== undefined && { disabled })}
      {...(format && { format })}
      locale="en-US"
      className={cx("w-44", className)}
    >
      <Base.Group className="control flex items-stretch overflow-hidden px-0">
        <Base.Decrement className={stepper} aria-label="Decrease">
          <MinusIcon width={12} height={12} />
        </Base.Decrement>
        <Base.Input
          placeholder={placeholder}
          aria-label={props["aria-label"]}
          className="min-w-0 flex-1 bg-transparent text-right tabular-nums outline-none placeholder:text-faint"
        />
        {unit && <span className="self-center pl-1 text-xs text-muted">{unit}</span>}
        <Base.Increment className={stepper} aria-label="Increase">
          <PlusIcon width={12} height={12} />
        </Base.Increment>
      </Base.Group>
    </Base.Root>
  );
}
