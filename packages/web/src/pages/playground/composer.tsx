import { type ClipboardEvent, type DragEvent, useRef, useState } from "react";
import type { UserPart } from "trackside/schema";
import { formatBytes } from "../../format/number.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { CloseIcon, PlusIcon, SendIcon, StopIcon } from "../../ui/icons.tsx";
import { TextArea } from "../../ui/text-field.tsx";
import { type Attachment, attachmentProblem, partsOf, readFiles } from "./attachments.ts";

export interface ComposerProps {
  agent: string;
  /** What stands in the box at first. */
  initial: string;
  /** A run is under way: the same box steers it. */
  isRunning: boolean;
  /** Why nothing can be sent. */
  closed?: string | undefined;
  isSending: boolean;
  isStopping: boolean;
  /** Resolves once the words have arrived; until then they stay in the box. */
  onSend(parts: UserPart[]): Promise<boolean>;
  onStop(): void;
}

/** Where one writes. Enter sends, Shift+Enter begins a new line. */
export function Composer({
  agent,
  initial,
  isRunning,
  closed,
  isSending,
  isStopping,
  onSend,
  onStop,
}: ComposerProps) {
  const [text, setText] = useState(initial);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [problem, setProblem] = useState<string>();
  const [isOver, setIsOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const isEmpty = text.trim() === "" && files.length === 0;

  const add = async (given: readonly File[]) => {
    const wrong = attachmentProblem(
      files,
      given.map(({ name, size }) => ({ name, size })),
    );
    setProblem(wrong);
    if (wrong !== undefined || given.length === 0) return;
    const read = await readFiles(given).catch(() => undefined);
    if (read === undefined) setProblem("The file could not be read.");
    else setFiles((before) => [...before, ...read.filter(({ id }) => !before.some((one) => one.id === id))]);
  };
  const send = async () => {
    if (isEmpty || closed !== undefined || isSending) return;
    const sent = { text, files };
    if (!(await onSend(partsOf(text.trim(), files)))) return;
    // What was typed meanwhile stays.
    setText((now) => (now === sent.text ? "" : now));
    setFiles((now) => (now === sent.files ? [] : now));
    setProblem(undefined);
    field.current?.focus();
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    void add(pasted);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void add([...event.dataTransfer.files]);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
      className={cx("rounded-md", isOver && "outline-2 outline-accent")}
    >
      {files.length > 0 && (
        <ul aria-label="Files of this message" className="mb-2 flex flex-wrap gap-2">
          {files.map(({ id, name, bytes }) => (
            <li
              key={id}
              className="flex h-7 max-w-full items-center gap-1 rounded-md border border-line pl-2 text-sm"
            >
              <span className="truncate">{name}</span>
              <span className="text-xs whitespace-nowrap text-faint">{formatBytes(bytes)}</span>
              <IconButton
                size="small"
                icon={CloseIcon}
                label={`Remove ${name}`}
                onClick={() => setFiles(files.filter((one) => one.id !== id))}
              />
            </li>
          ))}
        </ul>
      )}
      {problem && (
        <p role="alert" className="mb-1 text-sm text-red">
          {problem}
        </p>
      )}
      <div className="flex items-end gap-2">
        <IconButton
          icon={PlusIcon}
          label="Add files"
          disabled={closed !== undefined}
          onClick={() => picker.current?.click()}
          type="button"
        />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          tabIndex={-1}
          aria-hidden="true"
          onChange={(event) => {
            void add([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <TextArea
          ref={field}
          aria-label={isRunning ? `Steer ${agent}` : `Message to ${agent}`}
          data-composer=""
          rows={1}
          value={text}
          onChange={setText}
          disabled={closed !== undefined}
          placeholder={closed ?? (isRunning ? `Steer ${agent}` : `Message ${agent}`)}
          onPaste={onPaste}
          enterKeyHint="send"
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
          className="min-w-0 flex-1"
        />
        {isRunning && (
          <Button
            icon={StopIcon}
            pending={isStopping}
            disabled={closed !== undefined}
            onClick={onStop}
            type="button"
          >
            Stop
          </Button>
        )}
        {(!isRunning || !isEmpty) && (
          <Button
            type="submit"
            kind="primary"
            icon={SendIcon}
            pending={isSending}
            disabled={closed !== undefined || isEmpty}
          >
            {isRunning ? "Steer" : "Send"}
          </Button>
        )}
      </div>
    </form>
  );
}
