import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from "react";
import { cx } from "../../../ui/class-names.ts";
import { TextArea, TextField } from "../../../ui/text-field.tsx";
import { type Completion, completed, matching, openTemplateAt } from "../draft/completions.ts";
import { useCompletions } from "../editor/context.ts";

const SHOWN = 50;

/**
 * A text with `{{ paths }}` in it. Inside the braces it offers what can stand there; arrows choose, Enter or Tab takes it,
 * Esc closes the list and leaves the text alone.
 */
export function TemplateInput({
  value,
  onChange,
  multiline = false,
  disabled,
  placeholder,
  ...rest
}: {
  value: string;
  onChange(value: string): void;
  multiline?: boolean;
  disabled?: boolean;
  placeholder?: string;
  "aria-label"?: string;
}) {
  const all = useCompletions();
  const list = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [caret, setCaret] = useState<number>();
  const [at, setAt] = useState(0);
  const wanted = useRef<number>(undefined);
  const open = caret === undefined || disabled ? undefined : openTemplateAt(value, caret);
  const fitting = open === undefined ? [] : matching(all, open.typed).slice(0, SHOWN);
  const shown = open !== undefined && fitting.length > 0 && fitting[0]?.path !== open.typed;
  const current = Math.min(at, fitting.length - 1);

  const input = () =>
    frame.current?.querySelector<HTMLInputElement | HTMLTextAreaElement>(
      "input, textarea:not([aria-hidden=true])",
    );
  useLayoutEffect(() => {
    const place = wanted.current;
    if (place === undefined) return;
    wanted.current = undefined;
    input()?.setSelectionRange(place, place);
  });

  const look = () => {
    const place = input()?.selectionStart ?? undefined;
    setCaret(place ?? undefined);
  };
  const take = (choice: Completion) => {
    if (open === undefined) return;
    const next = completed(value, open, choice.path);
    wanted.current = next.caret;
    setCaret(undefined);
    onChange(next.text);
  };
  const insert = () => {
    const place = input()?.selectionStart ?? value.length;
    const next = `${value.slice(0, place)}{{ ${value.slice(place)}`;
    wanted.current = place + 3;
    onChange(next);
    input()?.focus();
    setAt(0);
    setCaret(place + 3);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!shown) return;
    const choice = fitting[current];
    if (event.key === "ArrowDown") setAt((current + 1) % fitting.length);
    else if (event.key === "ArrowUp") setAt((current + fitting.length - 1) % fitting.length);
    else if (event.key === "Escape") setCaret(undefined);
    else if ((event.key === "Enter" || event.key === "Tab") && choice !== undefined) take(choice);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const common = {
    value,
    mono: true,
    spellCheck: false,
    autoComplete: "off",
    disabled: disabled ?? false,
    "aria-autocomplete": "list" as const,
    "aria-expanded": undefined,
    ...(shown && { "aria-controls": list, "aria-activedescendant": `${list}-${current}` }),
    ...(placeholder !== undefined && { placeholder }),
    ...rest,
    onChange: (next: string) => {
      onChange(next);
      setAt(0);
      setCaret(input()?.selectionStart ?? undefined);
    },
    onKeyDown,
    onClick: look,
    onBlur: () => setCaret(undefined),
  };
  return (
    <div ref={frame} className="relative min-w-0 flex-1">
      {multiline ? (
        <TextArea {...common} rows={4} className="[&>*]:pr-8" />
      ) : (
        <TextField {...common} className="pr-8" />
      )}
      {!disabled && (
        <button
          type="button"
          tabIndex={-1}
          title="Insert what another node or the input gives"
          aria-label="Insert a reference"
          onMouseDown={(event) => event.preventDefault()}
          onClick={insert}
          className="absolute top-1 right-1 rounded-sm px-1 font-mono text-xs leading-6 text-muted hover:bg-sunken hover:text-ink"
        >
          {"{}"}
        </button>
      )}
      {shown && (
        <div
          id={list}
          role="listbox"
          aria-label="What can stand here"
          className="popup absolute inset-x-0 top-full z-30 mt-1 max-h-56 overflow-y-auto p-1"
        >
          {fitting.map((choice, i) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text, which names the active one
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled where the focus is
            <div
              key={choice.path}
              id={`${list}-${i}`}
              role="option"
              aria-selected={i === current}
              ref={i === current ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
              data-highlighted={i === current ? "" : undefined}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(choice)}
              className={cx("option justify-between", i === current && "bg-sunken")}
            >
              <span className="min-w-0">
                <span className="block truncate font-mono text-sm">{choice.path}</span>
                {choice.about && <span className="block truncate text-xs text-muted">{choice.about}</span>}
              </span>
              <span className="shrink-0 text-xs text-faint">{choice.type}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
