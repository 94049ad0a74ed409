import { Slider as Base } from "@base-ui/react/slider";

export interface SliderProps {
  value: number;
  onChange(value: number): void;
  min: number;
  max: number;
  step?: number;
  /** How the number is said: "4 h", "12,000 tokens". */
  format?(value: number): string;
  disabled?: boolean;
  /** Only where no Field gives it a label. */
  "aria-label"?: string;
}

export function Slider({
  value,
  onChange,
  min,
  max,
  step = 1,
  format = String,
  disabled,
  ...rest
}: SliderProps) {
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => onChange(next)}
      min={min}
      max={max}
      step={step}
      disabled={disabled ?? false}
      className="flex items-center gap-3"
    >
      <Base.Control className="flex h-8 min-w-32 flex-1 touch-none items-center select-none coarse:h-10">
        <Base.Track className="h-1 w-full rounded-full bg-control/40">
          <Base.Indicator className="rounded-full bg-accent-fill" />
          <Base.Thumb
            aria-label={rest["aria-label"]}
            getAriaValueText={(_formatted, at) => format(at)}
            className="size-4 rounded-full border-2 border-accent-fill bg-canvas has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-offset-2 has-[:focus-visible]:outline-accent data-disabled:border-control coarse:size-6"
          />
        </Base.Track>
      </Base.Control>
      {/* As wide as the widest of both ends, so the track keeps its length while dragging. */}
      <span className="grid text-right tabular-nums">
        <span className="col-start-1 row-start-1">{format(value)}</span>
        <span aria-hidden="true" className="invisible col-start-1 row-start-1 h-0">
          {format(max).length >= format(min).length ? format(max) : format(min)}
        </span>
      </span>
    </Base.Root>
  );
}
