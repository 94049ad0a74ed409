import { MultiSelect } from "../../../ui/combobox.tsx";
import { Slider } from "../../../ui/slider.tsx";
import { isFlag, isNames, isNumber, useEditor, useValue } from "./context.ts";
import { FlagRow, Row } from "./fields.tsx";

export function SubAgents() {
  const { set, registry, draft, issues } = useEditor();
  const parallel = useValue("allow_parallel_subagents", isFlag) ?? false;
  const most = useValue("max_parallel_subagents", isNumber);
  const isWrong = issues.at("max_parallel_subagents").length > 0;
  return (
    <>
      <FlagRow
        name="allow_self_spawn"
        label="May start a copy of itself"
        hint="Gives it the tool spawn_self: one sub-agent with a task of its own."
      />
      <FlagRow
        name="allow_parallel_subagents"
        label="Parallel sub-agents"
        hint="Gives it a tool that starts several sub-agents at once."
      />
      {(parallel || isWrong) && (
        <Row name="max_parallel_subagents" label="Most at once" hint="In one call, 1 to 7.">
          <div className="sm:max-w-80">
            <Slider
              aria-label="Most sub-agents at once"
              value={Math.min(7, Math.max(1, most ?? 3))}
              onChange={(next) => set("max_parallel_subagents", next)}
              min={1}
              max={7}
              format={(value) => `${value} at once`}
            />
          </div>
        </Row>
      )}
      <Handoffs others={registry.agents.filter((name) => name !== draft.fields["name"])} />
    </>
  );
}

function Handoffs({ others }: { others: readonly string[] }) {
  const { set, readOnly } = useEditor();
  const value = useValue("handoffs", isNames) ?? [];
  return (
    <Row
      name="handoffs"
      label="May hand the turn to"
      hint="Agents that take over the conversation when asked to."
    >
      <MultiSelect
        mono
        value={value}
        onChange={(next) => set("handoffs", next)}
        options={others.map((name) => ({ value: name, label: name }))}
        placeholder="Choose agents"
        empty="There is no other agent."
        disabled={readOnly}
        isOrphan={(name) => !others.includes(name)}
      />
    </Row>
  );
}
