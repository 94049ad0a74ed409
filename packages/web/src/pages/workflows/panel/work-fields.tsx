import type { JsonObject } from "trackside/schema";
import type { Path } from "../../../forms/path.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import type { NodeDraftOf } from "../draft/definition.ts";
import { useAt, useWorkflowEditor } from "../editor/context.ts";
import { ArgumentsInput } from "./arguments-input.tsx";
import { Row } from "./row.tsx";
import { TemplateInput } from "./template-input.tsx";

type Work = NodeDraftOf<"map">["do"];

/** What is done, of a node or of a map: an agent asked, a tool called, a workflow run. */
export function WorkFields({ path, work }: { path: Path; work: Work }) {
  switch (work.kind) {
    case "agent":
      return <AgentWork path={path} />;
    case "tool":
      return <ToolWork path={path} tool={work.tool} />;
    case "workflow":
      return <WorkflowWork path={path} workflow={work.workflow} />;
  }
}

function AgentWork({ path }: { path: Path }) {
  const { catalog } = useWorkflowEditor();
  return (
    <>
      <NamePicker
        path={[...path, "agent"]}
        label="Agent"
        items={catalog.agents.map(({ name, source }) => ({
          name,
          about: source === "code" ? "in code" : "",
        }))}
        empty="No agent of that name."
      />
      <TextRow
        path={[...path, "prompt"]}
        label="Prompt"
        hint="What it is asked. {{ … }} stands for what the input and nodes before it give."
        multiline
      />
    </>
  );
}

function ToolWork({ path, tool }: { path: Path; tool: string }) {
  const { catalog } = useWorkflowEditor();
  const known = catalog.tools.find(({ name }) => name === tool);
  return (
    <>
      <NamePicker
        path={[...path, "tool"]}
        label="Tool"
        items={catalog.tools.map(({ name, description }) => ({ name, about: description }))}
        empty="No tool of that name."
      />
      {known?.irreversible && (
        <p className="-mt-2 text-xs text-muted">
          What it does cannot be taken back: an approval before it is wise.
        </p>
      )}
      <ArgumentsInput
        key={tool}
        path={[...path, "arguments"]}
        label="Arguments"
        schema={known?.input_schema as JsonObject | undefined} // JSON Schema is JSON
      />
    </>
  );
}

function WorkflowWork({ path, workflow }: { path: Path; workflow: string }) {
  const { catalog } = useWorkflowEditor();
  const known = catalog.workflows.find(({ name }) => name === workflow);
  return (
    <>
      <NamePicker
        path={[...path, "workflow"]}
        label="Workflow"
        items={catalog.workflows.map(({ name, description }) => ({ name, about: description }))}
        empty="No workflow of that name."
      />
      <ArgumentsInput
        key={workflow}
        path={[...path, "input"]}
        label="Input"
        schema={(known?.input ?? undefined) as JsonObject | undefined} // JSON Schema is JSON
      />
    </>
  );
}

function NamePicker({
  path,
  label,
  items,
  empty,
}: {
  path: Path;
  label: string;
  items: readonly { readonly name: string; readonly about: string }[];
  empty: string;
}) {
  const { value, set, readOnly } = useAt(path);
  return (
    <Row path={path} label={label}>
      <Combobox
        mono
        aria-label={label}
        value={typeof value === "string" && value !== "" ? value : undefined}
        onChange={(next) => set(next ?? "")}
        options={items.map(({ name, about }) => ({
          value: name,
          label: name,
          ...(about && { hint: about }),
        }))}
        placeholder={`Choose ${/^[AEIOU]/.test(label) ? "an" : "a"} ${label.toLowerCase()}`}
        empty={empty}
        disabled={readOnly}
      />
    </Row>
  );
}

/** A text that may be a template. */
export function TextRow({
  path,
  label,
  hint,
  multiline = false,
  placeholder,
}: {
  path: Path;
  label: string;
  hint?: string;
  multiline?: boolean;
  placeholder?: string;
}) {
  const { value, set, readOnly } = useAt(path);
  return (
    <Row path={path} label={label} hint={hint}>
      <TemplateInput
        value={typeof value === "string" ? value : ""}
        onChange={set}
        multiline={multiline}
        disabled={readOnly}
        {...(placeholder !== undefined && { placeholder })}
      />
    </Row>
  );
}
