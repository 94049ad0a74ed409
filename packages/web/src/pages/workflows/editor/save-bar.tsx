import { plural } from "../../../format/number.ts";
import { Button } from "../../../ui/button.tsx";
import { cx } from "../../../ui/class-names.ts";
import { TextField } from "../../../ui/text-field.tsx";

/** How far the draft is from what is saved, and the way there. */
export function SaveBar(props: {
  note: string;
  setNote(note: string): void;
  dirty: boolean;
  isNew: boolean;
  problems: number;
  pending: boolean;
  onDiscard(): void;
  onSave(): void;
}) {
  const { note, setNote, dirty, isNew, problems, pending, onDiscard, onSave } = props;
  const words =
    problems > 0 && dirty
      ? plural(problems, "problem")
      : dirty
        ? isNew
          ? "Not saved yet"
          : "Unsaved changes"
        : isNew
          ? "Nothing to save yet"
          : "Everything is saved";
  return (
    <footer className="flex shrink-0 flex-col gap-2 border-t border-line px-4 py-2">
      {dirty && (
        <TextField
          aria-label="Note for the version"
          placeholder="Note: what changed and why"
          value={note}
          onChange={setNote}
          maxLength={500}
        />
      )}
      <div className="flex items-center gap-2">
        <p
          aria-live="polite"
          className={cx("mr-auto text-sm", problems > 0 && dirty ? "text-red" : "text-muted")}
        >
          {words}
        </p>
        {dirty && !isNew && (
          <Button kind="quiet" onClick={onDiscard}>
            Discard
          </Button>
        )}
        <Button kind="primary" pending={pending} onClick={onSave}>
          {isNew ? "Create workflow" : "Save workflow"}
        </Button>
      </div>
    </footer>
  );
}
