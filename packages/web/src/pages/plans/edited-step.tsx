import { IconButton } from "../../ui/button.tsx";
import { MultiSelect } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { ChevronDownIcon, ChevronRightIcon, LockIcon, TrashIcon } from "../../ui/icons.tsx";
import { TextArea, TextField } from "../../ui/text-field.tsx";
import { allowedBefore, type Draft, type DraftStep, waitsFor } from "./draft.ts";
import { GripIcon } from "./grip-icon.tsx";
import type { useReorder } from "./use-reorder.ts";

/** One step to write: its title in a line, the rest when asked for. */
export function EditedStep({
  step,
  at,
  draft,
  locked,
  isOpen,
  problems,
  grip,
  onToggle,
  onChange,
  onRemove,
}: {
  step: DraftStep;
  at: number;
  draft: Draft;
  locked: boolean;
  isOpen: boolean;
  problems: ReadonlyMap<string, string>;
  grip: ReturnType<ReturnType<typeof useReorder>["handle"]>;
  onToggle(): void;
  onChange(change: Partial<DraftStep>): void;
  onRemove(): void;
}) {
  const name = step.title || `step ${at + 1}`;
  const place = `steps[${at}]`;
  const inside = [...problems].filter(([path]) => path.startsWith(`${place}.`) && !path.endsWith(".title"));
  const shown = isOpen || inside.length > 0;
  const options = allowedBefore(draft, step.id).map(({ id, title }) => {
    const n = draft.steps.findIndex((one) => one.id === id) + 1;
    return { value: id, label: `${n} ${title || "untitled"}` };
  });
  const chosen = step.depends_on.map((id) => {
    const n = draft.steps.findIndex((one) => one.id === id) + 1;
    return { value: id, label: `${n} ${draft.steps[n - 1]?.title || "untitled"}` };
  });
  return (
    <>
      <div className="flex items-start gap-1 p-2">
        <button
          type="button"
          aria-label={`Move ${name}, step ${at + 1} of ${draft.steps.length}`}
          title="Drag, or press Alt with an arrow key"
          className="grid h-8 w-6 shrink-0 cursor-grab touch-none place-items-center rounded-md text-faint hover:bg-sunken hover:text-ink active:cursor-grabbing coarse:h-10 coarse:w-8"
          {...grip}
        >
          <GripIcon />
        </button>
        <span className="w-5 shrink-0 pt-1.5 text-right text-muted tabular-nums coarse:pt-2.5">{at + 1}</span>
        <Field
          label={`Title of step ${at + 1}`}
          hideLabel
          name={`${place}.title`}
          problem={problems.get(`${place}.title`)}
          disabled={locked}
          className="ml-1 flex-1"
        >
          <TextField
            value={step.title}
            onChange={(title) => onChange({ title })}
            placeholder="What to do"
            maxLength={200}
          />
        </Field>
        <IconButton
          icon={shown ? ChevronDownIcon : ChevronRightIcon}
          label={shown ? `Fold ${name}` : `Details of ${name}`}
          aria-expanded={shown}
          onClick={onToggle}
        />
        {locked ? (
          <span
            title="It is running: stop the plan to change it"
            className="grid size-8 place-items-center coarse:size-10"
          >
            <LockIcon />
          </span>
        ) : (
          <IconButton icon={TrashIcon} label={`Remove ${name}`} onClick={onRemove} />
        )}
      </div>
      {!shown && (step.depends_on.length > 0 || step.criteria !== "" || step.detail !== "") && (
        <p className="truncate px-3 pb-2 pl-15 text-xs text-muted">
          {[waitsFor(draft.steps, step.depends_on), step.criteria && "verified", step.detail]
            .filter(Boolean)
            .join(" · ")}
        </p>
      )}
      {shown && (
        <div className="grid gap-3 border-t border-line p-3 md:grid-cols-2">
          <Field
            label="Detail"
            name={`${place}.detail`}
            problem={problems.get(`${place}.detail`)}
            disabled={locked}
          >
            <TextArea
              value={step.detail}
              onChange={(detail) => onChange({ detail })}
              placeholder="Whatever whoever does it has to know."
            />
          </Field>
          <Field
            label="Verified by"
            hint="Its output is judged by this, in a run of its own. Empty: nobody judges it."
            name={`${place}.criteria`}
            problem={problems.get(`${place}.criteria`)}
            disabled={locked}
          >
            <TextArea
              value={step.criteria}
              onChange={(criteria) => onChange({ criteria })}
              placeholder="How one can tell from its output that it is done."
            />
          </Field>
          <Field
            label="Comes after"
            hint="It begins when these are done or skipped, and is told what they gave."
            name={`${place}.depends_on`}
            problem={inside.find(([path]) => path.startsWith(`${place}.depends_on`))?.[1]}
            disabled={locked}
            className="md:col-span-2"
          >
            <MultiSelect
              value={step.depends_on}
              onChange={(depends_on) => onChange({ depends_on })}
              options={[
                ...options,
                ...chosen.filter(({ value }) => !options.some((one) => one.value === value)),
              ]}
              placeholder="Nothing: it may begin at once"
              empty="No other step can come before it."
              disabled={locked}
            />
          </Field>
        </div>
      )}
    </>
  );
}
