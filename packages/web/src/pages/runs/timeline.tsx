import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { client } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useClock } from "../../ui/clock.ts";
import { Drawer } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/states.tsx";
import { EventDetail } from "./event-detail.tsx";
import { priorities } from "./priorities.ts";
import type { RunLog } from "./run-log.ts";
import { idleGaps, type TimeScale, timeScale } from "./time-scale.ts";
import { gridOf, TimelineRow } from "./timeline-row.tsx";
import type { RunDetail } from "./types.ts";
import type { Graph } from "./use-nodes.ts";
import type { Row } from "./waterfall.ts";
import { isOver } from "./words.ts";

const ROW_PX = 36;

/** What somebody folded and unfolded; whatever else is as it begins. */
interface Folds {
  readonly all?: boolean;
  readonly own: ReadonlyMap<string, boolean>;
}
const AS_IT_BEGINS: Folds = { own: new Map() };

/** A map may have ten thousand entries: it says how far they are, and shows them when it is asked. */
const isFolded = ({ all, own }: Folds, row: Row): boolean =>
  own.get(row.id) ?? all ?? row.tally !== undefined;

interface TimelineProps {
  readonly run: RunDetail;
  readonly log: RunLog;
  readonly version: number;
  /** Of a workflow's run. */
  readonly graph: Graph | undefined;
  readonly wide: boolean;
}

/** The waterfall: what the run did, row by row, over time. Only rows in sight are in the page. */
export function Timeline({ run, log, version, graph, wide }: TimelineProps) {
  const [search, setSearch] = useSearchState();
  const [folds, setFolds] = useState(AS_IT_BEGINS);
  const { waterfall } = log;
  const rows = useRows(log, version, folds);
  const selected = one(search, "event");
  const open = selected === undefined ? undefined : waterfall.row(selected);
  const [cursor, setCursor] = useState(selected);
  const [focused, setFocused] = useState(false);
  const tree = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLElement>(null);
  const scale = useScale(log, version, isOver(run), one(search, "waits") === "real");
  const priority = usePriorities(run);

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => tree.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    // The head of the list lies over its first row.
    scrollPaddingEnd: ROW_PX,
  });

  const at = cursor === undefined ? -1 : rows.findIndex(({ id }) => id === cursor);
  const show = (row: Row | undefined) => setSearch({ event: row?.id });
  const moveTo = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (row === undefined) return;
    setCursor(row.id);
    virtual.scrollToIndex(rows.indexOf(row));
    tree.current?.focus({ preventScroll: true });
    if (open && wide) show(row);
  };
  const fold = (row: Row, shut: boolean) => setFolds({ ...folds, own: new Map(folds.own).set(row.id, shut) });
  const folded = (row: Row) => row.children.length > 0 && isFolded(folds, row);
  const current = rows[at];
  const inward = () => {
    if (!current) return;
    if (folded(current)) fold(current, false);
    else if (current.children.length > 0) moveTo(at + 1);
  };
  const outward = () => {
    if (!current) return;
    if (current.children.length > 0 && !folded(current)) fold(current, true);
    else if (current.parent) moveTo(rows.indexOf(current.parent));
  };
  const anyFolded = folds.all ?? (folds.own.size > 0 || rows.some(folded));
  const foldAll = () => setFolds({ all: !anyFolded, own: new Map() });
  const close = () => {
    show(undefined);
    tree.current?.focus({ preventScroll: true });
  };
  useKeys("Timeline", [
    { keys: "j", what: "Next row", run: () => moveTo(at + 1), repeat: true },
    { keys: "k", what: "Previous row", run: () => moveTo(at < 0 ? rows.length - 1 : at - 1), repeat: true },
    {
      keys: "enter",
      what: "Show the row's details",
      run: () => {
        show(current);
        // Once it is there.
        requestAnimationFrame(() => panel.current?.focus());
      },
      enabled: focused,
    },
    { keys: "arrowleft", what: "Fold, or go to what it is in", run: outward, enabled: focused },
    { keys: "arrowright", what: "Unfold, or go to what is in it", run: inward, enabled: focused },
    { keys: "arrowdown", what: "Next row", run: () => moveTo(at + 1), repeat: true, enabled: focused },
    { keys: "arrowup", what: "Previous row", run: () => moveTo(at - 1), repeat: true, enabled: focused },
    { keys: "home", what: "First row", run: () => moveTo(0), enabled: focused },
    { keys: "end", what: "Last row", run: () => moveTo(rows.length - 1), enabled: focused },
    { keys: "f", what: "Fold or unfold everything", run: foldAll },
    {
      keys: "w",
      what: "Waits as long as they were, or short",
      run: () => toggleWaits(),
      enabled: scale.shortens,
    },
    { keys: "escape", what: "Close the details", run: close, enabled: open !== undefined },
  ]);
  const toggleWaits = () => setSearch({ waits: scale.breaks.length > 0 ? "real" : undefined });

  useUnfolded(open, folded, (rows) =>
    setFolds({ ...folds, own: new Map([...folds.own, ...rows.map(({ id }) => [id, false] as const)]) }),
  );
  useShown(rows, selected, (index, isFirst) =>
    virtual.scrollToIndex(index, { align: isFirst ? "center" : "auto" }),
  );
  useTail(tree, rows.length, !isOver(run) && selected === undefined);
  if (rows.length === 0)
    return <Empty title="Nothing has happened yet">What the run does appears here as it does it.</Empty>;
  const items = virtual.getVirtualItems();
  return (
    <div className="flex min-h-0 min-w-0 flex-col md:h-full">
      <div className="flex min-w-0 flex-1 md:min-h-0">
        <div
          ref={tree}
          role="tree"
          aria-label="Timeline"
          tabIndex={0}
          aria-activedescendant={
            items.some(({ index }) => index === at) && current ? `row-${current.id}` : undefined
          }
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
          className="relative min-w-0 flex-1 overflow-y-auto overscroll-contain rounded-md border border-line -outline-offset-2 max-md:h-[70dvh]"
        >
          <Axis scale={scale} count={rows.length} isNarrow={wide && open !== undefined} />
          <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
            {items.map((item) => {
              const row = rows[item.index];
              return (
                row && (
                  <TimelineRow
                    key={row.id}
                    row={row}
                    title={titleIn(graph, row)}
                    index={item.index}
                    top={item.start}
                    scale={scale}
                    now={scale.now}
                    isFolded={folded(row)}
                    isCurrent={item.index === at}
                    isSelected={row === open}
                    isNarrow={wide && open !== undefined}
                    priority={row.record && priority.get(row.record.rail)}
                    onFold={() => fold(row, !folded(row))}
                    onOpen={() => {
                      setCursor(row.id);
                      show(row);
                    }}
                  />
                )
              );
            })}
          </div>
        </div>
        {wide && open && (
          <aside
            ref={panel}
            tabIndex={-1}
            aria-label={`Details of ${titleIn(graph, open)}`}
            className="w-96 shrink-0 overflow-y-auto overscroll-contain pl-4 outline-none lg:w-110"
          >
            <EventDetail
              row={open}
              title={titleIn(graph, open)}
              run={run}
              log={log}
              graph={graph}
              priority={open.record && priority.get(open.record.rail)}
              onClose={close}
            />
          </aside>
        )}
      </div>
      <Foot
        scale={scale}
        toggleWaits={toggleWaits}
        foldAll={foldAll}
        isFolded={anyFolded}
        events={log.events.length}
      />
      {!wide && (
        <Drawer open={open !== undefined} onClose={close} title={open ? titleIn(graph, open) : ""}>
          {open && (
            <EventDetail
              row={open}
              title={titleIn(graph, open)}
              run={run}
              log={log}
              graph={graph}
              priority={open.record && priority.get(open.record.rail)}
            />
          )}
        </Drawer>
      )}
    </div>
  );
}

