import { useState } from "react";
import { Field } from "../../../ui/field.tsx";
import { TextField } from "../../../ui/text-field.tsx";

/** The name of one among several. While it is one that another has, it stands here only: nothing is put over the other. */
export function NameInput({
  label,
  name,
  isTaken,
  onChange,
  disabled,
  className,
}: {
  label: string;
  name: string;
  isTaken(name: string): boolean;
  onChange(name: string): void;
  disabled: boolean;
  className?: string;
}) {
  const [typed, setTyped] = useState<string>();
  return (
    <Field
      label={label}
      hideLabel
      disabled={disabled}
      problem={typed !== undefined && `${typed} is there already`}
      {...(className !== undefined && { className })}
    >
      <TextField
        mono
        spellCheck={false}
        autoComplete="off"
        value={typed ?? name}
        onChange={(next) => {
          setTyped(isTaken(next) ? next : undefined);
          if (!isTaken(next)) onChange(next);
        }}
        onBlur={() => setTyped(undefined)}
      />
    </Field>
  );
}
