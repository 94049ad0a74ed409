import { Button } from "../../../ui/button.tsx";
import { PlusIcon } from "../../../ui/icons.tsx";
import { KeyHint } from "../../../ui/key-hint.tsx";

/** What this is, and one button. */
export function EmptyCanvas({ onAdd }: { onAdd: (() => void) | undefined }) {
  return (
    <div className="pointer-events-none absolute inset-0 grid place-items-center p-4">
      <div className="pointer-events-auto flex max-w-80 flex-col items-center gap-3 text-center">
        <p className="text-muted">
          A workflow is made of nodes: agents, tools, conditions, approvals. What is not connected runs at the
          same time.
        </p>
        {onAdd && (
          <Button kind="primary" icon={PlusIcon} onClick={onAdd}>
            Add the first node
            <span className="ml-2 [&_kbd]:border-transparent [&_kbd]:bg-transparent [&_kbd]:text-on-accent">
              <KeyHint keys="a" />
            </span>
          </Button>
        )}
      </div>
    </div>
  );
}