/** Nodes of the run itself have the names their workflow gives them. */
function titleIn(graph: Graph | undefined, row: Row): string {
  const named = row.kind === "node" ? graph?.nodes.find((node) => node.row === row) : undefined;
  return named?.title ?? row.title;
}

/** A link to a row inside something that begins folded shows it, once. */
function useUnfolded(
  open: Row | undefined,
  folded: (row: Row) => boolean,
  unfold: (rows: readonly Row[]) => void,
): void {
  const done = useRef<string>(undefined);
  useEffect(() => {
    if (open === undefined || done.current === open.id) return;
    done.current = open.id;
    const shut: Row[] = [];
    for (let above = open.parent; above; above = above.parent) if (folded(above)) shut.push(above);
    if (shut.length > 0) unfold(shut);
  });
}

/** A link to a row, from elsewhere or in another tab, opens the list there, once its events are here. */
function useShown(
  rows: readonly Row[],
  selected: string | undefined,
  scrollTo: (index: number, isFirst: boolean) => void,
): void {
  const shown = useRef<{ id: string | undefined; isFirst: boolean }>({
    id: undefined,
    isFirst: selected !== undefined,
  });
  useEffect(() => {
    const { id, isFirst } = shown.current;
    if (selected === id) return;
    const at = selected === undefined ? -1 : rows.findIndex((row) => row.id === selected);
    if (selected !== undefined && at < 0) return;
    shown.current = { id: selected, isFirst: false };
    if (at >= 0) scrollTo(at, isFirst);
  });
}

