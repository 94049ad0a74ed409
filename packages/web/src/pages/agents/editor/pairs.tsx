import { Field } from "../../../ui/field.tsx";
import { CloseIcon, PlusIcon } from "../../../ui/icons.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { newRowId, type Pair } from "../draft/agent-draft.ts";
import { useEditor } from "./context.ts";
import { EditButton, EditIconButton } from "./fields.tsx";

/** Names and what belongs to them, a row each. */
export function Pairs({
  pairs,
  onChange,
  words,
}: {
  pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
  words: { name: string; value: string; add: string; placeholder?: [string, string] };
}) {
  const { readOnly } = useEditor();
  const change = (at: number, part: Partial<Pair>) =>
    onChange(pairs.map((pair, i) => (i === at ? { ...pair, ...part } : pair)));
  return (
    <div className="flex flex-col gap-1">
      {pairs.length > 0 && (
        <div aria-hidden="true" className="hidden gap-1 text-xs text-muted sm:flex">
          <span className="w-52">{words.name}</span>
          <span>{words.value}</span>
        </div>
      )}
      {pairs.map(({ id, name, value }, at) => (
        <div key={id} className="flex flex-wrap items-start gap-1 sm:flex-nowrap">
          {/* Fields of their own: the label of the field around them names them all together. */}
          <Field label={`${words.name} ${at + 1}`} hideLabel className="min-w-0 flex-1 sm:w-52 sm:flex-none">
            <TextField
              mono
              placeholder={words.placeholder?.[0]}
              value={name}
              onChange={(next) => change(at, { name: next })}
              spellCheck={false}
              autoComplete="off"
            />
          </Field>
          <Field
            label={`${words.value} ${at + 1}`}
            hideLabel
            className="order-last min-w-0 basis-full sm:order-none sm:flex-1 sm:basis-0"
          >
            <TextField
              placeholder={words.placeholder?.[1]}
              value={value}
              onChange={(next) => change(at, { value: next })}
            />
          </Field>
          <EditIconButton
            icon={CloseIcon}
            label={`Remove ${name || `row ${at + 1}`}`}
            onClick={() => onChange(pairs.toSpliced(at, 1))}
          />
        </div>
      ))}
      <EditButton
        size="small"
        kind="quiet"
        icon={PlusIcon}
        className="w-fit"
        disabled={readOnly}
        onClick={() => onChange([...pairs, { id: newRowId(), name: "", value: "" }])}
      >
        {words.add}
      </EditButton>
    </div>
  );
}
