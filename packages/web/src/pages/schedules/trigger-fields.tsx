import { useMemo } from "react";
import { Button } from "../../ui/button.tsx";
import { Combobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { TextField } from "../../ui/text-field.tsx";
import type { Draft } from "./draft.ts";
import { zones } from "./schedule.ts";

const PATTERNS = [
  { label: "Every hour", pattern: "0 * * * *" },
  { label: "Every day", pattern: "0 7 * * *" },
  { label: "Weekdays", pattern: "0 7 * * 1-5" },
  { label: "Mondays", pattern: "0 9 * * 1" },
  { label: "First of the month", pattern: "0 6 1 * *" },
] as const;

/** By the clock, or by a webhook. */
export function TriggerFields(props: {
  draft: Draft;
  readOnly: boolean;
  problems: ReadonlyMap<string, string>;
  onChange(patch: Partial<Draft>): void;
}) {
  const { draft, readOnly, problems, onChange } = props;
  const options = useMemo(() => zones().map((zone) => ({ value: zone, label: zone })), []);
  return (
    <div className="flex flex-col gap-4">
      <SegmentedControl
        aria-label="Starts by"
        value={draft.trigger}
        disabled={readOnly}
        onChange={(trigger) => onChange({ trigger })}
        options={[
          { value: "cron", label: "By the clock" },
          { value: "webhook", label: "By a webhook" },
        ]}
      />
      {draft.trigger === "cron" ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="flex min-w-0 flex-col gap-2">
            <Field
              label="Pattern"
              name="trigger.pattern"
              hint="minute hour day month weekday; a sixth field in front is for seconds"
              problem={problems.get("trigger.pattern")}
            >
              <TextField
                mono
                value={draft.pattern}
                disabled={readOnly}
                onChange={(pattern) => onChange({ pattern })}
                autoComplete="off"
                spellCheck={false}
              />
            </Field>
            {!readOnly && (
              <div className="flex flex-wrap gap-1">
                {PATTERNS.map(({ label, pattern }) => (
                  <Button
                    key={pattern}
                    size="small"
                    aria-pressed={draft.pattern === pattern}
                    onClick={() => onChange({ pattern })}
                  >
                    {label}
                  </Button>
                ))}
              </div>
            )}
          </div>
          <Field
            label="Time zone"
            name="trigger.time_zone"
            hint="Whose clocks the pattern is about."
            problem={problems.get("trigger.time_zone")}
          >
            <Combobox
              value={draft.zone}
              options={options}
              disabled={readOnly}
              empty="There is no such zone."
              onChange={(zone) => zone !== undefined && onChange({ zone })}
            />
          </Field>
        </div>
      ) : (
        <p className="measure text-sm text-muted">
          It starts when a webhook comes that is signed with its secret. The secret is shown once, when you
          save. What is sent along is told to the agent, and is <code className="font-mono">body</code> in the
          input of a workflow.
        </p>
      )}
    </div>
  );
}
