import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { cx } from "./class-names.ts";
import { CopyButton } from "./copy-button.tsx";
import { ChevronDownIcon, ChevronRightIcon } from "./icons.tsx";
import { type JsonRow, jsonRows } from "./json-rows.ts";

export interface JsonViewProps {
  value: unknown;
  /** What it is: "Arguments", "Result". */
  label: string;
  /** Levels that are open at first. */
  open?: number;
  className?: string;
}

const MANY_ROWS = 300;

/** Any JSON value as a tree that folds. Strings are shown whole; what is long scrolls in place. */
export function JsonView({ value, label, open = 3, className }: JsonViewProps) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => jsonRows(value, open, toggled), [value, open, toggled]);
  const toggle = (path: string) => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  return (
    <div className={cx("relative min-w-0 rounded-md border border-line bg-panel", className)}>
      <div className="absolute top-1 right-1 z-10 rounded-md bg-panel">
        <CopyButton
          text={() => JSON.stringify(value, null, 2) ?? "undefined"}
          label={`Copy ${label.toLowerCase()} as JSON`}
        />
      </div>
      {rows.length > MANY_ROWS ? (
        <ManyRows rows={rows} label={label} toggle={toggle} />
      ) : (
        <figure
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
          tabIndex={0}
          aria-label={label}
          className="max-h-[60vh] overflow-auto p-2 pr-10 font-mono text-sm"
        >
          {rows.map((row) => (
            <Row key={row.key} row={row} toggle={toggle} />
          ))}
        </figure>
      )}
    </div>
  );
}

function ManyRows({ rows, label, toggle }: { rows: JsonRow[]; label: string; toggle(path: string): void }) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 20,
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 20,
  });
  return (
    <figure
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
      className="h-[60vh] overflow-auto px-2 font-mono text-sm"
    >
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          return (
            row && (
              <div
                key={item.key}
                data-index={item.index}
                ref={virtual.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Row row={row} toggle={toggle} />
              </div>
            )
          );
        })}
      </div>
    </figure>
  );
}

function Row({ row, toggle }: { row: JsonRow; toggle(path: string): void }) {
  const name = row.name !== undefined && (
    <>
      <span className={row.index ? "text-faint" : "text-ink"}>{row.name}</span>
      <span className="text-faint">: </span>
    </>
  );
  return (
    <div className="flex items-start" style={{ paddingLeft: row.depth * 16 }}>
      {row.fold === undefined ? (
        <span className="w-4 shrink-0" />
      ) : (
        <button
          type="button"
          aria-expanded={row.fold === "open"}
          aria-label={`${row.fold === "open" ? "Fold" : "Unfold"} ${row.name ?? "value"}`}
          onClick={() => toggle(row.key)}
          className="grid h-5 w-4 shrink-0 place-items-center rounded-sm text-muted hover:text-ink"
        >
          {row.fold === "open" ? (
            <ChevronDownIcon width={12} height={12} />
          ) : (
            <ChevronRightIcon width={12} height={12} />
          )}
        </button>
      )}
      <span className="min-w-0 break-words whitespace-pre-wrap">
        {name}
        <span className={KIND_COLOURS[row.kind]}>{row.text}</span>
      </span>
    </div>
  );
}

/** Greys and the accent only: red and green would read as state. */
const KIND_COLOURS: Record<JsonRow["kind"], string> = {
  string: "text-ink",
  number: "text-accent",
  word: "text-accent font-medium",
  mark: "text-faint",
};
