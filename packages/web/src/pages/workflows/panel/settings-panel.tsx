import { useMemo, useState } from "react";
import type { Json, JsonObject } from "trackside/schema";
import { MultiSelect } from "../../../ui/combobox.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { TextArea, TextField } from "../../../ui/text-field.tsx";
import { type AgentDraft, draftOfDefinition, type RailRow } from "../../agents/draft/agent-draft.ts";
import { type Editor, EditorContext } from "../../agents/editor/context.ts";
import { Rails } from "../../agents/editor/rails.tsx";
import type { Definition } from "../draft/definition.ts";
import { ScopeContext, useAt, useWorkflowEditor } from "../editor/context.ts";
import { DurationInput } from "./duration-input.tsx";
import { EntriesInput } from "./entries-input.tsx";
import { JsonInput } from "./json-input.tsx";
import { Part, Row } from "./row.tsx";
import { SchemaInput } from "./schema-input.tsx";

const EVERYTHING = { node: undefined, inMap: false };

/** The workflow itself: what it is called, what it takes, what it comes to, what guards it. */
export function SettingsPanel({ readOnly }: { readOnly: boolean }) {
  const name = useAt(["name"]);
  const description = useAt(["description"]);
  return (
    <ScopeContext value={EVERYTHING}>
      <div className="flex min-w-0 flex-col gap-5">
        <Row path={["name"]} label="Name">
          <TextField
            mono
            spellCheck={false}
            autoComplete="off"
            value={typeof name.value === "string" ? name.value : ""}
            onChange={name.set}
          />
        </Row>
        <Row path={["description"]} label="Description" aside="optional">
          <TextArea
            value={typeof description.value === "string" ? description.value : ""}
            onChange={(next) => description.set(next === "" ? undefined : next)}
            rows={2}
          />
        </Row>
        <SchemaInput
          path={["input"]}
          label="Input"
          hint="What a run is started with, as {{ input.… }}."
          none="Any object is taken."
        />
        <Output />
        <SchemaInput
          path={["output_schema"]}
          label="Output schema"
          hint="A run whose output does not fit it fails."
          none="Anything may come out."
        />
        <GatedTools readOnly={readOnly} />
        <WorkflowRails />
      </div>
    </ScopeContext>
  );
}

/** What the run comes to: the outputs of its last nodes, or something made of them. */
function Output() {
  const { value, set, readOnly } = useAt(["output"]);
  const way =
    value === undefined || value === null
      ? "last"
      : typeof value === "object" && !Array.isArray(value)
        ? "rows"
        : "json";
  const [asJson, setAsJson] = useState(way === "json");
  const shown = way === "last" ? "last" : asJson || way === "json" ? "json" : "rows";
  return (
    <Part label="Output" path={["output"]} hint="What a run comes to.">
      <SegmentedControl
        aria-label="How the output is made"
        value={shown}
        disabled={readOnly}
        onChange={(next) => {
          setAsJson(next === "json");
          if (next === "last") set(undefined);
          else if (way === "last") set({});
        }}
        options={[
          { value: "last", label: "Of the last nodes" },
          { value: "rows", label: "Fields", disabled: way === "json" },
          { value: "json", label: "JSON" },
        ]}
      />
      {shown === "last" && (
        <p className="text-sm text-muted">The outputs of nodes that nothing comes after, by their ids.</p>
      )}
      {shown === "rows" && <EntriesInput path={["output"]} label="Output" add="Add a field" />}
      {shown === "json" && (
        <Row path={["output"]} label="Output as JSON" hideLabel hint="Texts in it may be templates.">
          <JsonInput path={["output"]} placeholder='"{{ nodes.write }}"' />
        </Row>
      )}
    </Part>
  );
}

function GatedTools({ readOnly }: { readOnly: boolean }) {
  const { definition } = useWorkflowEditor();
  const { value, set } = useAt(["hitl_tools"]);
  const timeout = useAt(["hitl_timeout_seconds"]);
  const chosen = Array.isArray(value) ? (value as readonly Json[]).map(String) : [];
  return (
    <>
      <Row
        path={["hitl_tools"]}
        label="Gated tools"
        aside="optional"
        hint="Calls of these by tool nodes wait for a decision."
      >
        <MultiSelect
          mono
          aria-label="Gated tools"
          value={chosen}
          onChange={(next) => set(next.length === 0 ? undefined : next)}
          options={toolsIn(definition).map((name) => ({ value: name, label: name }))}
          placeholder="none"
          disabled={readOnly}
        />
      </Row>
      {chosen.length > 0 && (
        <Row path={["hitl_timeout_seconds"]} label="Time to decide">
          <DurationInput
            label="Time to decide"
            seconds={typeof timeout.value === "number" ? timeout.value : 3600}
            onChange={timeout.set}
            disabled={readOnly}
          />
        </Row>
      )}
    </>
  );
}

/** Of its own nodes: agents have gates of their own. */
function toolsIn({ nodes }: Definition): readonly string[] {
  const used = Object.values(nodes).flatMap((node) => {
    if (node.kind === "tool") return [node.tool];
    return node.kind === "map" && node.do.kind === "tool" ? [node.do.tool] : [];
  });
  return [...new Set(used)].filter((name) => name !== "");
}

const NO_AGENT = draftOfDefinition({ name: "", model: "" });

/** The rail list of the agent editor, on the rails of the workflow. */
function WorkflowRails() {
  const { catalog, issues, readOnly } = useWorkflowEditor();
  const { value, set } = useAt(["rails"]);
  const given = JSON.stringify(value ?? []);
  // Rows keep what is half written in them, and their order while they are moved.
  const [kept, setKept] = useState<{ given: string; rows: readonly RailRow[] }>();
  const rows = useMemo(
    () =>
      kept?.given === given
        ? kept.rows
        : draftOfDefinition({ name: "", model: "", rails: JSON.parse(given) }).rails,
    [given, kept],
  );
  const editor: Editor = {
    draft: { ...NO_AGENT, rails: rows },
    registry: {
      tools: [],
      hooks: [],
      servers: [],
      models: [],
      providers: [],
      agents: [],
      rails: catalog.rails,
    },
    issues,
    readOnly,
    autonomous: false,
    setAutonomous: () => {},
    set: () => {},
    change: ({ rails }: Partial<AgentDraft>) => {
      if (rails === undefined) return;
      const refs = rails.map(({ ref }): JsonObject => ref);
      setKept({ given: JSON.stringify(refs), rows: rails });
      set(refs.length === 0 ? undefined : refs);
    },
  };
  return (
    <EditorContext value={editor}>
      <Part label="Rails" path={["rails"]}>
        <Rails />
      </Part>
    </EditorContext>
  );
}
