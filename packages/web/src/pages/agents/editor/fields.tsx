import type { ReactNode } from "react";
import { Field, type FieldProps } from "../../../ui/field.tsx";
import { NumberField, type NumberFieldProps } from "../../../ui/number-field.tsx";
import { Switch } from "../../../ui/switch.tsx";
import type { FieldName } from "../draft/defaults.ts";
import { isFlag, isNumber, useEditor, useValue } from "./context.ts";

/** A field of the definition: knows its name, and what is wrong with it. */
export function Row({ name, ...props }: Omit<FieldProps, "name" | "problem"> & { name: FieldName }) {
  const { issues } = useEditor();
  return <Field {...props} name={name} problem={issues.words(name)} />;
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
