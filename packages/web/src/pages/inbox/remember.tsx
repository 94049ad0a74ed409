import { Field } from "../../ui/field.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { Select } from "../../ui/select.tsx";
import { Switch } from "../../ui/switch.tsx";
import type { Detail } from "./approval.ts";
import { type Remember, ruleWords, scopeChoices } from "./rule-words.ts";

const HOUR = 3_600_000;
const LASTS = [
  { value: "0", label: "Until it is revoked" },
  { value: String(HOUR), label: "For 1 hour" },
  { value: String(24 * HOUR), label: "For 24 hours" },
  { value: String(7 * 24 * HOUR), label: "For 7 days" },
] as const;

export interface Remembering extends Remember {
  /** Which of the stretches was chosen; `until` is counted from then. */
  lasts: string;
}

/** The rule in words, exactly as it will be made. */
export function rememberedWords(
  effect: "approve" | "reject",
  { tool, run }: Detail,
  remember: Remember,
): string {
  return ruleWords(effect, { tool: tool ?? "", agent: run.agent, scope: run.scope }, remember);
}

/** "Always decide this so". The exact rule stands beside the buttons before it is made. */
export function RememberField({
  detail,
  value,
  onChange,
  edited,
}: {
  detail: Detail;
  value: Remembering | undefined;
  onChange(value: Remembering | undefined): void;
  edited: boolean;
}) {
  const scopes = scopeChoices(detail.run.scope);
  return (
    <div className="rounded-md border border-line p-3">
      <Field
        label="Remember this decision"
        inline
        disabled={edited}
        hint={
          edited
            ? "Not with changes: calls like this one would run unedited. Decide without one of the two."
            : value === undefined && "Calls like this one are then decided the same way, without asking."
        }
      >
        <Switch
          checked={value !== undefined && !edited}
          disabled={edited}
          onChange={(on) =>
            onChange(on ? { match: "exact-arguments", until: null, scope_keys: [], lasts: "0" } : undefined)
          }
        />
      </Field>
      {value !== undefined && !edited && (
        <div className="mt-2 flex flex-col gap-3">
          <div className="flex flex-wrap gap-3">
            <SegmentedControl
              aria-label="Which calls"
              value={value.match}
              onChange={(match) => onChange({ ...value, match })}
              options={[
                { value: "exact-arguments", label: "These arguments" },
                { value: "tool", label: "Every call" },
              ]}
            />
            <Select
              aria-label="For how long"
              value={value.lasts}
              onChange={(lasts) =>
                onChange({ ...value, lasts, until: lasts === "0" ? null : Date.now() + Number(lasts) })
              }
              options={LASTS}
              className="max-w-52"
            />
          </div>
          {scopes.map(({ key, label }) => (
            <Field key={key} label={`Only for ${label}`} inline>
              <Switch
                checked={value.scope_keys.includes(key)}
                onChange={(on) =>
                  onChange({
                    ...value,
                    scope_keys: on
                      ? [...value.scope_keys, key]
                      : value.scope_keys.filter((other) => other !== key),
                  })
                }
              />
            </Field>
          ))}
          <p className="measure text-xs text-muted">
            The rule stands beside the buttons, in full. A tool whose schemas changed, or a reason that nobody
            was asked about before, still asks.
          </p>
        </div>
      )}
    </div>
  );
}
