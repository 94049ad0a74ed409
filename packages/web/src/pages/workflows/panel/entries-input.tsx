import type { Json, JsonObject } from "trackside/schema";
import type { Path } from "../../../forms/path.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { PlusIcon, TrashIcon } from "../../../ui/icons.tsx";
import { readTyped, typedOf } from "../draft/typed-value.ts";
import { useAt } from "../editor/context.ts";
import { NameInput } from "./name-input.tsx";
import { TemplateInput } from "./template-input.tsx";

/** An object by rows: a name, and a value that may be a template. */
export function EntriesInput({ path, label, add }: { path: Path; label: string; add: string }) {
  const { value, set, readOnly } = useAt(path);
  const entries = Object.entries(isObject(value) ? value : {});
  const put = (next: readonly (readonly [string, Json])[]) => set(Object.fromEntries(next));
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {entries.map(([name, one], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name changes while it is typed
        <div key={at} className="flex items-start gap-1">
          <NameInput
            label={`${label} ${at + 1}: name`}
            className="w-28 shrink-0"
            name={name}
            isTaken={(next) => entries.some(([other], i) => i !== at && other === next)}
            disabled={readOnly}
            onChange={(next) => put(entries.with(at, [next, one]))}
          />
          <Field label={`${label} ${name}`} hideLabel className="min-w-0 flex-1" disabled={readOnly}>
            <TemplateInput
              value={typedOf(one)}
              disabled={readOnly}
              onChange={(next) => put(entries.with(at, [name, readTyped(next)]))}
            />
          </Field>
          {!readOnly && (
            <IconButton
              icon={TrashIcon}
              label={`Remove ${name || `row ${at + 1}`}`}
              onClick={() => put(entries.toSpliced(at, 1))}
            />
          )}
        </div>
      ))}
      {!readOnly && (
        <Button
          size="small"
          kind="quiet"
          icon={PlusIcon}
          className="w-fit"
          onClick={() => put([...entries, [freeName(entries), ""]])}
        >
          {add}
        </Button>
      )}
    </div>
  );
}

function freeName(entries: readonly (readonly [string, Json])[]): string {
  for (let at = entries.length + 1; ; at += 1)
    if (!entries.some(([name]) => name === `value_${at}`)) return `value_${at}`;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
