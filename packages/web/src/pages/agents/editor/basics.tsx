import { Field } from "../../../ui/field.tsx";
import { CloseIcon, PlusIcon } from "../../../ui/icons.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { TextArea, TextField } from "../../../ui/text-field.tsx";
import { isNames, isText, useEditor, useValue } from "./context.ts";
import { Beside, EditButton, EditIconButton, NumberRow, Row } from "./fields.tsx";
import { KeyHintFor, ModelInput } from "./model-input.tsx";

export function Basics() {
  const { set, autonomous, setAutonomous } = useEditor();
  const name = useValue("name", isText) ?? "";
  const model = useValue("model", isText) ?? "";
  return (
    <>
      <Beside>
        <Row name="name" label="Name" hint="How it is called in the API, in links and by other agents.">
          <TextField
            mono
            value={name}
            onChange={(next) => set("name", next)}
            spellCheck={false}
            autoComplete="off"
          />
        </Row>
        <Row name="model" label="Model" hint={<KeyHintFor models={[model]} />}>
          <ModelInput value={model} onChange={(next) => set("model", next)} />
        </Row>
      </Beside>
      <Fallbacks />
      <Row name="instructions" label="Instructions" aside="the system prompt">
        <TextArea
          rows={5}
          value={useValue("instructions", isText) ?? ""}
          onChange={(next) => set("instructions", next)}
          placeholder="What it is for, how it should work, what it must not do."
        />
      </Row>
      <div className="grid gap-4 sm:grid-cols-3">
        <NumberRow
          name="max_steps"
          label="Most steps"
          hint="Model calls in one turn."
          min={1}
          placeholder="20"
        />
        <NumberRow
          name="temperature"
          label="Temperature"
          hint="Empty: the model's own."
          nullable
          min={0}
          step={0.1}
          placeholder="model's own"
        />
        <NumberRow
          name="max_tokens"
          label="Most tokens"
          hint="Of one answer. Empty: the model's own."
          nullable
          min={1}
          step={256}
          placeholder="model's own"
        />
      </div>
      <Field
        inline
        name="autonomous_mode"
        label="Works its plan by itself"
        hint="Autonomous mode. Kept beside the definition, so it is not in the export."
      >
        <Switch checked={autonomous} onChange={setAutonomous} />
      </Field>
    </>
  );
}

/** Models that are asked in turn when the first one fails. */
function Fallbacks() {
  const { set, issues } = useEditor();
  const models = useValue("fallback_models", isNames) ?? [];
  const change = (next: readonly string[]) => set("fallback_models", next);
  return (
    <Row
      name="fallback_models"
      label="Fallback models"
      aside="in this order"
      hint={models.length > 0 ? <KeyHintFor models={models} /> : "Asked when the model fails. None yet."}
    >
      {models.map((model, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a model of the list goes by its place
        <div key={at} className="flex items-center gap-1" data-field={`fallback_models[${at}]`}>
          <span className="w-5 shrink-0 text-right text-xs text-faint">{at + 1}</span>
          <Field label={`Fallback model ${at + 1}`} hideLabel className="flex-1">
            <ModelInput value={model} onChange={(next) => change(models.with(at, next))} />
          </Field>
          <EditIconButton
            icon={CloseIcon}
            label={`Remove fallback model ${at + 1}`}
            onClick={() => change(models.toSpliced(at, 1))}
          />
        </div>
      ))}
      <EditButton
        size="small"
        kind="quiet"
        icon={PlusIcon}
        className="w-fit"
        disabled={issues.at("fallback_models").length > 0 && models.at(-1) === ""}
        onClick={() => change([...models, ""])}
      >
        Add a fallback model
      </EditButton>
    </Row>
  );
}
