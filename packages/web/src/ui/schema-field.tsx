import type { ReactNode } from "react";
import type { Json } from "trackside/schema";
import {
  type Choice,
  type Draft,
  draftOf,
  type Field as FormField,
  type MapEntry,
  type Path,
  type Problem,
  pathText,
  placed,
  samePath,
  typedText,
  UNSAID,
} from "../forms/schema-form.ts";
import { Button, IconButton } from "./button.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Combobox, MultiSelect } from "./combobox.tsx";
import { Field } from "./field.tsx";
import { ArrowDownIcon, ArrowUpIcon, PlusIcon, TrashIcon, WarningIcon } from "./icons.tsx";
import { Select } from "./select.tsx";
import { Switch } from "./switch.tsx";
import { TextArea, TextField } from "./text-field.tsx";

export interface SchemaFieldProps<F extends FormField = FormField> {
  field: F;
  draft: Draft;
  onChange(draft: Draft): void;
  /** All of the form's; the field takes those at its place and below. */
  problems: readonly Problem[];
  disabled: boolean;
  /** Where the form stands in something larger. */
  at: Path;
  /** In place of the schema's own: the entry of a list is called by its number. */
  label?: string;
  hideLabel?: boolean;
}

type Of<K extends FormField["kind"]> = SchemaFieldProps<Extract<FormField, { kind: K }>>;
type Said<A extends Draft["as"]> = Extract<Draft, { as: A }>;

/** From here on a list is searched, not read. */
const MANY_CHOICES = 8;

/** One field of a form, with everything below it. */
export function SchemaField(props: SchemaFieldProps) {
  const { field, draft } = props;
  if (draft.as === "json" || field.kind === "json") return <JsonText {...props} />;
  switch (field.kind) {
    case "text":
    case "multiline":
    case "number":
      return <TypedText {...props} field={field} />;
    case "switch":
      return <SwitchField {...props} field={field} />;
    case "select":
      return <SelectField {...props} field={field} />;
    case "multi-select":
      return <MultiSelectField {...props} field={field} />;
    case "list":
      return <ListField {...props} field={field} />;
    case "map":
      return <MapField {...props} field={field} />;
    case "group":
      return <GroupField {...props} field={field} />;
  }
}

function startsWith(path: Path, start: Path): boolean {
  return path.length >= start.length && samePath(path.slice(0, start.length), start);
}

/** Problems at a place and below it. Inside something that has no fields of its own the place is told. */
export function Problems({ problems, within }: { problems: readonly Problem[]; within: Path }) {
  return problems.map(({ path, message }) => (
    <span key={`${pathText(path)} ${message}`} className="block">
      {path.length > within.length && (
        <span className="font-mono">{pathText(path.slice(within.length))} </span>
      )}
      {message}
    </span>
  ));
}

/** Label, hint, what is optional, and what is wrong, around a control. */
function Framed({
  field,
  draft,
  onChange,
  problems,
  disabled,
  at,
  label,
  hideLabel,
  hint,
  inline,
  children,
}: SchemaFieldProps & { hint?: ReactNode; inline?: boolean; children: ReactNode }) {
  const own = problems.filter(({ path }) => startsWith(path, field.path));
  return (
    <Field
      label={label ?? field.label}
      hint={hint ?? field.description}
      name={pathText([...at, ...field.path])}
      disabled={disabled}
      hideLabel={hideLabel === true}
      inline={inline === true}
      problem={own.length > 0 && <Problems problems={own} within={field.path} />}
      aside={!hideLabel && !inline && <Aside {...{ field, draft, onChange, disabled }} />}
    >
      {children}
    </Field>
  );
}

/** What an empty field means; and for what cannot be emptied by typing, a way to say nothing again. */
function Aside({
  field,
  draft,
  onChange,
  disabled,
}: Pick<SchemaFieldProps, "field" | "draft" | "onChange" | "disabled">) {
  if (field.required) return null;
  const typed = field.kind === "text" || field.kind === "multiline" || field.kind === "number";
  if (!typed && draft.as !== "unsaid" && !disabled)
    return (
      <button
        type="button"
        onClick={() => onChange(UNSAID)}
        className="rounded-sm text-muted underline hover:text-ink"
      >
        Clear<span className="sr-only"> {field.label}</span>
      </button>
    );
  if (field.default === undefined || field.default === null) return "optional";
  const text = shownDefault(field.default);
  return text.length <= 40 ? `${text} unless set` : "has a default";
}

