import { Button } from "../../../ui/button.tsx";
import { CopyIcon, TrashIcon } from "../../../ui/icons.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { refusal } from "../draft/connecting.ts";
import { type Edge, PORT_WORDS, PORTS, type Port, portOf, titleOf } from "../draft/definition.ts";
import { useWorkflowEditor } from "../editor/context.ts";
import { Part } from "./row.tsx";

/** What leads from one node to another, and when. */
export function EdgePanel({
  edge,
  onPort,
  onRemove,
}: {
  edge: Edge;
  onPort(port: Port): void;
  onRemove(): void;
}) {
  const { definition, readOnly, issues } = useWorkflowEditor();
  const source = definition.nodes[edge.from];
  const ports = source === undefined ? [portOf(edge)] : PORTS[source.kind];
  const at = definition.edges?.indexOf(edge) ?? -1;
  const problem = issues.words(`edges[${at}]`);
  return (
    <div className="flex flex-col gap-4">
      <p>
        From <span className="font-medium">{titleOf(edge.from, source)}</span> to{" "}
        <span className="font-medium">{titleOf(edge.to, definition.nodes[edge.to])}</span>
      </p>
      <Part label="When" path={["edges", at]} problem={problem}>
        <SegmentedControl
          aria-label="When"
          value={portOf(edge)}
          disabled={readOnly}
          onChange={onPort}
          options={ports.map((port) => ({
            value: port,
            label: PORT_WORDS[port],
            disabled:
              port !== portOf(edge) &&
              refusal(definition, edge.from, port, edge.to)?.includes("already") === true,
          }))}
        />
      </Part>
      {!readOnly && (
        <Button icon={TrashIcon} className="w-fit" onClick={onRemove}>
          Remove edge
        </Button>
      )}
    </div>
  );
}

export function ManyPanel({
  count,
  onDuplicate,
  onRemove,
  readOnly,
}: {
  count: number;
  onDuplicate(): void;
  onRemove(): void;
  readOnly: boolean;
}) {
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-muted">
        {count} nodes are selected. Drag one to move all of them; Shift and an arrow key do the same.
      </p>
      {!readOnly && (
        <div className="flex gap-2">
          <Button icon={CopyIcon} onClick={onDuplicate}>
            Duplicate {count} nodes
          </Button>
          <Button icon={TrashIcon} onClick={onRemove}>
            Remove {count} nodes
          </Button>
        </div>
      )}
    </div>
  );
}
