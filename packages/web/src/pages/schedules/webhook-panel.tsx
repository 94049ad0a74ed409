import { useState } from "react";
import { client } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import type { SavedSchedule, Schedule } from "./schedule.ts";
import { signedCurl } from "./signed-curl.ts";

/** Where webhooks go, how they are signed, and a new secret. */
export function WebhookPanel({
  schedule,
  may,
  onSecret,
}: {
  schedule: Schedule;
  may: boolean;
  onSecret(saved: SavedSchedule): void;
}) {
  const [asking, setAsking] = useState(false);
  const { id, name, webhook_url } = schedule;
  if (webhook_url === null) return null;
  return (
    <section aria-label="Webhook" className="flex min-w-0 max-w-180 flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">Webhook</h2>
        {may && (
          <Button size="small" onClick={() => setAsking(true)}>
            Make a new secret
          </Button>
        )}
      </div>
      <CodeBlock label="Address" code={webhook_url} wrap className="break-all" />
      <p className="measure text-sm text-muted">
        Sign the time and the body with the secret (HMAC-SHA256), as below. The same{" "}
        <code className="font-mono">trackside-event-id</code> again starts nothing new; a signature counts for
        five minutes.
      </p>
      <CodeBlock label="Example" code={signedCurl(webhook_url)} />
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Make a new secret for ${name}?`}
        description="The old secret ends at once: senders that still use it are refused until they have the new one."
        action="Make a new secret"
        danger
        onConfirm={async () => onSecret(await client.rotateScheduleSecret({ params: { id }, body: {} }))}
      />
    </section>
  );
}
