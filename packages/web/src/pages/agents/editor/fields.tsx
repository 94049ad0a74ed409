import type { ReactNode } from "react";
import { Button, type ButtonProps, IconButton, type IconButtonProps } from "../../../ui/button.tsx";
import { Field, type FieldProps } from "../../../ui/field.tsx";
import { WarningIcon } from "../../../ui/icons.tsx";
import { NumberField, type NumberFieldProps } from "../../../ui/number-field.tsx";
import { Switch } from "../../../ui/switch.tsx";
import type { FieldName } from "../draft/defaults.ts";
import { isFlag, isNumber, useEditor, useValue } from "./context.ts";

/** A field of the definition: knows its name, and what is wrong with it. */
export function Row({ name, ...props }: Omit<FieldProps, "name" | "problem"> & { name: FieldName }) {
  const { issues } = useEditor();
  return <Field {...props} name={name} problem={issues.words(name)} />;
}

/**
 * A field whose control names itself. Choices that all stand in sight are radios, each with its own name, which the label of
 * a Field would take from them.
 */
export function ChoiceRow({
  name,
  label,
  hint,
  children,
}: {
  /** Its path in the definition; without one its problems are told elsewhere. */
  name?: FieldName;
  label: string;
  hint?: ReactNode;
  children: ReactNode;
}) {
  const { issues } = useEditor();
  const problem = name && issues.words(name);
  return (
    <div data-field={name} className="flex min-w-0 flex-col gap-1">
      <p aria-hidden="true" className="font-medium">
        {label}
      </p>
      {children}
      {hint && <p className="measure text-xs text-muted">{hint}</p>}
      {problem && (
        <p className="measure flex items-start gap-1 text-xs text-red">
          <WarningIcon width={12} height={12} className="mt-0.5" />
          <span className="min-w-0 break-words">{problem}</span>
        </p>
      )}
    </div>
  );
}

/** On or off, with what it means below. */
export function FlagRow({
  name,
  label,
  hint,
  aside,
}: {
  name: FieldName;
  label: ReactNode;
  hint?: ReactNode;
  aside?: ReactNode;
}) {
  const { set } = useEditor();
  const on = useValue(name, isFlag) ?? false;
  return (
    <Row
      name={name}
      inline
      hint={hint}
      label={
        <>
          {label}
          {aside && <span className="ml-2 text-xs font-normal text-faint">{aside}</span>}
        </>
      }
    >
      <Switch checked={on} onChange={(next) => set(name, next)} />
    </Row>
  );
}

/** A number; one that may be null is null while it is empty. */
export function NumberRow({
  name,
  label,
  hint,
  aside,
  nullable = false,
  ...rest
}: {
  name: FieldName;
  label: ReactNode;
  hint?: ReactNode;
  aside?: ReactNode;
  nullable?: boolean;
} & Pick<NumberFieldProps, "min" | "max" | "step" | "unit" | "placeholder" | "format">) {
  const { set } = useEditor();
  const value = useValue(name, isNumber);
  return (
    <Row name={name} label={label} hint={hint} aside={aside}>
      <NumberField
        {...rest}
        value={value}
        onChange={(next) => set(name, next ?? (nullable ? null : undefined))}
      />
    </Row>
  );
}

/** Two fields beside each other where there is room. */
export function Beside({ children }: { children: ReactNode }) {
  return <div className="grid gap-4 sm:grid-cols-2">{children}</div>;
}

/** Buttons that change the definition: who may not edit it has no use for them. */
export function EditButton(props: ButtonProps) {
  const { readOnly } = useEditor();
  return readOnly ? null : <Button {...props} />;
}

export function EditIconButton(props: IconButtonProps) {
  const { readOnly } = useEditor();
  return <IconButton {...props} disabled={readOnly || props.disabled} />;
}