function shownDefault(value: Json): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Empty means null where that is the only way to say it. */
function textDraft(field: FormField, text: string): Draft {
  return text === "" && field.nullable && field.required ? { as: "null" } : { as: "text", text };
}

const INPUT_TYPES: Readonly<Record<string, string>> = { password: "password", email: "email", uri: "url" };

function TypedText(props: Of<"text" | "multiline" | "number">) {
  const { field, draft, onChange } = props;
  const value = typedText(draft);
  const change = (text: string) => onChange(textDraft(field, text));
  const placeholder =
    draft.as === "null"
      ? "null"
      : typeof field.default === "string" || typeof field.default === "number"
        ? String(field.default)
        : undefined;
  const given = placeholder === undefined ? {} : { placeholder };
  return (
    <Framed {...props}>
      {field.kind === "multiline" || value.includes("\n") ? (
        <TextArea value={value} onChange={change} {...given} />
      ) : field.kind === "number" ? (
        <TextField
          value={value}
          onChange={change}
          inputMode={field.integer && (field.minimum ?? -1) >= 0 ? "numeric" : "decimal"}
          autoComplete="off"
          className="max-w-44 text-right"
          {...given}
        />
      ) : (
        <TextField
          value={value}
          onChange={change}
          type={INPUT_TYPES[field.format ?? ""] ?? "text"}
          autoComplete="off"
          spellCheck={false}
          {...given}
        />
      )}
    </Framed>
  );
}

function JsonText(props: SchemaFieldProps) {
  const { field, draft, onChange } = props;
  const hint = field.kind === "json" ? undefined : "Written as JSON, since the field cannot show this value.";
  return (
    <Framed {...props} hint={hint ?? field.description ?? "JSON"}>
      <TextArea
        mono
        spellCheck={false}
        value={typedText(draft)}
        onChange={(text) => onChange(text === "" && !field.required ? UNSAID : { as: "json", text })}
      />
    </Framed>
  );
}

function SwitchField(props: Of<"switch">) {
  const { field, draft, onChange } = props;
  const checked = draft.as === "value" ? draft.value === true : field.default === true;
  return (
    <Framed {...props} inline>
      <Switch checked={checked} onChange={(value) => onChange({ as: "value", value })} />
    </Framed>
  );
}

/** Choices may be any JSON; in the page each goes by how it is written. */
function optionsOf(choices: readonly Choice[]) {
  return choices.map(({ value, label, description }) => ({
    value: JSON.stringify(value),
    label,
    ...(description !== undefined && { hint: description }),
  }));
}

/** Only what is among the choices can be chosen, and that was written by `JSON.stringify`. */
const chosenValue = (text: string): Json => JSON.parse(text);

function SelectField(props: Of<"select">) {
  const { field, draft, onChange, disabled } = props;
  const value = draft.as === "value" ? JSON.stringify(draft.value) : undefined;
  const options = optionsOf(field.choices);
  const placeholder = field.default === undefined ? "Choose" : `${shownDefault(field.default)} unless set`;
  return (
    <Framed {...props}>
      {options.length > MANY_CHOICES ? (
        <Combobox
          value={value}
          options={options}
          disabled={disabled}
          placeholder={placeholder}
          onChange={(text) =>
            onChange(text === undefined ? UNSAID : { as: "value", value: chosenValue(text) })
          }
        />
      ) : (
        <Select
          value={value}
          options={options}
          disabled={disabled}
          placeholder={placeholder}
          onChange={(text) => onChange({ as: "value", value: chosenValue(text) })}
          className="max-w-80"
        />
      )}
    </Framed>
  );
}

function MultiSelectField(props: Of<"multi-select">) {
  const { field, draft, onChange, disabled } = props;
  const values = draft.as === "chosen" ? draft.values : [];
  return (
    <Framed {...props}>
      <MultiSelect
        value={values.map((one) => JSON.stringify(one))}
        options={optionsOf(field.choices)}
        disabled={disabled}
        placeholder="Choose any"
        onChange={(texts) =>
          onChange({
            as: "chosen",
            values: texts.map(chosenValue),
            alone: draft.as === "chosen" && draft.alone && texts.length === 1,
          })
        }
      />
    </Framed>
  );
}

