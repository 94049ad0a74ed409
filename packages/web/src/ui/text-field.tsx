import { Field } from "@base-ui/react/field";
import type { ComponentProps, Ref } from "react";
import { cx } from "./class-names.ts";
import { SearchIcon } from "./icons.tsx";
import { KeyHint } from "./key-hint.tsx";

type InputProps = Omit<ComponentProps<"input">, "value" | "onChange" | "defaultValue" | "className" | "ref">;

export interface TextFieldProps extends InputProps {
  value: string;
  onChange(value: string): void;
  /** For ids, arguments and code. */
  mono?: boolean;
  className?: string;
  ref?: Ref<HTMLElement>;
}

export function TextField({ value, onChange, mono, className, ref, ...rest }: TextFieldProps) {
  return (
    <Field.Control
      {...rest}
      {...(ref && { ref })}
      value={value}
      onValueChange={onChange}
      className={cx("control w-full", mono && "font-mono text-sm coarse:text-lg", className)}
    />
  );
}

export interface TextAreaProps
  extends Omit<ComponentProps<"textarea">, "value" | "onChange" | "defaultValue" | "className" | "ref"> {
  value: string;
  onChange(value: string): void;
  mono?: boolean;
  className?: string;
  ref?: Ref<HTMLTextAreaElement>;
}

/**
 * Grows with its text up to half the window, then scrolls in place. A copy of the text behind it gives it its height:
 * nothing is measured, so nothing jumps.
 */
export function TextArea({ value, onChange, mono, className, rows = 2, ref, ...rest }: TextAreaProps) {
  const text = cx(
    "col-start-1 row-start-1 whitespace-pre-wrap break-words",
    mono && "font-mono text-sm coarse:text-lg",
  );
  return (
    <div className={cx("grid w-full", className)}>
      <div aria-hidden="true" className={cx("control invisible max-h-[50vh] overflow-hidden py-1.5", text)}>
        {`${value || rest.placeholder || ""}\n`.padEnd(rows, "\n")}
      </div>
      <Field.Control
        render={<textarea {...rest} {...(ref && { ref })} rows={rows} />}
        value={value}
        onValueChange={onChange}
        className={cx("control size-full max-h-[50vh] resize-none overflow-auto py-1.5", text)}
      />
    </div>
  );
}

export interface SearchFieldProps extends InputProps {
  value: string;
  onChange(value: string): void;
  /** What is searched: "Search runs". */
  label: string;
  className?: string;
}

/** The one field of a page that `/` focuses. Esc empties it, then leaves it. */
export function SearchField({ value, onChange, label, className, ...rest }: SearchFieldProps) {
  return (
    <div className={cx("relative h-fit w-full max-w-80", className)}>
      <SearchIcon className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-faint" />
      <input
        placeholder={label}
        {...rest}
        type="search"
        data-search=""
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          if (value) onChange("");
          else event.currentTarget.blur();
        }}
        className="control peer w-full pr-7 pl-7 [&::-webkit-search-cancel-button]:hidden"
      />
      <span className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 peer-focus:hidden coarse:hidden">
        {!value && <KeyHint keys="/" />}
      </span>
    </div>
  );
}
