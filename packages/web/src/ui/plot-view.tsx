import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { exactTime } from "../format/time.ts";
import { useThemeName } from "../theme.ts";
import { cx } from "./class-names.ts";
import type { PlotProps } from "./plot.tsx";
import { SegmentedControl } from "./segmented-control.tsx";

const HEIGHT = 180;
const NONE: ReadonlySet<string> = new Set();

/** The colour as the browser computes it: the canvas does not know our variables. */
function colourOf(name: string, element: HTMLElement): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

export default function PlotView(props: PlotProps) {
  const { title, unit, times, series, format = String, onSelect, zero = true, height = HEIGHT } = props;
  const [view, setView] = useState<"plot" | "table">("plot");
  const [hidden, setHidden] = useState(NONE);
  const [hovered, setHovered] = useState<number>();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const theme = useThemeName();
  const latest = useRef({ onSelect, format, times });
  useEffect(() => {
    latest.current = { onSelect, format, times };
  });
  const looks = series.map(({ id, colour }, at) => ({ id, colour: colour ?? `plot-${(at % 6) + 1}` }));
  const shape = JSON.stringify([looks, zero, theme, view, height]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new plot for a new shape only; data and visibility follow below
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const axis = {
      stroke: colourOf("muted", element),
      grid: { stroke: colourOf("line", element), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        padding: [8, 8, 0, 0],
        // Seconds of Unix time are what it wants; milliseconds are what everybody else says.
        ms: 1,
        cursor: { drag: { x: true, y: false, setScale: false, dist: 5 }, points: { size: 6 } },
        scales: {
          x: { time: true },
          y: {
            range: (_plot, low, high) => {
              const top = Math.max(high ?? 1, zero ? 0 : -Infinity);
              const bottom = zero ? Math.min(0, low ?? 0) : (low ?? 0);
              return [bottom, top === bottom ? bottom + 1 : top + (top - bottom) * 0.08];
            },
          },
        },
        axes: [
          { ...axis, size: 28, space: 72, values: timeLabels },
          {
            ...axis,
            size: 56,
            values: (_plot, splits) => splits.map((split) => latest.current.format(split)),
          },
        ],
        series: [
          {},
          ...looks.map(({ id, colour }) => ({
            label: id,
            stroke: colourOf(colour, element),
            width: 1.5,
            // A value without neighbours is no line: it is shown as a point.
            points: { show: true, size: 5, filter: alone },
          })),
        ],
        hooks: {
          setCursor: [(self) => setHovered(self.cursor.idx ?? undefined)],
          setSelect: [
            (self) => {
              if (self.select.width < 5) return;
              const from = self.posToVal(self.select.left, "x");
              const to = self.posToVal(self.select.left + self.select.width, "x");
              latest.current.onSelect?.(Math.round(from), Math.round(to));
              self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            },
          ],
        },
      },
      toData(times, series),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);

  // The shape is a dependency: a plot made anew shows what was hidden.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    plot.current?.setData(toData(times, series));
  }, [times, series, shape]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    series.forEach(({ id }, at) => {
      plot.current?.setSeries(at + 1, { show: !hidden.has(id) });
    });
  }, [hidden, series, shape]);

  const at = hovered !== undefined && hovered < times.length ? hovered : undefined;
  return (
    <figure className="min-w-0">
      <figcaption className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        <span className="font-medium">
          {title} <span className="font-normal text-faint">({unit})</span>
        </span>
        <SegmentedControl
          aria-label={`How to show ${title}`}
          value={view}
          onChange={setView}
          options={[
            { value: "plot", label: "Plot" },
            { value: "table", label: "Table" },
          ]}
        />
      </figcaption>
      {view === "plot" ? (
        <>
          {/* The canvas says nothing to a screen reader; the table does. */}
          <div ref={frame} aria-hidden="true" className="w-full" style={{ minHeight: height }} />
          <ul className="flex flex-wrap gap-x-3 gap-y-1 text-xs">
            {series.map(({ id, label, values }, index) => (
              <li key={id}>
                <button
                  type="button"
                  aria-pressed={!hidden.has(id)}
                  onClick={() => {
                    const next = new Set(hidden);
                    if (!next.delete(id)) next.add(id);
                    setHidden(next);
                  }}
                  className={cx(
                    "inline-flex h-6 items-center gap-1.5",
                    hidden.has(id) ? "text-faint line-through" : "text-muted",
                  )}
                >
                  <span
                    aria-hidden="true"
                    className="h-0.5 w-3"
                    style={{
                      background: `var(--${looks[index]?.colour})`,
                      opacity: hidden.has(id) ? 0.3 : 1,
                    }}
                  />
                  {label}
                  <span className="inline-block min-w-[5ch] text-right text-ink tabular-nums">
                    {at === undefined ? "" : said(values[at], format)}
                  </span>
                </button>
              </li>
            ))}
            <li className="flex h-6 items-center text-faint">
              {at === undefined ? "" : exactTime(times[at] ?? 0)}
            </li>
          </ul>
        </>
      ) : (
        <PlotTable {...props} format={format} />
      )}
    </figure>
  );
}

const said = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? "–" : format(value);

/** Where a series has a value and nothing beside it. */
function alone(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  const isThere = (at: number) => values[at] !== null && values[at] !== undefined;
  return Array.from(values, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  );
}

function toData(times: readonly number[], series: PlotProps["series"]): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData; // columns of one length
}

/** Hours within a day, dates beyond: 24 hours, like everywhere else here. */
function timeLabels(_plot: uPlot, splits: number[], _axis: number, _space: number, step: number): string[] {
  const day = step >= 86_400_000;
  const format = new Intl.DateTimeFormat(
    "en-GB",
    day
      ? { day: "numeric", month: "short" }
      : { hour: "2-digit", minute: "2-digit", ...(step < 60_000 && { second: "2-digit" }) },
  );
  return splits.map((split) => format.format(split));
}

function PlotTable({ title, times, series, unit, format = String }: PlotProps) {
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
      tabIndex={0}
      className="max-h-56 overflow-auto"
    >
      <table className="w-full text-sm" aria-label={`${title} (${unit})`}>
        <thead className="sticky top-0 bg-canvas text-xs text-muted">
          <tr>
            <th scope="col" className="px-2 py-1 text-left font-medium">
              Time
            </th>
            {series.map(({ id, label }) => (
              <th key={id} scope="col" className="px-2 py-1 text-right font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time} className="border-t border-line">
              <td className="px-2 py-1 whitespace-nowrap">{exactTime(time)}</td>
              {series.map(({ id, values }) => (
                <td key={id} className="px-2 py-1 text-right tabular-nums">
                  {said(values[at], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
