import { lazy, Suspense } from "react";

export interface PlotSeries {
  id: string;
  label: string;
  /** One for each time; `null` where nothing is known. */
  values: readonly (number | null)[];
  /** A token without its dashes, like `red` for a series that tells state; else one of plot-1 to plot-6. */
  colour?: string;
}

export interface PlotProps {
  title: string;
  /** Of the values: "runs", "ms", "USD". */
  unit: string;
  /** Milliseconds of Unix time, rising. */
  times: readonly number[];
  series: readonly PlotSeries[];
  format?(value: number): string;
  /** A range was dragged over: the page puts it into the URL. */
  onSelect?(from: number, to: number): void;
  /** The axis begins at zero. */
  zero?: boolean;
  height?: number;
}

const View = lazy(() => import("./plot-view.tsx"));

/** Values over time: units, a legend that toggles, exact values on hover, a table, and a range to drag. */
export function Plot(props: PlotProps) {
  return (
    <Suspense
      fallback={<div aria-busy="true" className="skeleton" style={{ height: (props.height ?? 180) + 56 }} />}
    >
      <View {...props} />
    </Suspense>
  );
}
