import { type ReactNode, useState } from "react";
import { IconButton } from "../../../ui/button.tsx";
import { cx } from "../../../ui/class-names.ts";
import { ChevronDownIcon, ChevronRightIcon, WarningIcon } from "../../../ui/icons.tsx";

/** One of a list of things with settings of their own: its line is always there, the rest unfolds. */
export function Card({
  title,
  about,
  controls,
  problem,
  path,
  open: opensAtFirst = false,
  children,
}: {
  title: string;
  about?: ReactNode;
  /** Beside the title. */
  controls: ReactNode;
  /** Something inside is wrong: it stays open so that it can be seen. */
  problem: string | undefined;
  /** In the definition: error summaries scroll to it. */
  path: string;
  open?: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(opensAtFirst);
  const isOpen = open || problem !== undefined;
  return (
    <div
      data-field={path}
      className={cx("min-w-0 rounded-md border bg-canvas", problem ? "border-red" : "border-line")}
    >
      <div className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 px-2 py-1">
        <IconButton
          size="small"
          icon={isOpen ? ChevronDownIcon : ChevronRightIcon}
          label={`Settings of ${title}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
        <div className="min-w-0 flex-1 basis-40">
          <p className="truncate">
            <span className="font-mono text-sm font-medium">{title}</span>
            {about && !isOpen && <span className="ml-2 text-xs text-muted">{about}</span>}
          </p>
        </div>
        <div className="flex items-center gap-1">{controls}</div>
      </div>
      {isOpen && (
        <div className="flex flex-col gap-4 border-t border-line p-3">
          {problem && (
            <p className="flex items-start gap-1 text-xs text-red">
              <WarningIcon width={12} height={12} className="mt-0.5" />
              <span className="min-w-0 break-words">{problem}</span>
            </p>
          )}
          {about && <p className="measure text-sm text-muted">{about}</p>}
          {children}
        </div>
      )}
    </div>
  );
}
