import { Select as Base } from "@base-ui/react/select";
import type { ReactNode } from "react";
import { cx } from "./class-names.ts";
import { CheckIcon, ChevronUpDownIcon } from "./icons.tsx";

export interface Option<V extends string = string> {
  value: V;
  label: string;
  /** A second line: what choosing it means. */
  hint?: ReactNode;
  disabled?: boolean;
}

export interface SelectProps<V extends string> {
  value: V | undefined;
  onChange(value: NoInfer<V>): void;
  options: readonly Option<NoInfer<V>>[];
  placeholder?: string;
  disabled?: boolean;
  "aria-label"?: string;
  className?: string;
}

/** One of a few. For many, or to search in, there is Combobox. */
export function Select<V extends string>(props: SelectProps<V>) {
  const { value, onChange, options, placeholder = "Choose", disabled, className } = props;
  return (
    <Base.Root
      items={options as readonly { label: ReactNode; value: V }[]}
      value={value ?? null}
      onValueChange={(next) => next !== null && onChange(next)}
      disabled={disabled ?? false}
    >
      <Base.Trigger
        aria-label={props["aria-label"]}
        className={cx("control inline-flex w-full items-center justify-between gap-2 text-left", className)}
      >
        <Base.Value placeholder={placeholder} className="min-w-0 truncate data-placeholder:text-faint" />
        <Base.Icon>
          <ChevronUpDownIcon className="text-muted" />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50 outline-none">
          <Base.Popup className="popup max-h-[min(24rem,var(--available-height))] min-w-(--anchor-width) overflow-y-auto p-1">
            <Base.List>
              {options.map((option) => (
                <Base.Item
                  key={option.value}
                  value={option.value}
                  disabled={option.disabled ?? false}
                  className="option"
                >
                  <span className="size-4 shrink-0">
                    <Base.ItemIndicator>
                      <CheckIcon />
                    </Base.ItemIndicator>
                  </span>
                  <span className="min-w-0">
                    <Base.ItemText className="block">{option.label}</Base.ItemText>
                    {option.hint && <span className="block text-xs text-muted">{option.hint}</span>}
                  </span>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
