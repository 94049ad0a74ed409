import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { formatDuration } from "../../format/duration.ts";
import { plural } from "../../format/number.ts";
import { one, useSearchState } from "../../search.ts";
import { cx } from "../../ui/class-names.ts";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { Part } from "./facts.tsx";
import type { Row } from "./waterfall.ts";

const ROW_PX = 28;

/** The entries of a map, however many: only those in sight are in the page. */
export function NodeItems({ row }: { row: Row }) {
  const [search, setSearch] = useSearchState();
  const onlyFailed = one(search, "items") === "failed";
  const frame = useRef<HTMLUListElement>(null);
  const all = useMemo(() => itemsOf(row), [row, row.revision]);
  const shown = onlyFailed ? all.filter(({ tone }) => tone === "problem") : all;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  return (
    <Part
      title={plural(all.length, "item")}
      actions={
        <SegmentedControl
          aria-label="Items"
          value={onlyFailed ? "failed" : "all"}
          onChange={(value) => setSearch({ items: value === "all" ? undefined : value })}
          options={[
            { value: "all", label: "All" },
            { value: "failed", label: "Failed" },
          ]}
        />
      }
    >
      {shown.length === 0 ? (
        <p className="text-muted">None failed.</p>
      ) : (
        <ul
          ref={frame}
          aria-label="Items"
          className="relative max-h-72 overflow-y-auto rounded-md border border-line"
        >
          <li aria-hidden="true" style={{ height: virtual.getTotalSize() }} />
          {virtual.getVirtualItems().map(({ index, start }) => {
            const item = shown[index];
            return (
              item && (
                <li
                  key={item.id}
                  aria-setsize={shown.length}
                  aria-posinset={index + 1}
                  className="absolute inset-x-0 top-0"
                  style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
                >
                  <button
                    type="button"
                    onClick={() => setSearch({ tab: "timeline", event: item.id }, { push: true })}
                    className="flex h-full w-full min-w-0 items-center gap-2 px-2 text-left text-sm -outline-offset-2 hover:bg-panel"
                  >
                    <span className="w-16 shrink-0 tabular-nums">{item.title}</span>
                    <span className={cx("min-w-0 flex-1 truncate", toneOf(item))}>{wordsOf(item)}</span>
                    <span className="shrink-0 text-xs text-muted tabular-nums">
                      {item.end !== null && item.end > item.start && formatDuration(item.end - item.start)}
                    </span>
                  </button>
                </li>
              )
            );
          })}
        </ul>
      )}
    </Part>
  );
}

const toneOf = ({ tone }: Row) => (tone === "problem" ? "text-red" : "text-muted");
const wordsOf = ({ tone, end, note }: Row) =>
  tone === "problem" ? `failed ${note}` : end === null ? `under way ${note}` : note || "done";

/** Entries of a long map lie in its parts. */
function itemsOf({ children }: Row): Row[] {
  return children
    .flatMap((child) => (child.item === undefined ? child.children : [child]))
    .filter(({ item }) => item !== undefined)
    .sort((a, b) => (a.item ?? 0) - (b.item ?? 0));
}
