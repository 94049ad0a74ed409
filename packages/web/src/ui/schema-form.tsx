import { useMemo } from "react";
import type { JsonObject } from "trackside/schema";
import {
  type Draft,
  draftOf,
  formOf,
  type Path,
  type Problem,
  readValue,
  typedText,
} from "../forms/schema-form.ts";
import { Button } from "./button.tsx";
import { cx } from "./class-names.ts";
import { Field } from "./field.tsx";
import { GroupFields, Problems, SchemaField } from "./schema-field.tsx";
import { TextArea } from "./text-field.tsx";

export interface SchemaFormProps {
  /** JSON Schema of the value. */
  schema: JsonObject;
  /** `draftOf(formOf(schema), value)` at first; then whatever `onChange` gave. */
  draft: Draft;
  onChange(draft: Draft): void;
  /** What is wrong, by path inside the value. Each stands beside its field, or the nearest one around it. */
  problems?: readonly Problem[];
  disabled?: boolean;
  /** What the value is: "Arguments". Names it for screen readers and in the JSON editor. */
  label: string;
  /** Where the value stands in something larger, so that error summaries find its fields: `["rails", 0, "options"]`. */
  at?: Path;
  className?: string;
}

/**
 * The form of any JSON Schema. Whatever the fields cannot say can be written as JSON, for the whole value and, where a
 * part of the schema has no fields, for that part. Switching between the two loses nothing.
 *
 * @example
 * const [draft, setDraft] = useState(() => draftOf(formOf(schema), value));
 * <SchemaForm label="Arguments" schema={schema} draft={draft} onChange={setDraft} problems={problems} />
 */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, draft, onChange, problems = [], disabled = false, label, at = [], className } = props;
  const form = useMemo(() => formOf(schema), [schema]);
  const asJson = draft.as === "json";
  const read = readValue(form, draft);
  // Half a number, or JSON with an open bracket, has no other form yet.
  const unread = read.problems.length > 0;
  const toggle = () => {
    if (!asJson) return onChange({ as: "json", text: JSON.stringify(read.value ?? {}, null, 2) });
    onChange(draftOf(form, read.value));
  };
  return (
    <section aria-label={label} className={cx("flex min-w-0 flex-col gap-3", className)}>
      {asJson ? (
        <JsonEditor {...{ label, draft, onChange, problems, disabled }} />
      ) : form.kind === "group" && draft.as === "group" ? (
        <GroupFields {...{ field: form, draft, onChange, problems, disabled, at }} />
      ) : (
        <SchemaField {...{ field: form, draft, onChange, problems, disabled, at }} label={label} />
      )}
      {form.kind !== "json" && (
        <div className="-mt-1 -ml-2 flex">
          <Button
            size="small"
            kind="quiet"
            onClick={toggle}
            disabled={disabled || unread}
            title={
              unread ? `First correct what ${asJson ? "is no valid JSON" : "cannot be read"}` : undefined
            }
          >
            {asJson ? "Edit as a form" : "Edit as JSON"}
          </Button>
        </div>
      )}
    </section>
  );
}

function JsonEditor({
  label,
  draft,
  onChange,
  problems,
  disabled,
}: Pick<SchemaFormProps, "label" | "draft" | "onChange"> & {
  problems: readonly Problem[];
  disabled: boolean;
}) {
  return (
    <Field
      label={`${label} as JSON`}
      disabled={disabled}
      problem={problems.length > 0 && <Problems problems={problems} within={[]} />}
    >
      <TextArea
        mono
        rows={6}
        spellCheck={false}
        value={typedText(draft)}
        onChange={(text) => onChange({ as: "json", text })}
      />
    </Field>
  );
}
