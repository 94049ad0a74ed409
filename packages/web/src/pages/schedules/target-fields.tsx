import { useQuery } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { Combobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { TextArea } from "../../ui/text-field.tsx";
import type { Draft } from "./draft.ts";

/** What it starts, and what is said to it. */
export function TargetFields(props: {
  draft: Draft;
  readOnly: boolean;
  problems: ReadonlyMap<string, string>;
  onChange(patch: Partial<Draft>): void;
}) {
  const { draft, readOnly, problems, onChange } = props;
  const { kind, trigger } = draft;
  const names = useNames(kind);
  const label = kind === "workflow" ? "Workflow" : "Agent";
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-[auto_1fr] sm:items-end">
        <SegmentedControl
          aria-label="What it starts"
          value={kind}
          disabled={readOnly}
          onChange={(next) => onChange({ kind: next, target: "" })}
          options={[
            { value: "agent", label: "Agent" },
            { value: "workflow", label: "Workflow" },
            { value: "plan", label: "Plan", hint: "The active plan of an agent" },
          ]}
        />
        <Field label={label} name="target.name" problem={problems.get("target.name")}>
          <Combobox
            value={draft.target === "" ? undefined : draft.target}
            options={names.map((name) => ({ value: name, label: name }))}
            disabled={readOnly}
            placeholder={`Choose ${label === "Agent" ? "an agent" : "a workflow"}`}
            empty={`There is no such ${label.toLowerCase()}.`}
            onChange={(target) => onChange({ target: target ?? "" })}
          />
        </Field>
      </div>
      {kind === "agent" && (
        <Field
          label="What it is told"
          name="input"
          hint={
            trigger === "webhook"
              ? "{{body}} stands for what the webhook brings; without it that comes at the end."
              : "The message its run begins with."
          }
          problem={problems.get("input")}
        >
          <TextArea value={draft.text} rows={3} disabled={readOnly} onChange={(text) => onChange({ text })} />
        </Field>
      )}
      {kind === "workflow" && (
        <Field
          label="Input"
          name="input"
          hint="What the workflow is started with, as JSON."
          problem={problems.get("input")}
        >
          <TextArea
            mono
            value={draft.json}
            rows={3}
            disabled={readOnly}
            spellCheck={false}
            onChange={(json) => onChange({ json })}
          />
        </Field>
      )}
      {kind === "plan" && (
        <p className="measure text-sm text-muted">
          It goes on with the active plan of the agent. Where there is none, the history says so.
        </p>
      )}
    </div>
  );
}

function useNames(kind: Draft["kind"]): readonly string[] {
  const agents = useQuery({
    queryKey: ["agents", "names"],
    queryFn: ({ signal }) => client.listAgents({ query: { limit: 200 } }, { signal }),
    enabled: kind !== "workflow",
  });
  const workflows = useQuery({
    queryKey: ["workflows", "names"],
    queryFn: ({ signal }) => client.listWorkflows({ query: { limit: 200 } }, { signal }),
    enabled: kind === "workflow",
  });
  const found = kind === "workflow" ? workflows.data?.items : agents.data?.items;
  return (found ?? []).map(({ name }) => name);
}