/** Of a list, map or group: a heading, what is wrong with the whole of it, and what is in it. */
function Part({
  children,
  claimed,
  ...props
}: SchemaFieldProps & {
  /** Whether a part inside shows the problem itself. */
  claimed(problem: Problem): boolean;
  children: ReactNode;
}) {
  const { field, problems, at, label, hideLabel } = props;
  const own = problems.filter((one) => startsWith(one.path, field.path) && !claimed(one));
  return (
    <fieldset
      data-field={pathText([...at, ...field.path])}
      className="flex min-w-0 flex-col gap-2"
      aria-invalid={own.length > 0 || undefined}
    >
      <legend
        className={
          hideLabel ? "sr-only" : "mb-1 flex w-full items-baseline justify-between gap-3 font-medium"
        }
      >
        {label ?? field.label}
        {!hideLabel && (
          <span className="text-xs font-normal text-faint">
            <Aside {...props} />
          </span>
        )}
      </legend>
      {field.description && <p className="measure -mt-1 text-xs text-muted">{field.description}</p>}
      {children}
      {own.length > 0 && (
        <p className="measure flex items-start gap-1 text-xs text-red">
          <WarningIcon width={12} height={12} className="mt-0.5 shrink-0" />
          <span>
            <Problems problems={own} within={field.path} />
          </span>
        </p>
      )}
    </fieldset>
  );
}

const INSET = "flex min-w-0 flex-col gap-3 border-l-2 border-line pl-3";

/** Whether an entry is a line of its own rather than a form of its own. */
function isLine({ kind }: FormField): boolean {
  return kind !== "group" && kind !== "list" && kind !== "map";
}

function ListField(props: Of<"list">) {
  const { field, draft, onChange, problems, disabled, at } = props;
  const list: Said<"list"> = draft.as === "list" ? draft : { as: "list", entries: [], alone: false };
  const entries = list.entries;
  const set = (next: readonly Draft[]) =>
    onChange({ ...list, entries: next, alone: list.alone && next.length === 1 });
  const what = field.item.label === field.label ? "entry" : field.item.label.toLowerCase();
  const full = field.maxItems !== undefined && entries.length >= field.maxItems;
  const move = (from: number, to: number) => {
    const next = [...entries];
    next.splice(to, 0, ...next.splice(from, 1));
    set(next);
  };
  return (
    <Part {...props} claimed={({ path }) => Number(path[field.path.length]) < entries.length}>
      {entries.map((entry, i) => {
        const name = `${field.item.label} ${i + 1}`;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have nothing else to go by, and hold no state
          <div key={i} className="flex items-start gap-1">
            <div className={isLine(field.item) ? "min-w-0 flex-1" : `${INSET} flex-1`}>
              <SchemaField
                field={placed(field.item, [...field.path, i])}
                draft={entry}
                onChange={(next) => set(entries.with(i, next))}
                label={name}
                hideLabel={isLine(field.item)}
                {...{ problems, disabled, at }}
              />
            </div>
            {!disabled && (
              <>
                {entries.length > 1 && (
                  <>
                    <IconButton
                      icon={ArrowUpIcon}
                      label={`Move ${name} up`}
                      disabled={i === 0}
                      onClick={() => move(i, i - 1)}
                    />
                    <IconButton
                      icon={ArrowDownIcon}
                      label={`Move ${name} down`}
                      disabled={i === entries.length - 1}
                      onClick={() => move(i, i + 1)}
                    />
                  </>
                )}
                <IconButton
                  icon={TrashIcon}
                  label={`Remove ${name}`}
                  onClick={() => set(entries.filter((_, other) => other !== i))}
                />
              </>
            )}
          </div>
        );
      })}
      {!disabled && !full && (
        <Button
          size="small"
          icon={PlusIcon}
          className="self-start"
          onClick={() => set([...entries, draftOf(field.item)])}
        >
          Add {what}
        </Button>
      )}
    </Part>
  );
}

