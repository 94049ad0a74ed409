import { formatCount } from "../../../format/number.ts";
import { Field } from "../../../ui/field.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { Slider } from "../../../ui/slider.tsx";
import { isText, useEditor, useValue } from "./context.ts";
import { Beside, ChoiceRow, NumberRow } from "./fields.tsx";

type Mode = "off" | "per-message" | "limit";

const LIMIT = /^limit:(\d+)$/;
const USUAL_LIMIT = 80;

export function Context() {
  return (
    <>
      <Budget />
      <Beside>
        <NumberRow
          name="context_window_tokens"
          label="Context window"
          hint="Empty: what is known of the model."
          nullable
          min={1}
          step={1000}
          unit="tokens"
          placeholder="model's"
        />
        <NumberRow
          name="injection_reserve_tokens"
          label="Kept free for injections"
          hint="Room for what hooks and rails add."
          min={0}
          step={500}
          unit="tokens"
          placeholder={formatCount(4000)}
        />
        <NumberRow
          name="offload_above_bytes"
          label="Offload results above"
          hint="Larger tool results become artifacts that the model reads in parts."
          min={0}
          step={1024}
          unit="bytes"
          placeholder={formatCount(32768)}
        />
      </Beside>
    </>
  );
}

function Budget() {
  const { set, draft, readOnly } = useEditor();
  const text = useValue("budget_awareness", isText);
  const limit = text === undefined ? undefined : LIMIT.exec(text)?.[1];
  const mode: Mode = limit !== undefined ? "limit" : text === undefined ? "off" : "per-message";
  const choose = (next: Mode) =>
    set("budget_awareness", next === "off" ? null : next === "limit" ? `limit:${USUAL_LIMIT}` : next);
  const hints: Record<Mode, string> = {
    off: "The agent hears nothing of how full its context is.",
    "per-message": "Every message and tool result says how full the context is.",
    limit:
      "Above this share of the window the conversation is compacted before the next model call; if that is not enough, the run ends and says so.",
  };
  const isOdd =
    draft.fields["budget_awareness"] !== undefined && mode === "per-message" && text !== "per-message";
  return (
    <ChoiceRow name="budget_awareness" label="Budget awareness" hint={isOdd ? `Given: ${text}` : hints[mode]}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <SegmentedControl
          aria-label="Budget awareness"
          value={mode}
          onChange={choose}
          disabled={readOnly}
          options={[
            { value: "off", label: "Off" },
            { value: "per-message", label: "Per message" },
            { value: "limit", label: "Limit" },
          ]}
        />
        {mode === "limit" && (
          <Field label="Limit of the window" hideLabel className="min-w-56 flex-1 sm:max-w-80">
            <Slider
              value={Math.min(100, Number(limit))}
              onChange={(next) => set("budget_awareness", `limit:${next}`)}
              min={0}
              max={100}
              format={(value) => `${value} %`}
            />
          </Field>
        )}
      </div>
    </ChoiceRow>
  );
}
