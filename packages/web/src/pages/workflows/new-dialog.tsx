import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { plural } from "../../format/number.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import type { Definition } from "./draft/definition.ts";
import { Sketch } from "./sketch.tsx";
import { templatesQuery } from "./templates.ts";

const CARD =
  "flex min-w-0 flex-col items-start gap-1 rounded-lg border border-line bg-canvas p-3 text-left hover:border-control hover:bg-panel";

/** Blank, or from something that already works. */
export function NewDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const navigate = useNavigate();
  const templates = useQuery({ ...templatesQuery, enabled: open });
  const begin = (template?: string) => {
    onClose();
    void navigate({ to: "/workflows/new", search: (template ? { template } : {}) as never }); // every route reads a plain search
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="large"
      title="New workflow"
      description="Begin with nothing, or with one of these and change what you like."
    >
      <div className="grid gap-3 pb-2 sm:grid-cols-2">
        <button type="button" className={CARD} onClick={() => begin()}>
          <span className="grid h-20 w-full place-items-center rounded-md border border-dashed border-control text-muted">
            <PlusIcon width={20} height={20} />
          </span>
          <span className="font-medium">Blank</span>
          <span className="text-sm text-muted">An empty canvas.</span>
        </button>
        <QueryState query={templates} what="Templates">
          {({ items }) =>
            items.map(({ id, title, description, definition }) => {
              const shown = definition as Definition; // the server's own, checked there
              return (
                <button key={id} type="button" className={CARD} onClick={() => begin(id)}>
                  <Sketch definition={shown} className="h-20 w-full rounded-md bg-panel" />
                  <span className="font-medium">{title}</span>
                  <span className="text-sm text-muted">{description}</span>
                  <span className="text-xs text-faint">
                    {plural(Object.keys(shown.nodes).length, "node")}
                  </span>
                </button>
              );
            })
          }
        </QueryState>
      </div>
    </Dialog>
  );
}
