import { cx } from "../../ui/class-names.ts";
import {
  CheckIcon,
  ClockIcon,
  CloseIcon,
  type Icon,
  SpinnerIcon,
  StopIcon,
  WarningIcon,
} from "../../ui/icons.tsx";
import type { CallState } from "./items.ts";

const LOOKS: Record<CallState, { word: string; icon: Icon; colour: string; turns?: boolean }> = {
  writing: { word: "writing arguments", icon: SpinnerIcon, colour: "text-muted", turns: true },
  running: { word: "running", icon: SpinnerIcon, colour: "text-blue", turns: true },
  waiting: { word: "waiting for you", icon: WarningIcon, colour: "text-amber" },
  done: { word: "done", icon: CheckIcon, colour: "text-green" },
  failed: { word: "failed", icon: CloseIcon, colour: "text-red" },
  rejected: { word: "rejected", icon: CloseIcon, colour: "text-red" },
  "timed out": { word: "timed out", icon: ClockIcon, colour: "text-amber" },
  skipped: { word: "skipped", icon: StopIcon, colour: "text-muted" },
  stopped: { word: "stopped", icon: StopIcon, colour: "text-muted" },
};

/** What became of a call: a shape and a word, then a colour. */
export function CallMark({ state }: { state: CallState }) {
  const { word, icon: Mark, colour, turns } = LOOKS[state];
  return (
    <span className={cx("inline-flex items-center gap-1 text-xs font-medium whitespace-nowrap", colour)}>
      <Mark width={12} height={12} className={cx(turns && "spin")} />
      {word}
    </span>
  );
}
