import { useListedKeys } from "../keys/use-keys.ts";
import { Dialog } from "../ui/dialog.tsx";
import { KeyHint } from "../ui/key-hint.tsx";

/** The keys of this page, then those that work everywhere. */
export function KeysDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const groups = useListedKeys().filter((group) =>
    group.bindings.some((binding) => binding.enabled !== false),
  );
  return (
    <Dialog open={open} onClose={onClose} title="Keys of this page" size="normal">
      <div className="flex flex-col gap-4">
        {groups.map(({ scope, bindings }) => (
          <section key={scope}>
            <h3 className="mb-1 text-xs font-medium text-muted">{scope}</h3>
            <dl>
              {bindings
                .filter((binding) => binding.enabled !== false)
                .map(({ keys, what }) => (
                  <div
                    key={keys}
                    className="flex min-h-8 items-center justify-between gap-4 border-t border-line"
                  >
                    <dt>{what}</dt>
                    <dd>
                      <KeyHint keys={keys} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
