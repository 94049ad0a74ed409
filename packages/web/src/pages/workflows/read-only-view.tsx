import { type ReactNode, useMemo } from "react";
import { one, useSearchState } from "../../search.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { useWide } from "../runs/wide.ts";
import { Canvas } from "./canvas/canvas.tsx";
import { type Definition, titleOf } from "./draft/definition.ts";
import { placesOf } from "./draft/layout.ts";
import { KIND_WORDS } from "./draft/words.ts";
import { useFlow } from "./editor/flow-control.ts";
import { NodeList } from "./run/node-list.tsx";

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();
const NOTHING_DONE = () => {};

/** A workflow to look at: an older version, or any on a phone. */
export function ReadOnlyView({
  definition,
  label,
  above,
}: {
  definition: Definition;
  label: string;
  above: ReactNode;
}) {
  const wide = useWide();
  const flow = useFlow();
  const [search, setSearch] = useSearchState();
  const selected = one(search, "node");
  const node = selected === undefined ? undefined : definition.nodes[selected];
  const pick = (id: string) => {
    setSearch({ node: id });
    flow.select({ nodes: [id], edges: [] }, true);
  };
  const scene = useMemo(
    () => ({ definition, places: placesOf(definition), problems: NO_PROBLEMS, runs: undefined }),
    [definition],
  );
  return (
    <>
      {above}
      <div className="flex min-h-0 flex-1 flex-col max-md:overflow-y-auto md:flex-row">
        <div ref={flow.frame} className="relative min-w-0 max-md:h-[30dvh] max-md:shrink-0 md:flex-1">
          <Canvas
            scene={scene}
            label={label}
            readOnly
            small={!wide}
            onSelect={({ nodes: [first] }) =>
              first !== undefined && first !== selected && setSearch({ node: first })
            }
            onMove={NOTHING_DONE}
            onConnect={NOTHING_DONE}
            onConnectToNew={NOTHING_DONE}
            onOpen={pick}
          />
        </div>
        <aside
          aria-label="Nodes"
          className="flex flex-col border-line max-md:border-t md:w-96 md:shrink-0 md:overflow-y-auto md:border-l"
        >
          {node && selected && (
            <section
              aria-label={titleOf(selected, node)}
              className="flex flex-col gap-2 border-b border-line p-4"
            >
              <h2 className="font-semibold">
                {titleOf(selected, node)}{" "}
                <span className="font-normal text-muted">{KIND_WORDS[node.kind].word.toLowerCase()}</span>
              </h2>
              <JsonView value={node} label="Definition of the node" />
            </section>
          )}
          <NodeList definition={definition} runs={undefined} selected={selected} onPick={pick} />
        </aside>
      </div>
    </>
  );
}
