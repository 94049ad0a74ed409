import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OnceShown } from "../settings/once-shown.tsx";
import type { SavedSchedule } from "./schedule.ts";
import { signedCurl } from "./signed-curl.ts";

/** The secret of a webhook, the one time it is there, with a command that uses it. */
export function SecretDialog({ saved, onClose }: { saved: SavedSchedule | undefined; onClose(): void }) {
  const { name, secret, webhook_url } = saved ?? {};
  return (
    <Dialog
      open={secret !== undefined}
      onClose={onClose}
      size="large"
      title={`The secret of ${name ?? "the webhook"}`}
      actions={<Button onClick={onClose}>Done</Button>}
    >
      {secret !== undefined && (
        <div className="flex flex-col gap-3">
          <OnceShown label="Secret" secret={secret}>
            Copy it now: it is not shown again. Whoever has it can start this schedule.
          </OnceShown>
          <p className="text-sm text-muted">Signed and sent from a shell:</p>
          <CodeBlock label="Example" code={signedCurl(webhook_url ?? "", secret)} />
        </div>
      )}
    </Dialog>
  );
}
