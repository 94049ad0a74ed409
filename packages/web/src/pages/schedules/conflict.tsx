import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Time } from "../../ui/time.tsx";
import type { Schedule } from "./schedule.ts";

/** Somebody saved meanwhile. */
export function Conflict({
  theirs,
  pending,
  onClose,
  onLoad,
  onSave,
}: {
  theirs: Schedule | undefined;
  pending: boolean;
  onClose(): void;
  onLoad(theirs: Schedule): void;
  onSave(theirs: Schedule): void;
}) {
  return (
    <Dialog
      open={theirs !== undefined}
      onClose={onClose}
      title={theirs && `${theirs.updated_by} saved version ${theirs.version} while you edited`}
      description={
        theirs && (
          <>
            Saved <Time at={theirs.updated_at} className="min-w-0" />. Saving yours takes its place; loading
            theirs drops your changes.
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
    />
  );
}
