import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { cx } from "./class-names.ts";
import type { Option } from "./select.tsx";

export interface SegmentedControlProps<V extends string> {
  value: V;
  onChange(value: NoInfer<V>): void;
  options: readonly Option<NoInfer<V>>[];
  disabled?: boolean;
  "aria-label"?: string;
  className?: string;
}

/** One of two to five, all in sight. The arrow keys move between them. */
export function SegmentedControl<V extends string>(props: SegmentedControlProps<V>) {
  const { value, onChange, options, disabled, className } = props;
  return (
    <RadioGroup
      value={value}
      // Only values of these options can be chosen.
      onValueChange={(next) => onChange(next as V)}
      disabled={disabled ?? false}
      aria-label={props["aria-label"]}
      className={cx("inline-flex w-fit rounded-md bg-sunken p-0.5", className)}
    >
      {options.map((option) => (
        <Radio.Root
          key={option.value}
          value={option.value}
          disabled={option.disabled ?? false}
          title={typeof option.hint === "string" ? option.hint : undefined}
          className="inline-flex h-6.5 cursor-pointer items-center rounded-sm px-2.5 text-sm text-muted select-none hover:text-ink data-checked:bg-raised data-checked:font-semibold data-checked:text-ink data-checked:shadow-[0_0_0_1px_var(--control)] data-disabled:cursor-not-allowed data-disabled:text-faint coarse:h-9"
        >
          {option.label}
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}
