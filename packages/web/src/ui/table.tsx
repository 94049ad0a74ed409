import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "../keys/use-keys.ts";
import { cx } from "./class-names.ts";
import { ArrowDownIcon, ArrowUpIcon } from "./icons.tsx";

export interface Column<T> {
  id: string;
  head: ReactNode;
  cell(row: T): ReactNode;
  /** Numbers go right. */
  align?: "left" | "right";
  /** CSS width like "120px" or "30%"; without one a column shares what is left. */
  width?: string;
  /** Not on phones: the row's page has it. */
  hideOnPhone?: boolean;
  /** Gives the head a button that sorts. The page sorts, and keeps it in the URL. */
  sortable?: boolean;
}

export interface TableProps<T> {
  /** What the rows are: "Runs". Names the table and its keys. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey(row: T): string;
  /** Enter or a click on the row. A link in its first cell does the same for the middle button. */
  onOpen?(row: T): void;
  /** Which row is open beside the list, if any. */
  selected?: string | undefined;
  /** J and K moved: the page may show the row beside the list. */
  onFocusRow?(row: T): void;
  sort?: { column: string; descending: boolean };
  onSort?(sort: { column: string; descending: boolean }): void;
  /** Only rows in sight are in the page: for hundreds and more. The list then scrolls in `height`. */
  virtual?: { height: string };
  /** J and K belong to another list of the page. */
  keys?: boolean;
  className?: string;
}

const ROW_PX = 36;

/** Rows of 36 px. J and K move between them, Enter opens, and the focus can be seen. */
export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, rowKey, onOpen, selected, onFocusRow, virtual, className } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string>();
  const keysOfRows = rows.map(rowKey);
  const at = current === undefined ? -1 : keysOfRows.indexOf(current);
  const wantsFocus = useRef(false);

  const virtualizer = useVirtualizer({
    count: rows.length,
    enabled: virtual !== undefined,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    scrollPaddingStart: ROW_PX,
  });

  const moveTo = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    wantsFocus.current = true;
    setCurrent(rowKey(row));
    if (virtual) virtualizer.scrollToIndex(index);
    onFocusRow?.(row);
  };
  const step = (by: 1 | -1) => {
    const from = at >= 0 ? at : selected === undefined ? -1 : keysOfRows.indexOf(selected);
    moveTo(from < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, from + by)));
  };

  // In a virtual list the row comes into the page a moment after it was scrolled to, so this looks after every render.
  useEffect(() => {
    if (!wantsFocus.current || current === undefined) return;
    const row = frame.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(current)}"]`);
    if (!row) return;
    wantsFocus.current = false;
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  });

  useKeys(
    label,
    props.keys === false
      ? []
      : [
          { keys: "j", what: "Next row", run: () => step(1), repeat: true },
          { keys: "k", what: "Previous row", run: () => step(-1), repeat: true },
          ...(onOpen ? [{ keys: "enter", what: "Open the row", run: () => openCurrent() }] : []),
        ],
  );
  const openCurrent = () => {
    const row = rows[at];
    if (row !== undefined && frame.current?.contains(document.activeElement)) onOpen?.(row);
  };

  const onRowClick = (event: MouseEvent, row: T) => {
    // A button or link in the row does its own thing; selecting text opens nothing.
    if (event.target instanceof Element && event.target.closest("a, button, input, label")) return;
    if (window.getSelection()?.toString()) return;
    setCurrent(rowKey(row));
    onOpen?.(row);
  };
  const onRowKey = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(rows.length - 1);
    else return;
    event.preventDefault();
  };

  const items = virtual ? virtualizer.getVirtualItems() : undefined;
  const visible = items ? items.map((item) => item.index) : rows.map((_, index) => index);
  const above = items?.[0]?.start ?? 0;
  const below = items ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const tabStop = at >= 0 ? current : (selected ?? keysOfRows[0]);
  return (
    <div
      ref={frame}
      className={cx("min-w-0 overflow-auto", className)}
      style={virtual ? { height: virtual.height } : undefined}
    >
      <table
        aria-label={label}
        aria-rowcount={rows.length + 1}
        className="w-full table-fixed border-collapse"
      >
        <thead className="sticky top-0 z-10 bg-canvas">
          <tr aria-rowindex={1} className="row">
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Spacer height={above} />}
          {visible.map((index) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = rowKey(row);
            return (
              <tr
                key={key}
                data-row={key}
                aria-rowindex={index + 2}
                aria-current={key === selected ? "true" : undefined}
                tabIndex={key === tabStop || (virtual && index === visible[0] && at < 0) ? 0 : -1}
                onFocus={() => setCurrent(key)}
                onClick={(event) => onRowClick(event, row)}
                onKeyDown={onRowKey}
                className={cx(
                  "row border-t border-line -outline-offset-2 hover:bg-panel focus-visible:bg-panel",
                  onOpen && "cursor-pointer",
                  key === selected && "bg-accent-soft shadow-[inset_2px_0_0_var(--accent)]",
                )}
              >
                {columns.map((column) => (
                  <td key={column.id} className={cellClass(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {below > 0 && <Spacer height={below} />}
        </tbody>
      </table>
    </div>
  );
}

function cellClass<T>(column: Column<T>): string {
  return cx(
    "truncate px-2 first:pl-3 last:pr-3",
    column.align === "right" && "text-right tabular-nums",
    column.hideOnPhone && "max-md:hidden",
  );
}

function Head<T>({
  column,
  sort,
  onSort,
}: {
  column: Column<T>;
  sort: TableProps<T>["sort"] | undefined;
  onSort: TableProps<T>["onSort"] | undefined;
}) {
  const sorted = sort?.column === column.id ? sort : undefined;
  return (
    <th
      scope="col"
      aria-sort={sorted ? (sorted.descending ? "descending" : "ascending") : undefined}
      style={column.width ? { width: column.width } : undefined}
      className={cx(
        cellClass(column),
        "text-xs font-medium text-muted",
        column.align === "right" ? "text-right" : "text-left",
      )}
    >
      {column.sortable && onSort ? (
        <button
          type="button"
          onClick={() => onSort({ column: column.id, descending: sorted ? !sorted.descending : true })}
          className="inline-flex items-center gap-1 hover:text-ink"
        >
          {column.head}
          {/* The place of the arrow is kept, so that heads do not move when the order changes. */}
          <span className={cx(!sorted && "invisible")}>
            {sorted && !sorted.descending ? (
              <ArrowUpIcon width={10} height={10} />
            ) : (
              <ArrowDownIcon width={10} height={10} />
            )}
          </span>
        </button>
      ) : (
        column.head
      )}
    </th>
  );
}

/** One cell is enough to be as high as the rows that are left out. */
function Spacer({ height }: { height: number }) {
  return (
    <tr>
      <td aria-hidden="true" style={{ height, padding: 0 }} />
    </tr>
  );
}
