import { Switch as Base } from "@base-ui/react/switch";

export interface SwitchProps {
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  name?: string;
  /** Only where no Field gives it a label. */
  "aria-label"?: string;
}

/** On and off by place and by mark, not by colour alone. */
export function Switch({ checked, onChange, ...rest }: SwitchProps) {
  return (
    <Base.Root
      {...rest}
      checked={checked}
      onCheckedChange={onChange}
      className="group inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-control bg-sunken px-0.5 data-checked:border-transparent data-checked:bg-accent-fill data-disabled:cursor-not-allowed data-disabled:opacity-60"
    >
      <Base.Thumb className="grid size-3.5 place-items-center rounded-full bg-muted transition-transform data-checked:translate-x-4 data-checked:bg-on-accent">
        <svg
          width="8"
          height="8"
          viewBox="0 0 8 8"
          aria-hidden="true"
          className="hidden text-accent-fill group-data-checked:block"
        >
          <path d="m1.5 4.25 1.75 1.75L6.5 2" fill="none" stroke="currentColor" strokeWidth="1.5" />
        </svg>
      </Base.Thumb>
    </Base.Root>
  );
}
