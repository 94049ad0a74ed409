import { Combobox as Base } from "@base-ui/react/combobox";
import { cx } from "./class-names.ts";
import { CheckIcon, ChevronUpDownIcon, CloseIcon } from "./icons.tsx";
import type { Option } from "./select.tsx";

export interface ComboboxProps {
  value: string | undefined;
  onChange(value: string | undefined): void;
  options: readonly Option[];
  placeholder?: string;
  /** Said where nothing matches. */
  empty?: string;
  disabled?: boolean;
  mono?: boolean;
  "aria-label"?: string;
  className?: string;
}

/** Esc closes the list. With the list closed Base UI takes it as "choose nothing", and one key would lose everything. */
export const ESCAPE = "escape-key";

const sameOption = (a: Option, b: Option) => a.value === b.value;

/** One of many, found by typing. A value that is no option any more is kept and shown as it is. */
export function Combobox(props: ComboboxProps) {
  const { value, onChange, options, placeholder, empty, disabled, mono, className } = props;
  const chosen =
    value === undefined ? null : (options.find((o) => o.value === value) ?? { value, label: value });
  return (
    <Base.Root<Option>
      items={options}
      value={chosen}
      onValueChange={(next, { reason }) => {
        if (reason !== ESCAPE) onChange(next?.value);
      }}
      isItemEqualToValue={sameOption}
      disabled={disabled ?? false}
    >
      <Base.InputGroup className={cx("control flex items-center gap-1 px-0", className)}>
        <Base.Input
          placeholder={placeholder}
          aria-label={props["aria-label"]}
          className={cx(
            "min-w-0 flex-1 bg-transparent px-2 outline-none placeholder:text-faint",
            mono && "font-mono text-sm",
          )}
        />
        {chosen && (
          <Base.Clear className="grid size-6 place-items-center text-muted hover:text-ink" aria-label="Clear">
            <CloseIcon width={12} height={12} />
          </Base.Clear>
        )}
        <Base.Trigger
          className="grid size-7 place-items-center text-muted hover:text-ink"
          aria-label="Open the list"
        >
          <ChevronUpDownIcon />
        </Base.Trigger>
      </Base.InputGroup>
      <Choices mono={mono} {...(empty !== undefined && { empty })} />
    </Base.Root>
  );
}

export interface MultiSelectProps extends Omit<ComboboxProps, "value" | "onChange"> {
  value: readonly string[];
  onChange(value: string[]): void;
  /** Values that are not allowed any more stay visible and are marked with this. */
  isOrphan?(value: string): boolean;
}

/** Several of many, as chips in the field. Backspace takes the last one away. */
export function MultiSelect(props: MultiSelectProps) {
  const { value, onChange, options, placeholder, empty, disabled, mono, isOrphan, className } = props;
  const byValue = new Map(options.map((option) => [option.value, option]));
  const chosen = value.map((one) => byValue.get(one) ?? { value: one, label: one });
  return (
    <Base.Root<Option, true>
      multiple
      items={options}
      value={chosen}
      onValueChange={(next, { reason }) => {
        if (reason !== ESCAPE) onChange(next.map((option) => option.value));
      }}
      isItemEqualToValue={sameOption}
      disabled={disabled ?? false}
    >
      <Base.Chips className={cx("control flex flex-wrap items-center gap-1 px-1 py-1", className)}>
        {chosen.map((option) => (
          <Base.Chip
            key={option.value}
            className={cx(
              "inline-flex h-6 items-center gap-1 rounded-sm pr-0.5 pl-2 text-sm data-highlighted:outline-2 data-highlighted:outline-accent",
              mono && "font-mono text-xs",
              isOrphan?.(option.value) ? "bg-red-soft text-red line-through" : "bg-sunken",
            )}
          >
            {option.label}
            <Base.ChipRemove
              className="grid size-5 place-items-center text-muted hover:text-ink"
              aria-label={`Remove ${option.label}`}
            >
              <CloseIcon width={10} height={10} />
            </Base.ChipRemove>
          </Base.Chip>
        ))}
        <Base.Input
          placeholder={chosen.length === 0 ? placeholder : undefined}
          aria-label={props["aria-label"]}
          className="h-6 min-w-24 flex-1 bg-transparent px-1 outline-none placeholder:text-faint"
        />
      </Base.Chips>
      <Choices mono={mono} {...(empty !== undefined && { empty })} />
    </Base.Root>
  );
}

function Choices({ mono, empty = "Nothing matches." }: { mono: boolean | undefined; empty?: string }) {
  return (
    <Base.Portal>
      <Base.Positioner sideOffset={4} className="z-50 outline-none">
        <Base.Popup className="popup max-h-[min(24rem,var(--available-height))] w-(--anchor-width) min-w-56 max-w-(--available-width) overflow-y-auto p-1">
          <Base.Empty className="not-empty:p-2 text-muted">{empty}</Base.Empty>
          <Base.List>
            {(option: Option) => (
              <Base.Item
                key={option.value}
                value={option}
                disabled={option.disabled ?? false}
                className="option"
              >
                <span className="size-4 shrink-0">
                  <Base.ItemIndicator>
                    <CheckIcon />
                  </Base.ItemIndicator>
                </span>
                <span className="min-w-0">
                  <span className={cx("block break-words", mono && "font-mono text-sm")}>{option.label}</span>
                  {option.hint && <span className="block text-xs text-muted">{option.hint}</span>}
                </span>
              </Base.Item>
            )}
          </Base.List>
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  );
}
