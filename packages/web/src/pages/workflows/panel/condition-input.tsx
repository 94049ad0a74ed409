import type { ReactNode } from "react";
import type { Comparison, Condition, Json } from "trackside/schema";
import { type Path, pathText } from "../../../forms/path.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { PlusIcon, TrashIcon } from "../../../ui/icons.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { Select } from "../../../ui/select.tsx";
import { readTyped, typedOf } from "../draft/typed-value.ts";
import { useWorkflowEditor } from "../editor/context.ts";
import { Inset, Wrong } from "./row.tsx";
import { TemplateInput } from "./template-input.tsx";

const BLANK: Condition = { left: "", op: "==", right: "" };

const OPERATORS: Readonly<Record<Comparison, string>> = {
  "==": "is",
  "!=": "is not",
  ">": "is more than",
  ">=": "is at least",
  "<": "is less than",
  "<=": "is at most",
  contains: "contains",
  in: "is one of",
  exists: "is there",
  empty: "is empty",
};

const COMPARISONS = Object.keys(OPERATORS) as Comparison[]; // its keys

const isAlone = (op: Comparison) => op === "exists" || op === "empty";

/** Comparisons in rows, put together by all, any and not. */
export function ConditionInput({
  path,
  condition,
  onChange,
  onRemove,
  label,
}: {
  path: Path;
  condition: Condition;
  onChange(condition: Condition): void;
  /** Of one among several. */
  onRemove?: () => void;
  /** "Condition", "Condition 2": each control is named after it. */
  label: string;
}) {
  const { readOnly } = useWorkflowEditor();
  if ("not" in condition)
    return (
      <Negated
        path={path}
        label={label}
        onOff={() => onChange(condition.not)}
        {...(onRemove && { onRemove })}
      >
        <ConditionInput
          path={[...path, "not"]}
          condition={condition.not}
          onChange={(not) => onChange({ not })}
          label={label}
        />
      </Negated>
    );
  if ("all" in condition || "any" in condition) {
    const isAll = "all" in condition;
    const parts = "all" in condition ? condition.all : condition.any;
    const put = (next: readonly Condition[], all = isAll): void => {
      const [only] = next;
      // One row needs no group around it.
      if (next.length === 1 && only !== undefined) onChange(only);
      else if (next.length > 1) onChange(all ? { all: next } : { any: next });
    };
    return (
      <div className="flex min-w-0 flex-col gap-2">
        <div className="flex flex-wrap items-center gap-2">
          <SegmentedControl
            aria-label={`${label}: how rows are put together`}
            value={isAll ? "all" : "any"}
            onChange={(next) => put(parts, next === "all")}
            disabled={readOnly}
            options={[
              { value: "all", label: "All of these" },
              { value: "any", label: "Any of these" },
            ]}
          />
          {!readOnly && <Negate onClick={() => onChange({ not: condition })} />}
          {onRemove && !readOnly && (
            <IconButton icon={TrashIcon} label={`Remove ${label.toLowerCase()}`} onClick={onRemove} />
          )}
        </div>
        <Inset>
          {parts.map((part, at) => (
            <ConditionInput
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing else to go by
              key={at}
              path={[...path, isAll ? "all" : "any", at]}
              condition={part}
              onChange={(next) => put(parts.with(at, next))}
              onRemove={() => put(parts.toSpliced(at, 1))}
              label={`${label} ${at + 1}`}
            />
          ))}
          {!readOnly && (
            <div className="flex gap-1">
              <Button size="small" kind="quiet" icon={PlusIcon} onClick={() => put([...parts, BLANK])}>
                Add a comparison
              </Button>
              <Button
                size="small"
                kind="quiet"
                onClick={() => put([...parts, isAll ? { any: [BLANK, BLANK] } : { all: [BLANK, BLANK] }])}
              >
                Add a group
              </Button>
            </div>
          )}
        </Inset>
      </div>
    );
  }
  return <ComparisonRow {...{ path, condition, onChange, label }} {...(onRemove && { onRemove })} />;
}

function ComparisonRow({
  path,
  condition,
  onChange,
  onRemove,
  label,
}: {
  path: Path;
  condition: Extract<Condition, { op: Comparison }>;
  onChange(condition: Condition): void;
  onRemove?: () => void;
  label: string;
}) {
  const { readOnly, issues } = useWorkflowEditor();
  const { left, op, right } = condition;
  const problem = issues.words(pathText(path));
  const set = (next: { left?: Json; op?: Comparison; right?: Json }) => {
    const { right: value, ...rest } = { left, op, right: right ?? "", ...next };
    onChange(isAlone(rest.op) ? rest : { ...rest, right: value });
  };
  return (
    <fieldset aria-label={label} data-field={pathText(path)} className="flex min-w-0 flex-col gap-1.5">
      <TemplateInput
        aria-label={`${label}: left side`}
        value={typedOf(left)}
        onChange={(next) => set({ left: readTyped(next) })}
        placeholder="{{ nodes.… }}"
        disabled={readOnly}
      />
      <div className="flex items-start gap-1.5">
        <Select
          aria-label={`${label}: comparison`}
          className="w-32! shrink-0"
          value={op}
          onChange={(next) => set({ op: next })}
          disabled={readOnly}
          options={COMPARISONS.map((value) => ({ value, label: OPERATORS[value] }))}
        />
        {!isAlone(op) && (
          <TemplateInput
            aria-label={`${label}: right side`}
            value={typedOf(right)}
            onChange={(next) => set({ right: readTyped(next) })}
            placeholder="value"
            disabled={readOnly}
          />
        )}
        {onRemove && !readOnly && (
          <IconButton icon={TrashIcon} label={`Remove ${label.toLowerCase()}`} onClick={onRemove} />
        )}
      </div>
      {problem && <Wrong>{problem}</Wrong>}
      {!onRemove && !readOnly && (
        <div className="flex gap-1">
          <Button
            size="small"
            kind="quiet"
            icon={PlusIcon}
            onClick={() => onChange({ all: [condition, BLANK] })}
          >
            Add a comparison
          </Button>
          <Negate onClick={() => onChange({ not: condition })} />
        </div>
      )}
    </fieldset>
  );
}

function Negate({ onClick }: { onClick(): void }) {
  return (
    <Button size="small" kind="quiet" onClick={onClick}>
      Not
    </Button>
  );
}

function Negated({
  children,
  path,
  label,
  onOff,
  onRemove,
}: {
  children: ReactNode;
  path: Path;
  label: string;
  onOff(): void;
  onRemove?: () => void;
}) {
  const { readOnly } = useWorkflowEditor();
  return (
    <div data-field={pathText(path)} className="flex min-w-0 flex-col gap-1">
      <div className="flex items-center gap-1">
        <span className="font-medium">Not</span>
        {!readOnly && (
          <Button size="small" kind="quiet" onClick={onOff}>
            Take “not” away
          </Button>
        )}
        {onRemove && !readOnly && (
          <IconButton icon={TrashIcon} label={`Remove ${label.toLowerCase()}`} onClick={onRemove} />
        )}
      </div>
      <Inset>{children}</Inset>
    </div>
  );
}
