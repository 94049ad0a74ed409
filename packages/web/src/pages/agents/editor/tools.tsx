import { MultiSelect } from "../../../ui/combobox.tsx";
import { Field } from "../../../ui/field.tsx";
import { NumberField } from "../../../ui/number-field.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { Switch } from "../../../ui/switch.tsx";
import type { AgentDraft } from "../draft/agent-draft.ts";
import { isNames, isNumber, type Registry, useEditor, useValue } from "./context.ts";
import { ChoiceRow, FlagRow, Row } from "./fields.tsx";

export function Tools() {
  const { set, registry, readOnly } = useEditor();
  const listed = useValue("tools", isNames);
  const known = new Set(registry.tools.map(({ name }) => name));
  return (
    <>
      <ChoiceRow
        name="tools"
        label="Tools"
        hint={
          listed === undefined
            ? "The definition names none. The host gives it the registered tools that are gated below."
            : "The agent has these and no others, beside those that are switched on under Sub-agents and MCP servers."
        }
      >
        <SegmentedControl
          aria-label="How tools are given"
          value={listed === undefined ? "loader" : "listed"}
          onChange={(next) => set("tools", next === "loader" ? undefined : [])}
          disabled={readOnly}
          options={[
            { value: "loader", label: "Bound by the loader" },
            { value: "listed", label: "Listed here" },
          ]}
        />
        {listed !== undefined && (
          <MultiSelect
            mono
            aria-label="Tools"
            value={listed}
            onChange={(next) => set("tools", next)}
            options={registry.tools.map(toolOption)}
            placeholder="Choose tools"
            empty="No tool of that name is registered."
            disabled={readOnly}
            isOrphan={(name) => !known.has(name)}
          />
        )}
      </ChoiceRow>
      <Gated listed={listed} />
      <Timeout />
      <FlagRow
        name="emit_mcp_progress"
        label="Show progress of MCP tools"
        aside="display only"
        hint="Off hides the progress; the tools run the same."
      />
    </>
  );
}

function toolOption({ name, description, irreversible }: Registry["tools"][number]) {
  const text = irreversible ? `Irreversible. ${description}` : description;
  return { value: name, label: name, hint: text.length > 120 ? `${text.slice(0, 119)}…` : text };
}

/** Tools that may be gated: those of the agent. With none listed, those that are registered (A1). */
export function gateable(
  draft: AgentDraft,
  registry: Registry,
  listed: readonly string[] | undefined,
): string[] {
  const own = listed ?? registry.tools.map(({ name }) => name);
  const { allow_self_spawn, allow_parallel_subagents, handoffs } = draft.fields;
  return [
    ...own,
    ...(allow_self_spawn === true ? ["spawn_self"] : []),
    ...(allow_parallel_subagents === true ? ["spawn_parallel"] : []),
    ...(Array.isArray(handoffs) ? handoffs.map((name) => `handoff_to_${name}`) : []),
  ];
}

function Gated({ listed }: { listed: readonly string[] | undefined }) {
  const { draft, set, registry, readOnly } = useEditor();
  const gated = useValue("hitl_tools", isNames) ?? [];
  const names = gateable(draft, registry, listed);
  const about = new Map(registry.tools.map((tool) => [tool.name, toolOption(tool)]));
  const servers = draft.servers.map(({ ref }) => `mcp__${ref["name"]}__`);
  const isOrphan = (name: string) =>
    !names.includes(name) && name !== "read_artifact" && !servers.some((prefix) => name.startsWith(prefix));
  return (
    <Row
      name="hitl_tools"
      label="Gated tools"
      aside={gated.length > 0 && `${gated.length} of ${names.length}`}
      hint="A call of one of these waits until someone approves it."
    >
      <MultiSelect
        mono
        aria-label="Gated tools"
        value={gated}
        onChange={(next) => set("hitl_tools", next)}
        options={names.map((name) => about.get(name) ?? { value: name, label: name })}
        placeholder="Choose tools that need an approval"
        empty="The agent has no such tool."
        disabled={readOnly}
        isOrphan={isOrphan}
      />
    </Row>
  );
}

const USUAL_SECONDS = 3600;

function Timeout() {
  const { draft, set, readOnly } = useEditor();
  const seconds = useValue("hitl_timeout_seconds", isNumber);
  const waits = draft.fields["hitl_timeout_seconds"] === null;
  return (
    <Row
      name="hitl_timeout_seconds"
      label="Waits for a decision"
      hint={
        waits ? "Until someone decides." : "After that the call counts as timed out, and the agent is told."
      }
    >
      <div className="flex flex-wrap items-center gap-3">
        <NumberField
          value={waits ? undefined : seconds}
          onChange={(next) => set("hitl_timeout_seconds", next)}
          min={1}
          step={60}
          unit="s"
          disabled={waits || readOnly}
          placeholder={waits ? "for ever" : String(USUAL_SECONDS)}
        />
        <Field label="For ever" inline>
          <Switch
            checked={waits}
            onChange={(on) => set("hitl_timeout_seconds", on ? null : undefined)}
            disabled={readOnly}
          />
        </Field>
      </div>
    </Row>
  );
}
