import { cx } from "../../ui/class-names.ts";
import { CheckIcon, ClockIcon, CloseIcon, type Icon, StopIcon } from "../../ui/icons.tsx";
import type { Approval } from "./approval.ts";
import { deciderOf, outcomeWord } from "./outcome.ts";

const LOOKS: Record<Exclude<Approval["state"], "pending">, { icon: Icon; colour: string }> = {
  approved: { icon: CheckIcon, colour: "text-green" },
  rejected: { icon: CloseIcon, colour: "text-red" },
  timed_out: { icon: ClockIcon, colour: "text-amber" },
  cancelled: { icon: StopIcon, colour: "text-muted" },
};

/** How it was decided, as a shape and a word, and by whom. */
export function Outcome({
  approval,
  me,
  by = true,
}: {
  approval: Pick<Approval, "state" | "decision">;
  me?: string | undefined;
  /** Off where the one who decided stands beside it. */
  by?: boolean;
}) {
  if (approval.state === "pending") return <span className="text-amber">waiting for you</span>;
  const { icon: Mark, colour } = LOOKS[approval.state];
  const who = by ? deciderOf(approval, me) : null;
  return (
    <span className="inline-flex items-center gap-1 text-xs whitespace-nowrap">
      <Mark width={12} height={12} className={colour} />
      <span className={cx("font-medium", colour)}>{outcomeWord(approval)}</span>
      {who && <span className="text-muted">by {who}</span>}
    </span>
  );
}
