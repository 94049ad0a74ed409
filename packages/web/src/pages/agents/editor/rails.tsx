import type { JsonObject } from "trackside/schema";
import { MultiSelect } from "../../../ui/combobox.tsx";
import { Field } from "../../../ui/field.tsx";
import { ArrowDownIcon, ArrowUpIcon, TrashIcon } from "../../../ui/icons.tsx";
import { NumberField } from "../../../ui/number-field.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { Tag } from "../../../ui/status-badge.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { newRowId, type RailRow } from "../draft/agent-draft.ts";
import { joined } from "../draft/issues.ts";
import { inOrder, moved } from "../draft/rail-order.ts";
import { AddFrom } from "./add-from.tsx";
import { Card } from "./card.tsx";
import { useEditor } from "./context.ts";
import { ChoiceRow, EditIconButton, Row } from "./fields.tsx";
import { OptionsForm } from "./options-form.tsx";
import { POINT_OPTIONS } from "./points.ts";

export function Rails() {
  const { draft, change, registry, issues } = useEditor();
  const known = new Map(registry.rails.map((rail) => [rail.name, rail]));
  const registered = (use: string) => known.get(use)?.priority;
  const put = (rails: readonly RailRow[]) => change({ rails }, "rails");
  const order = inOrder(draft.rails, registered);
  const isOdd = draft.rails.length === 0 && draft.fields["rails"] !== undefined;
  return (
    <>
      <p className="measure -mt-2 text-muted">
        Rails guard the points of a run, in this order: lower priorities first. In shadow a rail only says
        what it would have done.
      </p>
      {isOdd && (
        <Row name="rails" label="Rails">
          <p className="text-muted">The form cannot show these rails. Edit them as JSON.</p>
        </Row>
      )}
      {order.length > 0 && (
        <ol className="flex flex-col gap-2">
          {order.map(({ row, at, priority }, place) => (
            <li key={row.id}>
              <RailCard
                row={row}
                path={`rails[${at}]`}
                priority={priority}
                problem={joined(
                  issues.at(`rails[${at}]`).filter(({ path }) => !path.startsWith(`rails[${at}].options`)),
                )}
                hasInner={issues.at(`rails[${at}].options`).length > 0}
                first={place === 0}
                last={place === order.length - 1}
                onMove={(by) => put(moved(draft.rails, row.id, by, registered))}
                onRemove={() => put(draft.rails.filter(({ id }) => id !== row.id))}
                onChange={(next) =>
                  put(draft.rails.map((one) => (one.id === row.id ? { ...one, ...next } : one)))
                }
              />
            </li>
          ))}
        </ol>
      )}
      {draft.rails.length === 0 && !isOdd && <p className="text-muted">No rails. The agent is unguarded.</p>}
      <AddFrom
        what="Add a rail"
        items={registry.rails}
        onAdd={(use) => put([...draft.rails, { id: newRowId(), ref: { use } }])}
      />
    </>
  );
}

function RailCard(props: {
  row: RailRow;
  path: string;
  priority: number;
  problem: string | undefined;
  hasInner: boolean;
  first: boolean;
  last: boolean;
  onMove(by: -1 | 1): void;
  onRemove(): void;
  onChange(next: Partial<RailRow>): void;
}) {
  const { row, path, priority, problem, hasInner, first, last, onMove, onRemove, onChange } = props;
  const { registry, readOnly, issues } = useEditor();
  const { ref } = row;
  const use = String(ref["use"]);
  const name = typeof ref["name"] === "string" ? ref["name"] : use;
  const about = registry.rails.find((rail) => rail.name === use);
  const set = (key: string, value: JsonObject[string] | undefined) =>
    onChange({ ref: withKey(ref, key, value) });
  const shadow = ref["mode"] === "shadow";
  return (
    <Card
      title={name}
      about={about?.description}
      path={path}
      problem={problem ?? (hasInner ? issues.words(`${path}.options`) : undefined)}
      open={row.written !== undefined}
      controls={
        <>
          <Tag title="Priority: lower runs first">{priority}</Tag>
          <SegmentedControl
            aria-label={`Mode of ${name}`}
            value={shadow ? "shadow" : "enforce"}
            onChange={(mode) => set("mode", mode === "shadow" ? mode : undefined)}
            disabled={readOnly}
            options={[
              { value: "enforce", label: "Enforce" },
              { value: "shadow", label: "Shadow", hint: "Says what it would have done, and does nothing" },
            ]}
          />
          <EditIconButton
            icon={ArrowUpIcon}
            label={`Move ${name} up`}
            disabled={first}
            onClick={() => onMove(-1)}
          />
          <EditIconButton
            icon={ArrowDownIcon}
            label={`Move ${name} down`}
            disabled={last}
            onClick={() => onMove(1)}
          />
          <EditIconButton icon={TrashIcon} label={`Remove ${name}`} onClick={onRemove} />
        </>
      }
    >
      <OptionsForm row={row} schema={about?.options ?? null} path={path} onChange={onChange} />
      <div className="grid gap-4 border-t border-line pt-3 sm:grid-cols-2">
        <Field label="Points" hint={pointsHint(about?.points ?? null)} aside="optional">
          <MultiSelect
            mono
            aria-label={`Points of ${name}`}
            value={Array.isArray(ref["on"]) ? ref["on"].map(String) : []}
            onChange={(on) => set("on", on.length > 0 ? on : undefined)}
            options={POINT_OPTIONS}
            placeholder="its own"
            disabled={readOnly}
          />
        </Field>
        <Field label="Name" hint="Each rail of an agent has another one." aside="optional">
          <TextField
            mono
            value={typeof ref["name"] === "string" ? ref["name"] : ""}
            onChange={(next) => set("name", next || undefined)}
            placeholder={use}
          />
        </Field>
        <ChoiceRow label="If it fails itself">
          <SegmentedControl
            aria-label={`If ${name} fails itself`}
            value={
              ref["on_error"] === "abort" ? "abort" : ref["on_error"] === "continue" ? "continue" : "usual"
            }
            onChange={(next) => set("on_error", next === "usual" ? undefined : next)}
            options={[
              { value: "usual", label: "As usual" },
              { value: "abort", label: "Abort" },
              { value: "continue", label: "Go on" },
            ]}
            disabled={readOnly}
          />
        </ChoiceRow>
        <div className="flex flex-wrap gap-4">
          <Field label="Priority">
            <NumberField
              className="w-32"
              value={typeof ref["priority"] === "number" ? ref["priority"] : undefined}
              onChange={(next) => set("priority", next)}
              placeholder={String(priority)}
            />
          </Field>
          <Field label="Time limit">
            <NumberField
              className="w-36"
              value={typeof ref["timeout_ms"] === "number" ? ref["timeout_ms"] : undefined}
              onChange={(next) => set("timeout_ms", next)}
              min={1}
              step={500}
              unit="ms"
              placeholder="none"
            />
          </Field>
        </div>
      </div>
    </Card>
  );
}

/** Undefined takes the key away. */
export function withKey(ref: JsonObject, key: string, value: JsonObject[string] | undefined): JsonObject {
  const { [key]: _, ...rest } = ref;
  return value === undefined ? rest : { ...ref, [key]: value };
}

function pointsHint(points: readonly string[] | null): string {
  return points === null ? "Empty: where it says itself." : `Empty: ${points.join(", ")}.`;
}
