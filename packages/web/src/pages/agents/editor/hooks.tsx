import { useState } from "react";
import { Field } from "../../../ui/field.tsx";
import { ArrowDownIcon, ArrowUpIcon, TrashIcon } from "../../../ui/icons.tsx";
import { NumberField } from "../../../ui/number-field.tsx";
import { Select } from "../../../ui/select.tsx";
import { Tag } from "../../../ui/status-badge.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { type HookPlace, type HookRow, hookPaths, newRowId } from "../draft/agent-draft.ts";
import { movedHook, withPlace, withPrevious } from "../draft/hook-order.ts";
import { AddFrom } from "./add-from.tsx";
import { Card } from "./card.tsx";
import { type Registry, useEditor } from "./context.ts";
import { EditButton, EditIconButton, Row } from "./fields.tsx";
import { OptionsForm } from "./options-form.tsx";
import { POINTS } from "./points.ts";
import { withKey } from "./rails.tsx";

const STAGES: readonly { place: HookPlace; title: string; hint: string }[] = [
  { place: "pre", title: "Before the first model call", hint: "In this order; a group runs side by side." },
  { place: "post", title: "After an answer", hint: "They may ask for another answer." },
  { place: "stream", title: "On the stream", hint: "They see text before anyone reads it." },
];

/** Which hooks fit where; one that does not say fits everywhere. */
function fits({ kind }: Registry["hooks"][number], place: HookPlace): boolean {
  if (kind === null) return true;
  if (place === "pre") return kind === "pre" || kind === "member";
  return place === "post" || place === "stream" ? kind === place : kind === "point";
}

export function Hooks() {
  const { draft, registry } = useEditor();
  const [added, setAdded] = useState<readonly HookPlace[]>([]);
  const points = [...new Set([...draft.hooks.map(({ place }) => place), ...added])].filter(
    (place) => place in POINTS,
  );
  const isOdd = draft.hooks.length === 0 && draft.fields["hooks"] !== undefined;
  if (registry.hooks.length === 0 && draft.hooks.length === 0 && !isOdd)
    return <p className="text-muted">No hooks are registered. Register them in trackside.config.ts.</p>;
  return (
    <>
      {isOdd && (
        <Row name="hooks" label="Hooks">
          <p className="text-muted">The form cannot show these hooks. Edit them as JSON.</p>
        </Row>
      )}
      {STAGES.map((stage) => (
        <Stage key={stage.place} {...stage} />
      ))}
      {points.map((place) => (
        // Only points are left.
        <Stage
          key={place}
          place={place}
          title={place}
          hint={`When ${POINTS[place as keyof typeof POINTS]}.`}
        />
      ))}
      <AddPoint taken={points} onAdd={(place) => setAdded([...added, place])} />
    </>
  );
}

function Stage({ place, title, hint }: { place: HookPlace; title: string; hint: string }) {
  const { draft, change, registry, issues } = useEditor();
  const rows = draft.hooks.filter((row) => row.place === place);
  const offered = registry.hooks.filter((hook) => fits(hook, place));
  const put = (hooks: readonly HookRow[]) => change({ hooks }, "hooks");
  const paths = hookPaths(draft.hooks);
  if (rows.length === 0 && offered.length === 0) return null;
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">
        {title} <span className="font-normal text-muted">{hint}</span>
      </h3>
      {rows.map((row, at) => {
        const before = rows[at - 1];
        const joined = row.group !== null && before?.group === row.group;
        return (
          <div key={row.id} className={row.group === null ? undefined : "border-l-2 border-accent pl-2"}>
            <HookCard
              row={row}
              path={paths.get(row.id) ?? "hooks"}
              problem={issues.words(paths.get(row.id) ?? "hooks")}
              joined={joined}
              first={at === 0}
              last={at === rows.length - 1}
              onMove={(by) => put(movedHook(draft.hooks, row.id, by))}
              onJoin={
                place === "pre" && at > 0 ? (on) => put(withPrevious(draft.hooks, row.id, on)) : undefined
              }
              onRemove={() => put(draft.hooks.filter(({ id }) => id !== row.id))}
              onChange={(next) =>
                put(draft.hooks.map((one) => (one.id === row.id ? { ...one, ...next } : one)))
              }
            />
          </div>
        );
      })}
      <AddFrom
        what={place in POINTS ? `Add a hook on ${place}` : `Add a hook: ${title.toLowerCase()}`}
        items={offered}
        onAdd={(use) => put(withPlace(draft.hooks, { id: newRowId(), place, group: null, ref: { use } }))}
      />
    </section>
  );
}

function HookCard(props: {
  row: HookRow;
  path: string;
  problem: string | undefined;
  joined: boolean;
  first: boolean;
  last: boolean;
  onMove(by: -1 | 1): void;
  onJoin: ((on: boolean) => void) | undefined;
  onRemove(): void;
  onChange(next: Partial<HookRow>): void;
}) {
  const { row, path, problem, joined, first, last, onMove, onJoin, onRemove, onChange } = props;
  const { registry, readOnly } = useEditor();
  const { ref } = row;
  const use = String(ref["use"]);
  const about = registry.hooks.find((hook) => hook.name === use);
  const set = (key: string, value: boolean | number | undefined) =>
    onChange({ ref: withKey(ref, key, value) });
  return (
    <Card
      title={use}
      about={about?.description}
      path={path}
      problem={problem}
      open={row.written !== undefined}
      controls={
        <>
          {row.group !== null && <Tag title="Runs side by side with the others of its group">parallel</Tag>}
          {onJoin && (
            <EditButton size="small" kind="quiet" onClick={() => onJoin(!joined)}>
              {joined ? "Run after it" : "Run with the one above"}
            </EditButton>
          )}
          <EditIconButton
            icon={ArrowUpIcon}
            label={`Move ${use} up`}
            disabled={first}
            onClick={() => onMove(-1)}
          />
          <EditIconButton
            icon={ArrowDownIcon}
            label={`Move ${use} down`}
            disabled={last}
            onClick={() => onMove(1)}
          />
          <EditIconButton icon={TrashIcon} label={`Remove ${use}`} onClick={onRemove} />
        </>
      }
    >
      <OptionsForm row={row} schema={about?.options ?? null} path={path} onChange={onChange} />
      <div className="grid gap-x-6 gap-y-3 border-t border-line pt-3 sm:grid-cols-3">
        <Field inline label="Durable" hint="Its outcome is recorded and not asked for twice.">
          <Switch
            checked={ref["durable"] === true}
            onChange={(on) => set("durable", on || undefined)}
            disabled={readOnly}
          />
        </Field>
        <Field inline label="Critical" hint="The run ends if it fails.">
          <Switch
            checked={ref["critical"] === true}
            onChange={(on) => set("critical", on || undefined)}
            disabled={readOnly}
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
    </Card>
  );
}

/** Hooks on a point of the run: first the point, then the hook. */
function AddPoint({ taken, onAdd }: { taken: readonly HookPlace[]; onAdd(place: HookPlace): void }) {
  const { registry, readOnly } = useEditor();
  if (readOnly || !registry.hooks.some((hook) => fits(hook, "START"))) return null;
  return (
    <Select
      aria-label="Add hooks on a point of the run"
      placeholder="Add hooks on a point of the run"
      value={undefined}
      onChange={onAdd}
      options={Object.entries(POINTS)
        .map(([point, hint]) => ({ value: point as HookPlace, label: point, hint })) // the keys are points
        .filter(({ value }) => !taken.includes(value))}
      className="sm:max-w-96"
    />
  );
}