/**
 * A run under way opens at its end and stays there as rows come, until somebody scrolls away or points at it: then
 * nothing moves.
 */
function useTail(tree: RefObject<HTMLDivElement | null>, count: number, wanted: boolean): void {
  const before = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looks again whenever there are other rows
  useEffect(() => {
    const frame = tree.current;
    if (!frame || !wanted) return;
    const wasAtEnd = before.current === 0 || frame.scrollTop + frame.clientHeight >= before.current - ROW_PX;
    if (wasAtEnd && !frame.matches(":hover")) frame.scrollTop = frame.scrollHeight;
    before.current = frame.scrollHeight;
  }, [tree, count, wanted]);
}

function useRows(log: RunLog, version: number, folds: Folds): Row[] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are changed in place, and the version says when
  return useMemo(() => log.waterfall.visible((row) => isFolded(folds, row)), [log, version, folds]);
}

/** Priorities of rails: what the definition says, else what the rail itself does. */
function usePriorities(run: RunDetail): ReadonlyMap<string, number> {
  const rails = useQuery({
    queryKey: ["rails"],
    queryFn: ({ signal }) => client.listRails({}, { signal }),
    staleTime: 5 * 60_000,
  });
  const items = rails.data?.items;
  return useMemo(() => priorities(run.definition, items ?? []), [run.definition, items]);
}

export interface LiveScale extends TimeScale {
  readonly now: number;
  /** Whether there are waits that are drawn short, or would be. */
  readonly shortens: boolean;
}

/** Of a run under way the axis has room ahead and grows by leaps, so that bars stay where they are. */
function useScale(log: RunLog, version: number, over: boolean, real: boolean): LiveScale {
  const { waterfall } = log;
  const second = useClock((time) => (over ? 0 : Math.floor(time / 1000) * 1000));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the waterfall is changed in place, and the version says when
  return useMemo(() => {
    const { from, to } = waterfall;
    if (!Number.isFinite(from)) return { ...timeScale(0, 1), now: 0, shortens: false };
    const now = over ? to : Math.max(to, second);
    const gaps = idleGaps(waterfall.all(), from, now);
    const short = timeScale(from, over ? to : ahead(from, now, gaps), gaps);
    const shortens = short.breaks.length > 0;
    return { ...(real ? timeScale(from, over ? to : from + roomFor(now - from)) : short), now, shortens };
  }, [waterfall, version, over, second, real]);
}

/** The end of the axis: room for as much work again as rounds it up. While it waits there is nothing ahead worth showing. */
function ahead(from: number, now: number, gaps: readonly { from: number; to: number }[]): number {
  if (gaps.at(-1)?.to === now) return now;
  const busy = gaps.reduce((left, gap) => left - (gap.to - gap.from), now - from);
  return now + roomFor(busy) - busy;
}

const ROOMS = [1, 1.5, 2, 3, 5, 7.5];

/** The next round length above. */
function roomFor(span: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1000, span)));
  return (ROOMS.find((room) => room * unit >= span) ?? 10) * unit;
}

function Axis({ scale, count, isNarrow }: { scale: LiveScale; count: number; isNarrow: boolean }) {
  return (
    <div
      role="presentation"
      className={`row sticky top-0 z-10 border-b border-line bg-canvas text-xs font-medium text-muted ${gridOf(isNarrow)}`}
    >
      <span className="pl-3">{plural(count, "row")}</span>
      <span className="pr-3 text-right">Duration</span>
      <span aria-hidden="true" className="relative h-full max-md:hidden">
        {scale.ticks.map((tick) => (
          <span
            key={tick.label}
            className="absolute inset-y-0 flex items-center border-l border-line pl-1 font-normal whitespace-nowrap tabular-nums"
            style={{ left: `${tick.place * 100}%` }}
          >
            {tick.label}
          </span>
        ))}
      </span>
    </div>
  );
}

function Foot(props: {
  scale: LiveScale;
  toggleWaits(): void;
  foldAll(): void;
  isFolded: boolean;
  events: number;
}) {
  const { scale, toggleWaits, foldAll, isFolded, events } = props;
  const link = "text-accent hover:underline";
  return (
    <p className="row flex shrink-0 items-center gap-4 text-xs text-muted">
      <span>{plural(events, "event")}</span>
      <button type="button" onClick={foldAll} className={link}>
        {isFolded ? "Unfold everything" : "Fold everything"}
      </button>
      {scale.shortens && (
        <button type="button" onClick={toggleWaits} className={link}>
          {scale.breaks.length > 0 ? "Show waits in full" : "Shorten waits"}
        </button>
      )}
    </p>
  );
}
