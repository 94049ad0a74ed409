import { useState } from "react";
import type { Json, JsonObject } from "trackside/schema";
import type { Path } from "../../../forms/path.ts";
import { type Field as FormField, formOf } from "../../../forms/schema-form.ts";
import { isObject } from "../../../forms/subschema.ts";
import { Button } from "../../../ui/button.tsx";
import { Combobox } from "../../../ui/combobox.tsx";
import { readTyped, typedOf } from "../draft/typed-value.ts";
import { useAt } from "../editor/context.ts";
import { EntriesInput } from "./entries-input.tsx";
import { isObjectOr, JsonInput } from "./json-input.tsx";
import { Part, Row } from "./row.tsx";
import { TemplateInput } from "./template-input.tsx";

/**
 * The arguments of a tool, or the input of a workflow: a field for each property of its schema, and each may be a template.
 * Whatever the fields cannot say is written as JSON.
 */
export function ArgumentsInput({
  path,
  label,
  schema,
}: {
  path: Path;
  label: string;
  /** Undefined where nobody knows what it takes. */
  schema: JsonObject | undefined;
}) {
  const [asJson, setAsJson] = useState(false);
  const { value, readOnly, problem } = useAt(path);
  const form = schema && formOf(schema);
  const fields = form?.kind === "group" ? form.fields : undefined;
  const known = new Set(fields?.map((field) => String(field.path.at(-1))));
  const others = Object.keys(isObject(value) ? value : {}).filter((key) => !known.has(key));
  return (
    <Part
      path={path}
      label={label}
      aside={
        !readOnly && (
          <button type="button" className="underline hover:text-ink" onClick={() => setAsJson(!asJson)}>
            {asJson ? "As fields" : "As JSON"}
            <span className="sr-only">: {label}</span>
          </button>
        )
      }
      problem={asJson || fields === undefined ? problem : undefined}
    >
      {asJson ? (
        <Row path={path} label={`${label} as JSON`} hideLabel>
          <JsonInput path={path} allows={isObjectOr} empty={{}} rows={6} />
        </Row>
      ) : fields === undefined ? (
        <EntriesInput path={path} label={label} add="Add a value" />
      ) : (
        <>
          {fields.length === 0 && others.length === 0 && <p className="text-sm text-muted">It takes none.</p>}
          {fields.map((field) => (
            <Argument key={String(field.path.at(-1))} field={field} path={[...path, ...field.path]} />
          ))}
          {others.map((key) => (
            <OtherArgument key={key} name={key} path={[...path, key]} />
          ))}
        </>
      )}
    </Part>
  );
}

function Argument({ field, path }: { field: FormField; path: Path }) {
  const { value, set, readOnly } = useAt(path);
  const isText = field.kind === "text" || field.kind === "multiline";
  // Empty is nothing said, unless something has to be.
  const change = (next: string) => {
    if (next === "") set(isText && field.required ? "" : undefined);
    else set(isText ? next : readTyped(next));
  };
  const shown = isText && typeof value === "string" ? value : typedOf(value);
  const choices = choicesOf(field);
  const complex =
    field.kind === "list" || field.kind === "map" || field.kind === "group" || field.kind === "json";
  return (
    <Row
      path={path}
      label={field.label}
      hint={field.description}
      aside={field.required ? typeWord(field) : `${typeWord(field)}, optional`}
    >
      {choices === undefined ? (
        <TemplateInput
          value={shown}
          onChange={change}
          disabled={readOnly}
          multiline={field.kind === "multiline" || complex}
          {...(field.default !== undefined && { placeholder: typedOf(field.default) })}
        />
      ) : typeof value === "string" && value.includes("{{") ? (
        <div className="flex items-start gap-1">
          <TemplateInput value={value} onChange={change} disabled={readOnly} />
          {!readOnly && (
            <Button size="small" kind="quiet" className="mt-0.5" onClick={() => set(undefined)}>
              Choose
            </Button>
          )}
        </div>
      ) : (
        <div className="flex items-start gap-1">
          <Combobox
            aria-label={field.label}
            value={value === undefined ? undefined : JSON.stringify(value)}
            onChange={(next) => set(next === undefined ? undefined : (JSON.parse(next) as Json))} // written by choicesOf
            options={choices}
            disabled={readOnly}
            className="min-w-0 flex-1"
          />
          {!readOnly && (
            <Button
              size="small"
              kind="quiet"
              className="mt-0.5"
              title={`Take ${field.label.toLowerCase()} from another node or the input`}
              onClick={() => set("{{ ")}
            >
              {"{ }"}
            </Button>
          )}
        </div>
      )}
    </Row>
  );
}

/** What the schema does not know is a problem, and can be taken away. */
function OtherArgument({ name, path }: { name: string; path: Path }) {
  const { value, set, readOnly } = useAt(path);
  return (
    <Row
      path={path}
      label={<span className="font-mono text-sm">{name}</span>}
      aside={
        !readOnly && (
          <button type="button" className="underline hover:text-ink" onClick={() => set(undefined)}>
            Remove<span className="sr-only"> {name}</span>
          </button>
        )
      }
    >
      <TemplateInput value={typedOf(value)} onChange={(next) => set(readTyped(next))} disabled={readOnly} />
    </Row>
  );
}

function choicesOf(field: FormField) {
  if (field.kind === "switch")
    return [true, false].map((value) => ({ value: String(value), label: value ? "yes" : "no" }));
  if (field.kind !== "select") return undefined;
  return field.choices.map(({ value, label }) => ({ value: JSON.stringify(value), label }));
}

const TYPE_WORDS: Readonly<Record<FormField["kind"], string>> = {
  text: "text",
  multiline: "text",
  number: "number",
  switch: "yes or no",
  select: "choice",
  "multi-select": "list",
  list: "list",
  map: "object",
  group: "object",
  json: "JSON",
};
const typeWord = (field: FormField) =>
  field.kind === "number" && field.integer ? "whole number" : TYPE_WORDS[field.kind];
