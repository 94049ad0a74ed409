import { cleanLine } from "./clean.ts";
import type { Screen } from "./screen.ts";
import { graphemes, widthOf } from "./width.ts";

type Style = Parameters<Screen["paint"]>[0];

export type Cell = string | { readonly text: string; readonly style: Style };

const GAP = "  ";

/** Rows under each other. On a terminal the last column is cut where the line ends; in a file nothing is. */
export function showTable(
  screen: Screen,
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
): void {
  const texts = rows.map((row) => row.map((cell) => cleanLine(typeof cell === "string" ? cell : cell.text)));
  const widths = heads.map((head, i) => Math.max(head.length, ...texts.map((row) => widthOf(row[i] ?? ""))));
  const last = heads.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(screen.columns - before, MIN_LAST);
  const show = (cells: readonly string[], paint: (text: string, i: number) => string) => {
    const shown = cells.map((text, i) => {
      const cut = i === last ? cutTo(text, room) : text;
      const pad = i === last ? "" : " ".repeat((widths[i] ?? 0) - widthOf(cut));
      return paint(cut, i) + pad;
    });
    screen.line(shown.join(GAP).trimEnd());
  };
  show(heads, (text) => screen.paint("dim", text));
  for (const [r, row] of texts.entries())
    show(row, (text, i) => {
      const cell = rows[r]?.[i];
      return typeof cell === "object" ? screen.paint(cell.style, text) : text;
    });
}

const MIN_LAST = 8;

/** As much of a text as fits, with a mark where it was cut. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const one of graphemes(text)) {
    used += widthOf(one);
    if (used > width - 1) break;
    kept += one;
  }
  return `${kept}…`;
}
