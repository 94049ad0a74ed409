import { formatDuration } from "../../format/duration.ts";
import { formatShare } from "../../format/number.ts";
import { cx } from "../../ui/class-names.ts";
import {
  AgentsIcon,
  BranchIcon,
  ChevronDownIcon,
  ChevronRightIcon,
  ClockIcon,
  DownloadIcon,
  ExternalIcon,
  FilterIcon,
  type Icon,
  InfoIcon,
  LockIcon,
  MenuIcon,
  PlaygroundIcon,
  RetryIcon,
  RunsIcon,
  ToolIcon,
  WarningIcon,
} from "../../ui/icons.tsx";
import { KIND_ICONS } from "../workflows/canvas/kind-icons.tsx";
import type { LiveScale } from "./timeline.tsx";
import { barOf, type Row, type RowKind, type Tone } from "./waterfall.ts";

/** Columns of the rows and their head. On a phone the bar lies under the words. */
export const gridOf = (isNarrow: boolean) =>
  cx(
    "grid grid-cols-[minmax(0,1fr)_6rem] items-center",
    isNarrow
      ? "md:grid-cols-[minmax(0,1fr)_6.5rem_minmax(0,30%)]"
      : "md:grid-cols-[minmax(0,1fr)_6.5rem_minmax(0,45%)]",
  );

/** A node has the icon that the canvas shows for its kind. */
export function iconOf(row: Row): Icon {
  const [first] = row.events;
  return row.kind === "node" && first?.type === "node" ? KIND_ICONS[first.kind] : ICONS[row.kind];
}

const ICONS: Record<RowKind, Icon> = {
  status: InfoIcon,
  planner: MenuIcon,
  plan: MenuIcon,
  step: RunsIcon,
  model: AgentsIcon,
  rail: LockIcon,
  tool: ToolIcon,
  approval: ClockIcon,
  subagent: BranchIcon,
  context: FilterIcon,
  message: PlaygroundIcon,
  retracted: RetryIcon,
  error: WarningIcon,
  handoff: ExternalIcon,
  artifact: DownloadIcon,
  node: RunsIcon,
  text: PlaygroundIcon,
};

export const TONES: Record<Tone, string> = {
  plain: "text-ink",
  problem: "text-red",
  attention: "text-amber",
  quiet: "text-faint",
};

/** Kinds by the colours of plots; red and amber only where the state is. */
const BARS: Partial<Record<RowKind, string>> = {
  model: "bg-[var(--plot-1)]",
  tool: "bg-[var(--plot-2)]",
  rail: "bg-[var(--plot-3)]",
  node: "bg-[var(--plot-2)]",
};
const WAIT =
  "bg-[repeating-linear-gradient(135deg,var(--amber)_0_2px,transparent_2px_5px)] shadow-[inset_0_0_0_1px_var(--amber)]";
const GROUPS: ReadonlySet<RowKind> = new Set(["step", "planner", "subagent"]);

interface TimelineRowProps {
  readonly row: Row;
  /** Its own, or the name that its workflow gives it. */
  readonly title: string;
  readonly index: number;
  readonly top: number;
  readonly scale: LiveScale;
  readonly now: number;
  readonly isFolded: boolean;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  /** The details are beside it. */
  readonly isNarrow: boolean;
  readonly priority: number | undefined;
  onFold(): void;
  onOpen(): void;
}