function MapField(props: Of<"map">) {
  const { field, draft, onChange, problems, disabled, at } = props;
  const entries = draft.as === "map" ? draft.entries : [];
  const set = (next: readonly MapEntry[]) => onChange({ as: "map", entries: next });
  const names = new Set<string | number>(entries.map(({ name }) => name));
  return (
    <Part {...props} claimed={({ path }) => names.has(path[field.path.length] ?? "")}>
      {field.nameDescription && <p className="text-xs text-muted">{field.nameDescription}</p>}
      {entries.map(({ name, draft: entry }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name changes while it is typed
        <div key={i} className="flex items-start gap-2">
          <div className="flex min-w-0 flex-1 flex-col gap-1 sm:flex-row sm:gap-2">
            <TextField
              mono
              aria-label={`Name of entry ${i + 1} of ${field.label}`}
              placeholder="name"
              value={name}
              disabled={disabled}
              onChange={(next) => set(entries.with(i, { name: next, draft: entry }))}
              className="sm:max-w-48"
            />
            <div className={isLine(field.entry) ? "min-w-0 flex-1" : `${INSET} flex-1`}>
              <SchemaField
                field={placed(field.entry, [...field.path, name])}
                draft={entry}
                onChange={(next) => set(entries.with(i, { name, draft: next }))}
                label={name || `Entry ${i + 1}`}
                hideLabel={isLine(field.entry)}
                {...{ problems, disabled, at }}
              />
            </div>
          </div>
          {!disabled && (
            <IconButton
              icon={TrashIcon}
              label={`Remove ${name || `entry ${i + 1}`}`}
              onClick={() => set(entries.filter((_, other) => other !== i))}
            />
          )}
        </div>
      ))}
      {!disabled && (
        <Button
          size="small"
          icon={PlusIcon}
          className="self-start"
          onClick={() => set([...entries, { name: "", draft: draftOf(field.entry) }])}
        >
          Add entry
        </Button>
      )}
    </Part>
  );
}

function GroupField(props: Of<"group">) {
  const { field, draft, onChange, disabled } = props;
  const keys = new Set<string | number>(field.fields.map(({ path }) => path.at(-1) ?? ""));
  return (
    <Part
      {...props}
      claimed={({ path }) =>
        draft.as === "group" && (path.length === field.path.length || keys.has(path[field.path.length] ?? ""))
      }
    >
      {draft.as === "group" ? (
        <div className={INSET}>
          <GroupFields {...props} draft={draft} />
        </div>
      ) : (
        !disabled && (
          <Button
            size="small"
            icon={PlusIcon}
            className="self-start"
            onClick={() => onChange(draftOf(field, {}))}
          >
            Add {field.label.toLowerCase()}
          </Button>
        )
      )}
    </Part>
  );
}

/** The fields of a group, without a heading: a whole form. */
export function GroupFields({
  field,
  draft,
  onChange,
  problems,
  disabled,
  at,
}: Of<"group"> & { draft: Said<"group"> }) {
  const keys = new Set<string | number>(field.fields.map(({ path }) => path.at(-1) ?? ""));
  const rest = Object.keys(draft.rest);
  const own = problems.filter(
    ({ path }) => startsWith(path, field.path) && !keys.has(path[field.path.length] ?? ""),
  );
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {field.fields.map((inner) => {
        const key = String(inner.path.at(-1));
        return (
          <SchemaField
            key={key}
            field={inner}
            draft={draft.fields[key] ?? UNSAID}
            onChange={(next) => onChange({ ...draft, fields: { ...draft.fields, [key]: next } })}
            {...{ problems, disabled, at }}
          />
        );
      })}
      {rest.length > 0 && (
        <div>
          <p className="text-xs text-muted">Also there, and kept as it is. To change it, edit as JSON.</p>
          <CodeBlock code={JSON.stringify(draft.rest, null, 2)} label="Other values" />
        </div>
      )}
      {own.length > 0 && (
        <p className="flex items-start gap-1 text-xs text-red">
          <WarningIcon width={12} height={12} className="mt-0.5 shrink-0" />
          <span>
            <Problems problems={own} within={field.path} />
          </span>
        </p>
      )}
    </div>
  );
}
