import { useMemo, useState } from "react";
import { comparable, type DiffLine, diffLines } from "../format/diff.ts";
import { plural } from "../format/number.ts";
import { cx } from "./class-names.ts";

export interface DiffViewProps {
  before: unknown;
  after: unknown;
  /** What is compared: "Arguments of deploy_service". */
  label: string;
  /** Lines of context around a change; the rest unfolds on a click. */
  context?: number;
  className?: string;
}

type Part = { lines: DiffLine[]; folded: boolean; key: number };

/** What changed between two values, line by line; added and removed by sign, then by colour. */
export function DiffView({ before, after, label, context = 3, className }: DiffViewProps) {
  const lines = useMemo(() => diffLines(comparable(before), comparable(after)), [before, after]);
  const parts = useMemo(() => foldSame(lines, context), [lines, context]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const added = lines.filter((line) => line.kind === "added").length;
  const removed = lines.filter((line) => line.kind === "removed").length;
  if (added + removed === 0) return <p className="text-muted">No differences.</p>;
  return (
    <figure aria-label={label} className={cx("min-w-0 rounded-md border border-line", className)}>
      <p className="border-b border-line px-3 py-1 text-xs text-muted">
        {plural(added, "line")} added, {plural(removed, "line")} removed
      </p>
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
        tabIndex={0}
        className="max-h-[60vh] overflow-auto font-mono text-sm"
      >
        <div className="w-max min-w-full">
          {parts.map(({ lines: inside, folded, key }) =>
            folded && !unfolded.has(key) ? (
              <button
                key={key}
                type="button"
                onClick={() => setUnfolded(new Set(unfolded).add(key))}
                className="block w-full bg-panel px-3 text-left font-sans text-xs leading-6 text-muted hover:text-ink"
              >
                Show {plural(inside.length, "unchanged line")}
              </button>
            ) : (
              inside.map((line) => <Line key={`${line.before ?? ""}:${line.after ?? ""}`} line={line} />)
            ),
          )}
        </div>
      </div>
    </figure>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−" };
const WORDS = { same: undefined, added: "added: ", removed: "removed: " };

function Line({ line }: { line: DiffLine }) {
  return (
    <div
      className={cx(
        "flex whitespace-pre",
        line.kind === "added" && "bg-green-soft text-green",
        line.kind === "removed" && "bg-red-soft text-red",
      )}
    >
      <span aria-hidden="true" className="w-10 shrink-0 pr-2 text-right text-faint select-none">
        {line.after ?? line.before}
      </span>
      <span aria-hidden="true" className="w-4 shrink-0 select-none">
        {SIGNS[line.kind]}
      </span>
      {WORDS[line.kind] && <span className="sr-only">{WORDS[line.kind]}</span>}
      <span className="pr-3">{line.text}</span>
    </div>
  );
}

/** Runs of unchanged lines beyond the context become one part that is folded. */
function foldSame(lines: readonly DiffLine[], context: number): Part[] {
  const near = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind === "same") return;
    for (let other = at - context; other <= at + context; other += 1) near.add(other);
  });
  const parts: Part[] = [];
  lines.forEach((line, at) => {
    const folded = !near.has(at);
    const last = parts.at(-1);
    if (last?.folded === folded) last.lines.push(line);
    else parts.push({ lines: [line], folded, key: at });
  });
  return parts;
}
