import { useState } from "react";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { KIND_ICONS } from "../canvas/kind-icons.tsx";
import { refusal } from "../draft/connecting.ts";
import {
  type Definition,
  edgesOf,
  PORT_WORDS,
  PORTS,
  type Port,
  portOf,
  titleOf,
} from "../draft/definition.ts";
import type { Graph } from "../draft/graph.ts";
import { summaryOf } from "../draft/words.ts";
import { Picker } from "./picker.tsx";

/** What comes next? Nodes that cannot are listed with the reason. */
export function ConnectPicker({
  from,
  definition,
  graph,
  onConnect,
  onClose,
}: {
  from: string | undefined;
  definition: Definition;
  graph: Graph;
  onConnect(from: string, port: Port, to: string): void;
  onClose(): void;
}) {
  const [chosen, setChosen] = useState<{ from: string; port: Port }>();
  const source = from === undefined ? undefined : definition.nodes[from];
  const ports = source === undefined ? [] : PORTS[source.kind];
  const used = new Set(
    edgesOf(definition)
      .filter((edge) => edge.from === from)
      .map(portOf),
  );
  const free = ports.find((port) => port !== "failed" && !used.has(port));
  const port = chosen?.from === from ? (chosen?.port ?? "out") : (free ?? ports[0] ?? "out");
  const close = () => {
    setChosen(undefined);
    onClose();
  };
  const items =
    from === undefined
      ? []
      : Object.entries(definition.nodes)
          .filter(([id]) => id !== from)
          .map(([id, node]) => ({
            value: id,
            label: titleOf(id, node),
            hint: summaryOf(node),
            icon: KIND_ICONS[node.kind],
            refused: refusal(definition, from, port, id, graph),
            also: node.kind,
          }))
          .sort((a, b) => Number(a.refused !== undefined) - Number(b.refused !== undefined));
  return (
    <Picker
      open={from !== undefined}
      title={`Connect ${from === undefined ? "" : titleOf(from, source)}`}
      description="What comes next?"
      placeholder="The node that comes next"
      items={items}
      above={
        <SegmentedControl
          aria-label="When"
          value={port}
          onChange={(next) => from !== undefined && setChosen({ from, port: next })}
          options={ports.map((value) => ({ value, label: PORT_WORDS[value] }))}
        />
      }
      onPick={(to) => {
        setChosen(undefined);
        if (from !== undefined) onConnect(from, port, to);
      }}
      onClose={close}
    />
  );
}
