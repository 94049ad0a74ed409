import type { Answer } from "@trackside/server/client";
import type { JsonObject } from "trackside/schema";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { DiffView } from "../../../ui/diff-view.tsx";
import { Time } from "../../../ui/time.tsx";

export type AgentRecord = Omit<Answer<"getAgent">, "last_run" | "error_rate" | "pending_approvals">;

/** Somebody saved meanwhile. Nothing is lost whatever is chosen: theirs is a version, mine stays in the form or becomes one. */
export function ConflictDialog({
  theirs,
  mine,
  autonomous,
  pending,
  onClose,
  onLoad,
  onSave,
}: {
  theirs: AgentRecord | undefined;
  mine: JsonObject;
  autonomous: boolean;
  pending: boolean;
  onClose(): void;
  onLoad(theirs: AgentRecord): void;
  onSave(theirs: AgentRecord): void;
}) {
  return (
    <Dialog
      open={theirs !== undefined}
      onClose={onClose}
      size="large"
      title={theirs && `${theirs.updated_by ?? "Someone"} saved version ${theirs.version} while you edited`}
      description={
        theirs && (
          <>
            Saved <Time at={theirs.updated_at} className="min-w-0" />. Below: from theirs to yours. If you
            save yours over it, theirs stays in the versions.
          </>
        )
      }
      actions={
        theirs && (
          <>
            <Button onClick={onClose}>Keep editing</Button>
            <Button onClick={() => onLoad(theirs)}>Load theirs</Button>
            <Button kind="primary" pending={pending} onClick={() => onSave(theirs)}>
              Save mine over it
            </Button>
          </>
        )
      }
    >
      {theirs && (
        <DiffView
          label="From theirs to yours"
          before={comparable(theirs.definition, theirs.autonomous_mode)}
          after={comparable(mine, autonomous)}
        />
      )}
    </Dialog>
  );
}

/** The mode stands beside the definition (W1), and still counts as a change. */
export function comparable(definition: Record<string, unknown>, autonomous_mode: boolean): unknown {
  return autonomous_mode ? { ...definition, autonomous_mode } : definition;
}