export function TimelineRow(props: TimelineRowProps) {
  const {
    row,
    title,
    index,
    top,
    scale,
    now,
    isFolded,
    isCurrent,
    isSelected,
    isNarrow,
    priority,
    onFold,
    onOpen,
  } = props;
  const folds = row.children.length > 0;
  const KindIcon = iconOf(row);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and points here
    // biome-ignore lint/a11y/useKeyWithClickEvents: J, K and Enter belong to the tree
    <div
      id={`row-${row.id}`}
      data-index={index}
      data-kind={row.kind}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={isSelected}
      aria-expanded={folds ? !isFolded : undefined}
      onClick={onOpen}
      style={{ transform: `translateY(${top}px)` }}
      className={cx(
        "row absolute inset-x-0 top-0 cursor-pointer border-b border-line hover:bg-panel",
        gridOf(isNarrow),
        isCurrent && "outline-2 -outline-offset-2 outline-accent",
        isSelected && "bg-accent-soft shadow-[inset_2px_0_0_var(--accent)]",
      )}
    >
      <span
        className="flex min-w-0 items-center gap-1.5 pl-2"
        style={{ paddingLeft: 8 + Math.min(row.depth, 8) * 16 }}
      >
        {folds ? (
          <span
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              onFold();
            }}
            className="grid size-5 shrink-0 place-items-center rounded-sm text-muted hover:bg-sunken hover:text-ink coarse:size-8"
          >
            {isFolded ? (
              <ChevronRightIcon width={12} height={12} />
            ) : (
              <ChevronDownIcon width={12} height={12} />
            )}
          </span>
        ) : (
          <span className="w-5 shrink-0" />
        )}
        <KindIcon width={14} height={14} className={row.tone === "plain" ? "text-muted" : TONES[row.tone]} />
        <span
          className={cx(
            "min-w-0 truncate",
            (GROUPS.has(row.kind) || row.kind === "node") && row.item === undefined && "font-medium",
            mono(row) && "font-mono text-sm",
          )}
        >
          {title}
        </span>
        {priority !== undefined && (
          <span title={`Priority ${priority}`} className="shrink-0 text-xs text-faint tabular-nums">
            P{priority}
          </span>
        )}
        <span
          className={cx(
            "min-w-0 flex-1 truncate text-sm",
            row.tone === "plain" ? "text-muted" : TONES[row.tone],
          )}
        >
          {row.progress ? progressWords(row.progress) : row.note}
        </span>
      </span>
      <span className="pr-3 text-right text-sm whitespace-nowrap text-muted tabular-nums">
        {lengthOf(row, now)}
      </span>
      <Bar row={row} scale={scale} now={now} />
    </div>
  );
}

const mono = ({ kind, item }: Row) => (kind === "tool" && item === undefined) || kind === "rail";

function progressWords({ done, total, message }: NonNullable<Row["progress"]>): string {
  const share = total === null || total <= 0 ? String(done) : formatShare(Math.min(1, done / total));
  return message === null ? share : `${share} · ${message}`;
}

function lengthOf(row: Row, now: number): string {
  const end = row.end ?? now;
  const length = end - row.start;
  if (row.end === null) return formatDuration(Math.floor(length / 1000) * 1000);
  return length > 0 ? formatDuration(length) : "";
}

function Bar({ row, scale, now }: { row: Row; scale: LiveScale; now: number }) {
  const isGroup = GROUPS.has(row.kind);
  const share = row.progress?.total ? Math.min(1, row.progress.done / row.progress.total) : undefined;
  return (
    <span
      aria-hidden="true"
      className="relative mr-2 h-full overflow-hidden max-md:absolute max-md:inset-x-2 max-md:bottom-0 max-md:mr-0 max-md:h-1"
    >
      {scale.breaks.map((gap) => (
        <span
          key={gap.from}
          title={gap.label}
          className="absolute inset-y-0 border-x border-dashed border-line bg-panel max-md:hidden"
          style={{ left: `${gap.from * 100}%`, width: `${(gap.to - gap.from) * 100}%` }}
        />
      ))}
      {barOf(row, now).map((segment) => {
        const left = scale.place(segment.from);
        const width = scale.place(segment.to ?? now) - left;
        return (
          <span
            key={segment.from}
            title={
              segment.kind === "wait"
                ? `waited ${formatDuration((segment.to ?? now) - segment.from)}`
                : undefined
            }
            className={cx(
              "absolute top-1/2 -translate-y-1/2 rounded-[2px]",
              isGroup ? "h-1" : "h-3 max-md:h-1",
              segment.kind === "wait" ? WAIT : row.tone === "problem" ? "bg-red-fill" : colourOf(row),
              row.end === null && segment.kind === "work" && "opacity-70",
            )}
            // What took no time is a line that can still be seen.
            style={{ left: `min(${left * 100}%, calc(100% - 2px))`, width: `max(2px, ${width * 100}%)` }}
          />
        );
      })}
      {share !== undefined && <Progress row={row} scale={scale} now={now} share={share} />}
    </span>
  );
}

function colourOf({ tone, kind }: Row): string {
  if (tone === "attention") return "bg-amber";
  return (tone === "quiet" && kind === "node" ? undefined : BARS[kind]) ?? "bg-control";
}

/** How much of what is under way is done, as it says itself. */
function Progress({ row, scale, now, share }: { row: Row; scale: LiveScale; now: number; share: number }) {
  const begun = barOf(row, now).at(-1);
  if (begun === undefined) return null;
  const left = scale.place(begun.from);
  const width = (scale.place(now) - left) * share;
  return (
    <span
      className="absolute top-1/2 h-3 -translate-y-1/2 rounded-[2px] bg-[var(--plot-2)] max-md:h-1"
      style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
    />
  );
}
