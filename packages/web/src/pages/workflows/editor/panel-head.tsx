import { plural } from "../../../format/number.ts";
import { IconButton } from "../../../ui/button.tsx";
import { CloseIcon } from "../../../ui/icons.tsx";
import { KIND_ICONS } from "../canvas/kind-icons.tsx";
import { type NodeDraft, titleOf } from "../draft/definition.ts";
import { KIND_WORDS } from "../draft/words.ts";

/** What the fields below belong to. */
export function PanelHead({
  node,
  id,
  edges,
  count,
  onClose,
}: {
  node: NodeDraft | undefined;
  id: string | undefined;
  edges: number;
  count: number;
  onClose(): void;
}) {
  const KindIcon = node && KIND_ICONS[node.kind];
  const isAny = count > 0 || edges > 0;
  return (
    <header className="flex min-h-11 shrink-0 items-center gap-2 border-b border-line px-4">
      {KindIcon && <KindIcon className="shrink-0 text-muted" />}
      <h2 className="min-w-0 flex-1 truncate font-semibold">
        {node && id ? (
          <>
            {titleOf(id, node)}{" "}
            <span className="font-normal text-muted">{KIND_WORDS[node.kind].word.toLowerCase()}</span>
          </>
        ) : count > 1 ? (
          plural(count, "node")
        ) : edges > 0 ? (
          "Edge"
        ) : (
          "Workflow"
        )}
      </h2>
      {isAny && <IconButton size="small" icon={CloseIcon} label="Select nothing" onClick={onClose} />}
    </header>
  );
}
