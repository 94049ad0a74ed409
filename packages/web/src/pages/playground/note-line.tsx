import { cx } from "../../ui/class-names.ts";
import {
  BranchIcon,
  FilterIcon,
  type Icon,
  InfoIcon,
  LockIcon,
  MinusIcon,
  PlayIcon,
  RetryIcon,
} from "../../ui/icons.tsx";
import type { NoteItem } from "./items.ts";

const ICONS: Record<NoteItem["icon"], Icon> = {
  compacted: FilterIcon,
  rail: LockIcon,
  handoff: BranchIcon,
  retry: RetryIcon,
  retracted: MinusIcon,
  hook: InfoIcon,
  resumed: PlayIcon,
};
const TONES: Record<NoteItem["tone"], string> = {
  quiet: "text-faint",
  attention: "text-amber",
  problem: "text-red",
};

/** A line about the run itself. */
export function NoteLine({ note: { icon, tone, text, detail } }: { note: NoteItem }) {
  const Mark = ICONS[icon];
  return (
    <p className="measure flex items-start gap-2 text-xs text-muted">
      <Mark width={12} height={12} className={cx("mt-0.5", TONES[tone])} />
      <span className="min-w-0 break-words">
        {text}
        {detail && <span className="block text-faint">{detail}</span>}
      </span>
    </p>
  );
}
