import { useMemo } from "react";
import type { JsonObject } from "trackside/schema";
import { draftOf, formOf, readPath, readValue } from "../../../forms/schema-form.ts";
import { isObject } from "../../../forms/subschema.ts";
import { SchemaForm } from "../../../ui/schema-form.tsx";
import type { RailRow } from "../draft/agent-draft.ts";
import { useEditor } from "./context.ts";

/** Where a factory does not say which options it takes, any will do. */
const ANY: JsonObject = { type: "object", additionalProperties: true };

/** The options of a rail or hook, as a form of their schema. */
export function OptionsForm({
  row,
  schema,
  path,
  onChange,
}: {
  row: RailRow;
  schema: Record<string, unknown> | null;
  /** Of the rail or hook in the definition. */
  path: string;
  onChange(row: Pick<RailRow, "ref" | "written">): void;
}) {
  const { issues, readOnly } = useEditor();
  // The API sends JSON Schema, which is JSON.
  const given = (schema ?? ANY) as JsonObject;
  const form = useMemo(() => formOf(given), [given]);
  const { options } = row.ref;
  const draft = row.written?.draft ?? draftOf(form, options ?? {});
  const has = form.kind !== "group" || form.fields.length > 0;
  if (!has && options === undefined) return <p className="text-sm text-muted">It has no options.</p>;
  return (
    <SchemaForm
      label="Options"
      schema={given}
      draft={draft}
      disabled={readOnly}
      at={readPath(`${path}.options`)}
      problems={issues.within(`${path}.options`)}
      onChange={(next) => {
        const { value, problems } = readValue(form, next);
        const { options: before, ...rest } = row.ref;
        // Half a number has no value: the last one stays until it is one.
        const read = problems.length > 0 ? before : value;
        const isSaid = read !== undefined && !(isObject(read) && Object.keys(read).length === 0);
        onChange({ ref: isSaid ? { ...rest, options: read } : rest, written: { draft: next, problems } });
      }}
    />
  );
}
