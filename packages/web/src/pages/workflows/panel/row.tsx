import type { ReactNode } from "react";
import type { Path } from "../../../forms/path.ts";
import { Field, type FieldProps } from "../../../ui/field.tsx";
import { WarningIcon } from "../../../ui/icons.tsx";
import { useAt } from "../editor/context.ts";

/** A field of the definition: knows its place, and what is wrong with it. */
export function Row({ path, ...props }: Omit<FieldProps, "name" | "problem" | "disabled"> & { path: Path }) {
  const { name, problem, readOnly } = useAt(path);
  return <Field {...props} name={name} problem={problem} disabled={readOnly} />;
}

/** A part that has fields, or names its control by itself: a heading, what is wrong with the whole of it, what is in it. */
export function Part({
  path,
  label,
  hint,
  aside,
  problem,
  children,
}: {
  path?: Path;
  label: string;
  hint?: ReactNode;
  aside?: ReactNode;
  /** In place of everything at the path and below, where the fields inside tell theirs. */
  problem?: string | undefined;
  children: ReactNode;
}) {
  return (
    <fieldset
      // The button beside the heading is no part of its name.
      aria-label={label}
      data-field={path === undefined ? undefined : nameOf(path)}
      className="flex min-w-0 flex-col gap-2"
    >
      <legend className="mb-1 flex w-full items-center justify-between gap-2 font-medium">
        {label}
        {aside && <span className="text-xs font-normal text-faint">{aside}</span>}
      </legend>
      {hint && <p className="-mt-1 text-xs text-muted">{hint}</p>}
      {children}
      {problem && <Wrong>{problem}</Wrong>}
    </fieldset>
  );
}

const nameOf = (path: Path) =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`))
    .join("")
    .replace(/^\./, "");

export function Wrong({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-start gap-1 text-xs text-red">
      <WarningIcon width={12} height={12} className="mt-0.5 shrink-0" />
      <span className="min-w-0 break-words">{children}</span>
    </p>
  );
}

/** Things that belong together, under the thing they belong to. */
export function Inset({ children }: { children: ReactNode }) {
  return <div className="flex min-w-0 flex-col gap-3 border-l-2 border-line pl-3">{children}</div>;
}
