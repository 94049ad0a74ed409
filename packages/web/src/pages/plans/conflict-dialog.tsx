import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { Time } from "../../ui/time.tsx";
import { contentOf, type Draft, draftOf } from "./draft.ts";
import type { Plan } from "./types.ts";

/** Somebody saved meanwhile. Nothing is lost whatever is chosen: theirs is a version, mine stays here or becomes one. */
export function ConflictDialog({
  theirs,
  mine,
  pending,
  onClose,
  onLoad,
  onSave,
}: {
  theirs: Plan | undefined;
  mine: Draft;
  pending: boolean;
  onClose(): void;
  onLoad(theirs: Plan): void;
  onSave(theirs: Plan): void;
}) {
  return (
    <Dialog
      open={theirs !== undefined}
      onClose={onClose}
      size="large"
      title={theirs && `${theirs.updated_by} saved version ${theirs.version} while you edited`}
      description={
        theirs && (
          <>
            Saved <Time at={theirs.updated_at} className="min-w-0!" />. Below: from theirs to yours. If you
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
        <DiffView label="From theirs to yours" before={contentOf(draftOf(theirs))} after={contentOf(mine)} />
      )}
    </Dialog>
  );
}
