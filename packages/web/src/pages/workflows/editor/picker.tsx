import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { cx } from "../../../ui/class-names.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import type { Icon } from "../../../ui/icons.tsx";

export interface PickerItem {
  readonly value: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly icon?: Icon;
  /** Why it cannot be chosen. */
  readonly refused?: string | undefined;
  /** Found by these as well. */
  readonly also?: string;
}

/** Type, arrows, Enter: one of a list, without a mouse. */
export function Picker({
  open,
  title,
  description,
  placeholder,
  items,
  above,
  onPick,
  onClose,
}: {
  open: boolean;
  title: string;
  description?: string;
  placeholder: string;
  items: readonly PickerItem[];
  /** Between the field and the list: what else is to be chosen. */
  above?: ReactNode;
  onPick(value: string): void;
  onClose(): void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={title} {...(description && { description })}>
      {open && <Choices {...{ placeholder, items, above, onPick, title }} />}
    </Dialog>
  );
}

function Choices({
  placeholder,
  items,
  above,
  onPick,
  title,
}: {
  placeholder: string;
  items: readonly PickerItem[];
  above?: ReactNode;
  onPick(value: string): void;
  title: string;
}) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const wanted = typed.trim().toLowerCase();
  const fitting = items.filter(({ label, value, also }) =>
    `${label} ${value} ${also ?? ""}`.toLowerCase().includes(wanted),
  );
  const current = Math.min(at, Math.max(0, fitting.length - 1));
  const pick = (item: PickerItem | undefined) => {
    if (item !== undefined && item.refused === undefined) onPick(item.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt((current + 1) % Math.max(1, fitting.length));
    else if (event.key === "ArrowUp") setAt((current + fitting.length - 1) % Math.max(1, fitting.length));
    else if (event.key === "Enter") pick(fitting[current]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={fitting.length > 0 ? `${list}-${current}` : undefined}
        aria-label={placeholder}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
      {above && <div className="mt-2">{above}</div>}
      <div
        id={list}
        role="listbox"
        aria-label={title}
        tabIndex={0}
        className="mt-2 max-h-[50dvh] overflow-y-auto pb-2"
      >
        {fitting.map((item, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled where the focus is
          <div
            key={item.value}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === current}
            aria-disabled={item.refused !== undefined}
            data-highlighted={i === current ? "" : undefined}
            data-disabled={item.refused === undefined ? undefined : ""}
            ref={i === current ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
            onClick={() => pick(item)}
            onMouseMove={() => i !== current && setAt(i)}
            className={cx("option", item.refused === undefined && "cursor-pointer")}
          >
            {item.icon && <item.icon className="shrink-0 text-muted" />}
            <span className="min-w-0">
              <span className="block truncate">{item.label}</span>
              {(item.refused ?? item.hint) && (
                <span className="block text-xs text-muted">{item.refused ?? item.hint}</span>
              )}
            </span>
          </div>
        ))}
        {fitting.length === 0 && <p className="p-2 text-muted">Nothing matches.</p>}
      </div>
    </>
  );
}
