import { cx } from "../../../ui/class-names.ts";
import { KIND_ICONS } from "../canvas/kind-icons.tsx";
import { NodeStateBadge, TimeAndCost } from "../canvas/node-state.tsx";
import { type Definition, titleOf } from "../draft/definition.ts";
import { placesOf } from "../draft/layout.ts";
import { summaryOf } from "../draft/words.ts";
import type { NodeRuns } from "./node-run.ts";

/** The nodes as a list, in the order they stand from left to right: for thumbs, and for those who do not see the canvas. */
export function NodeList({
  definition,
  runs,
  selected,
  onPick,
  className,
}: {
  definition: Definition;
  runs: NodeRuns | undefined;
  selected: string | undefined;
  onPick(id: string): void;
  className?: string;
}) {
  const places = placesOf(definition);
  const at = (id: string) => places[id] ?? { x: 0, y: 0 };
  const ordered = Object.entries(definition.nodes).sort(([a], [b]) => at(a).x - at(b).x || at(a).y - at(b).y);
  return (
    <nav aria-label="Nodes" className={className}>
      <ul>
        {ordered.map(([id, node]) => {
          const KindIcon = KIND_ICONS[node.kind];
          const run = runs?.get(id);
          return (
            <li key={id} className="border-b border-line last:border-b-0">
              <button
                type="button"
                aria-current={id === selected ? "true" : undefined}
                onClick={() => onPick(id)}
                className={cx(
                  "flex min-h-9 w-full items-center gap-2 px-4 py-1 text-left -outline-offset-2 hover:bg-panel coarse:min-h-12",
                  id === selected && "bg-accent-soft shadow-[inset_2px_0_0_var(--accent)]",
                )}
              >
                <KindIcon className="shrink-0 text-muted" />
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{titleOf(id, node)}</span>
                  {run === undefined && (
                    <span className="block truncate text-xs text-muted">{summaryOf(node)}</span>
                  )}
                </span>
                {run && (
                  <span className="flex shrink-0 items-center gap-2 text-xs text-muted">
                    <TimeAndCost run={run} />
                    <NodeStateBadge run={run} />
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
