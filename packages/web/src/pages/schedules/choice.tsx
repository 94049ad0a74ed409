import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { useId } from "react";

export interface Choices<V extends string> {
  readonly value: V;
  readonly label: string;
  /** What choosing it means. */
  readonly about: string;
}

/** One of a few, each with what it means. */
export function Choice<V extends string>(props: {
  label: string;
  value: V;
  options: readonly Choices<NoInfer<V>>[];
  disabled: boolean;
  onChange(value: NoInfer<V>): void;
}) {
  const { label, value, options, disabled, onChange } = props;
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span id={id} className="font-medium">
        {label}
      </span>
      <RadioGroup
        aria-labelledby={id}
        value={value}
        disabled={disabled}
        // Only values of these options can be chosen.
        onValueChange={(next) => onChange(next as V)}
        className="flex flex-col gap-1"
      >
        {options.map((option) => (
          // biome-ignore lint/a11y/noLabelWithoutControl: the radio inside is its control
          <label key={option.value} className="flex cursor-pointer items-start gap-2 py-0.5">
            <Radio.Root
              value={option.value}
              className="mt-0.5 grid size-4 shrink-0 place-items-center rounded-full border border-control bg-canvas data-checked:border-accent-fill data-checked:bg-accent-fill data-disabled:opacity-60"
            >
              <Radio.Indicator className="size-1.5 rounded-full bg-on-accent" />
            </Radio.Root>
            <span className="min-w-0">
              <span className="block">{option.label}</span>
              <span className="measure block text-xs text-muted">{option.about}</span>
            </span>
          </label>
        ))}
      </RadioGroup>
    </div>
  );
}
