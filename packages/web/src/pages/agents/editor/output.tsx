import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { TextArea } from "../../../ui/text-field.tsx";
import { readJsonObject } from "../draft/agent-draft.ts";
import { isText, useEditor, useValue } from "./context.ts";
import { ChoiceRow, EditButton, FlagRow, NumberRow, Row } from "./fields.tsx";

const RELEASES = {
  auto: "Text streams as it is written, unless a rail has to see it whole.",
  live: "Text streams as it is written, whatever rails say of it later.",
  after_rails: "Text is shown once the rails have passed it.",
};

export function Output() {
  const { draft, set, change, readOnly } = useEditor();
  const release = useValue("stream_release", isText) ?? "auto";
  const isKnown = release in RELEASES;
  const read = readJsonObject(draft.outputSchema);
  return (
    <>
      <Row
        name="output_schema"
        label="Output schema"
        aside={
          draft.outputSchema.trim() === "" ? (
            "optional"
          ) : "problem" in read ? (
            "no JSON yet"
          ) : (
            <EditButton
              size="small"
              kind="quiet"
              disabled={readOnly}
              onClick={() => change({ outputSchema: JSON.stringify(read.value, null, 2) }, "output_schema")}
            >
              Format
            </EditButton>
          )
        }
        hint="JSON Schema of the final answer. An answer that does not fit gets one more try; children do not inherit it."
      >
        <TextArea
          mono
          rows={3}
          spellCheck={false}
          value={draft.outputSchema}
          onChange={(outputSchema) => change({ outputSchema }, "output_schema")}
          placeholder='{ "type": "object", "properties": { "summary": { "type": "string" } }, "required": ["summary"] }'
        />
      </Row>
      <ChoiceRow
        name="stream_release"
        label="Streamed text"
        hint={isKnown ? RELEASES[release as keyof typeof RELEASES] : `Given: ${release}`} // its keys are known
      >
        <SegmentedControl
          aria-label="Streamed text"
          value={release}
          onChange={(next) => set("stream_release", next)}
          disabled={readOnly}
          options={[
            { value: "auto", label: "Auto" },
            { value: "live", label: "Live" },
            { value: "after_rails", label: "After rails" },
          ]}
        />
      </ChoiceRow>
      <NumberRow
        name="max_regenerations"
        label="Most regenerations"
        hint="How often rails and hooks may ask for another answer in one turn."
        min={0}
        placeholder="2"
      />
      <FlagRow
        name="audit_transient"
        label="Keep what is transient"
        hint="Notes that hooks add for one model call are kept, so that requests can be shown as they were sent."
      />
    </>
  );
}
