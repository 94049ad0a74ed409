import { useState } from "react";
import type { JsonObject } from "trackside/schema";
import type { Path } from "../../../forms/path.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { PlusIcon, TrashIcon } from "../../../ui/icons.tsx";
import { Select } from "../../../ui/select.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { FIELD_TYPES, type FieldType, fieldsOf, type SimpleField, schemaOf } from "../draft/simple-schema.ts";
import { useAt } from "../editor/context.ts";
import { isObjectOr, JsonInput } from "./json-input.tsx";
import { NameInput } from "./name-input.tsx";
import { Part, Row } from "./row.tsx";

const TYPE_WORDS: Readonly<Record<FieldType, string>> = {
  text: "Text",
  number: "Number",
  whole: "Whole number",
  flag: "Yes or no",
  choice: "Choice",
  texts: "List of texts",
  anything: "Anything",
};

/** A JSON Schema of an object, by rows while that is enough and as JSON otherwise. */
export function SchemaInput({
  path,
  label,
  hint,
  none,
}: {
  path: Path;
  label: string;
  hint: string;
  /** What no schema means: "Any object is taken." */
  none: string;
}) {
  const { value, set, readOnly, problem } = useAt(path);
  const schema = (value ?? null) as JsonObject | null; // the check tells if it is anything else
  const rows = fieldsOf(schema);
  const [asJson, setAsJson] = useState(rows === undefined);
  const json = asJson || rows === undefined;
  const put = (next: readonly SimpleField[]) => set(schemaOf(next));
  return (
    <Part
      path={path}
      label={label}
      hint={hint}
      problem={json ? undefined : problem}
      aside={
        !readOnly && (
          <button
            type="button"
            className="underline hover:text-ink disabled:no-underline"
            disabled={rows === undefined}
            title={rows === undefined ? "It says more than rows can show" : undefined}
            onClick={() => setAsJson(!asJson)}
          >
            {json ? "As rows" : "As JSON Schema"}
            <span className="sr-only">: {label}</span>
          </button>
        )
      }
    >
      {json ? (
        <Row path={path} label={`${label} as JSON Schema`} hideLabel>
          <JsonInput
            path={path}
            allows={isObjectOr}
            empty={null}
            rows={8}
            placeholder='{ "type": "object" }'
          />
        </Row>
      ) : (
        <>
          {rows.length === 0 && <p className="text-sm text-muted">{none}</p>}
          {rows.map((row, at) => (
            <FieldRow
              // biome-ignore lint/suspicious/noArrayIndexKey: the name changes while it is typed
              key={at}
              row={row}
              isTaken={(name) => rows.some((other, i) => i !== at && other.name === name)}
              readOnly={readOnly}
              onChange={(next) => put(rows.with(at, next))}
              onRemove={() => put(rows.toSpliced(at, 1))}
            />
          ))}
          {!readOnly && (
            <Button
              size="small"
              kind="quiet"
              icon={PlusIcon}
              className="w-fit"
              onClick={() =>
                put([
                  ...rows,
                  { name: freeName(rows), type: "text", required: true, description: "", choices: [] },
                ])
              }
            >
              Add a field
            </Button>
          )}
        </>
      )}
    </Part>
  );
}

function freeName(rows: readonly SimpleField[]): string {
  for (let at = rows.length + 1; ; at += 1)
    if (!rows.some(({ name }) => name === `field_${at}`)) return `field_${at}`;
}

function FieldRow({
  row,
  isTaken,
  readOnly,
  onChange,
  onRemove,
}: {
  row: SimpleField;
  isTaken(name: string): boolean;
  readOnly: boolean;
  onChange(row: SimpleField): void;
  onRemove(): void;
}) {
  const { name, type, required, description, choices } = row;
  return (
    <div className="flex min-w-0 flex-col gap-1.5 rounded-md border border-line p-2">
      <div className="flex items-start gap-1.5">
        <NameInput
          label={`Name of field ${name}`}
          className="min-w-0 flex-1"
          name={name}
          isTaken={isTaken}
          disabled={readOnly}
          onChange={(next) => onChange({ ...row, name: next })}
        />
        <Select
          aria-label={`Type of ${name}`}
          className="w-32!"
          disabled={readOnly}
          value={type}
          onChange={(next) => onChange({ ...row, type: next })}
          options={FIELD_TYPES.map((value) => ({ value, label: TYPE_WORDS[value] }))}
        />
        {!readOnly && <IconButton icon={TrashIcon} label={`Remove ${name}`} onClick={onRemove} />}
      </div>
      {type === "choice" && (
        <Field label={`Choices of ${name}`} hideLabel disabled={readOnly}>
          <TextField
            value={choices.join(", ")}
            placeholder="one, another"
            onChange={(next) => onChange({ ...row, choices: next.split(",").map((one) => one.trimStart()) })}
          />
        </Field>
      )}
      <Field label={`About ${name}`} hideLabel disabled={readOnly}>
        <TextField
          placeholder="What it is, in a line"
          value={description}
          onChange={(next) => onChange({ ...row, description: next })}
        />
      </Field>
      <Field label="Required" inline disabled={readOnly}>
        <Switch checked={required} onChange={(next) => onChange({ ...row, required: next })} />
      </Field>
    </div>
  );
}
