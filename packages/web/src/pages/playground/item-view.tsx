import { memo } from "react";
import { AnswerText } from "./answer-text.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { CallCard } from "./call-card.tsx";
import type { Item } from "./items.ts";
import { NoteLine } from "./note-line.tsx";
import { Said } from "./said.tsx";
import type { Tree } from "./transcript.ts";

/** One thing of a run: words, a call, a line about it. Drawn anew only when it changes. */
export const ItemView = memo(
  function ItemView({ item, isOver, tree }: { item: Item; isOver: boolean; tree: Tree | undefined }) {
    switch (item.kind) {
      case "text":
        return (
          <div className="min-w-0">
            <AnswerText text={item.text} />
            {item.partial && <p className="mt-1 text-xs text-faint">Cut off here.</p>}
          </div>
        );
      case "reasoning":
        return (
          <details className="measure text-sm text-muted">
            <summary className="rounded-sm text-xs text-faint hover:text-ink">
              {item.live ? "Thinking" : "Thoughts"}
            </summary>
            <p className="mt-1 border-l-2 border-line pl-3 break-words whitespace-pre-wrap">{item.text}</p>
          </details>
        );
      case "call":
        return <CallCard call={item} isOver={isOver} tree={item.lanes.length > 0 ? tree : undefined} />;
      case "said":
        return (
          <div className="rounded-md bg-panel px-3 py-2">
            <p className="mb-1 text-xs text-faint">Said while it ran</p>
            <Said parts={item.parts} />
          </div>
        );
      case "note":
        return <NoteLine note={item} />;
      case "asked":
        return (
          <div className="rounded-md border border-amber p-3">
            <ApprovalCard asked={item.asked} />
          </div>
        );
    }
  },
  (before, after) =>
    before.item === after.item &&
    before.isOver === after.isOver &&
    // Only lanes show other runs of the tree.
    (before.tree === after.tree || !(after.item.kind === "call" && after.item.lanes.length > 0)),
);
